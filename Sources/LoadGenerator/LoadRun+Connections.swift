/// Connections and streams: made, written to, read from, and made again where they broke.
extension LoadRun {
    /// Connects everything and waits until every stream stands: an event before that would be missed.
    func openAll() throws {
        for tag in 0..<settings.connections {
            connections.append(Connection())
            connect(tag)
        }
        if settings.streams { streams = settings.traders.map { Stream($0) } }
        for number in streams.indices { connect(connections.count + number) }
        let giveUpAt = now + Self.openingPatience
        while idle.count < connections.count || openStreams < streams.count {
            guard now < giveUpAt else {
                throw LoadFailure("only \(idle.count) of \(connections.count) connections and \(openStreams) of \(streams.count) streams were opened")
            }
            turn(wait: settings.retryPause)
        }
    }

    private func connect(_ tag: Int) {
        guard let socket = try? Socket(host: settings.host, port: settings.port) else {
            broken.append((now + settings.retryPause, tag))
            return
        }
        readiness.add(socket, tag: tag, writing: true)
        if tag < connections.count {
            connections[tag].isConnecting = true
            connections[tag].partial = []
            connections[tag].socket = socket
        } else {
            let stream = streams[tag - connections.count]
            stream.isConnecting = true
            stream.scanner.reset()
            stream.socket = socket
        }
    }

    private func watch(_ socket: Socket?, _ tag: Int, writing: Bool) {
        if let socket { readiness.change(socket, tag: tag, writing: writing) }
    }

    /// Connects again what broke, after a pause: whoever serves may be starting.
    func mend() {
        let due = broken.filter { $0.dueAt <= now }
        if due.isEmpty { return }
        broken.removeAll { $0.dueAt <= now }
        for (_, tag) in due { connect(tag) }
    }

    func handle(_ ready: Readiness.Ready) {
        if ready.tag < connections.count {
            let connection = connections[ready.tag]
            if ready.isWritable { written(connection, ready.tag) }
            if ready.isReadable { receive(connection, ready.tag) }
        } else {
            let stream = streams[ready.tag - connections.count]
            if ready.isWritable { written(stream, ready.tag) }
            if ready.isReadable { receive(stream, ready.tag) }
        }
    }

    // MARK: Requests

    func dispatch(_ flight: Flight, on tag: Int) {
        let connection = connections[tag]
        connection.flight = flight
        connection.flight?.sentAt = now
        connection.sent = 0
        inFlight += 1
        push(connection, tag)
    }

    private func push(_ connection: Connection, _ tag: Int) {
        guard let bytes = connection.flight?.signed.bytes else { return }
        guard let count = connection.socket?.send(bytes, from: connection.sent) else { return lose(connection, tag) }
        connection.sent += count
        if connection.sent < bytes.count { watch(connection.socket, tag, writing: true) }
    }

    private func written(_ connection: Connection, _ tag: Int) {
        if connection.isConnecting {
            guard connection.socket?.failure == 0 else { return lose(connection, tag) }
            connection.isConnecting = false
            idle.append(tag)
        }
        watch(connection.socket, tag, writing: false)
        if let flight = connection.flight, connection.sent < flight.signed.bytes.count { push(connection, tag) }
    }

    private func receive(_ connection: Connection, _ tag: Int) {
        let kept = connection.partial.count
        if kept > 0 {
            // Rare: an answer in two pieces.
            for place in 0..<kept { buffer[place] = connection.partial[place] }
            connection.partial = []
        }
        switch connection.socket?.receive(into: &buffer, from: kept) ?? .nothing {
        case .nothing: if kept > 0 { connection.partial = Array(buffer[0..<kept]) }
        case .closed: lose(connection, tag)
        case .bytes(let count): take(kept + count, connection, tag)
        }
    }

    private func take(_ end: Int, _ connection: Connection, _ tag: Int) {
        switch ResponseReader.head(buffer, 0, end) {
        case .malformed: lose(connection, tag)
        case .incomplete: keep(end, connection, tag)
        case .head(let head):
            guard let bodyCount = head.bodyCount else { return lose(connection, tag) }
            guard end >= head.bodyStart + bodyCount else { return keep(end, connection, tag) }
            guard let flight = connection.flight else { return lose(connection, tag) }
            connection.flight = nil
            inFlight -= 1
            judge(flight, head, head.bodyStart + bodyCount)
            if head.closes { reconnect(tag) } else { idle.append(tag) }
        }
    }

    private func keep(_ end: Int, _ connection: Connection, _ tag: Int) {
        guard end < buffer.count else { return lose(connection, tag) }
        connection.partial = Array(buffer[0..<end])
    }

    /// Whatever was under way is sent again: the router may or may not have decided it, and the key keeps that from mattering.
    private func lose(_ connection: Connection, _ tag: Int) {
        if let flight = connection.flight {
            tally.connectionsLost += 1
            connection.flight = nil
            inFlight -= 1
            again(flight)
        } else if let place = idle.firstIndex(of: tag) {
            idle.remove(at: place)
        }
        reconnect(tag)
    }

    private func reconnect(_ tag: Int) {
        connections[tag].socket = nil
        broken.append((now + settings.retryPause, tag))
    }

    func again(_ flight: Flight) {
        tally.retried += 1
        retries.append(Retry(dueAt: now + settings.retryPause, flight: flight))
    }

    /// Answers that take too long are not awaited any more.
    func cutSlow() {
        for (tag, connection) in connections.enumerated() {
            guard let flight = connection.flight, now - flight.sentAt > settings.timeout else { continue }
            tally.timeouts += 1
            lose(connection, tag)
        }
    }

    // MARK: Streams

    private func written(_ stream: Stream, _ tag: Int) {
        guard stream.isConnecting else { return }
        let request = OrderBytes.stream(stream.trader, host: "\(settings.host):\(settings.port)", after: stream.scanner.lastID)
        // The first bytes of a connection always fit into its buffer.
        guard stream.socket?.failure == 0, stream.socket?.send(request, from: 0) == request.count else { return lose(stream, tag) }
        stream.isConnecting = false
        watch(stream.socket, tag, writing: false)
    }

    private func receive(_ stream: Stream, _ tag: Int) {
        switch stream.socket?.receive(into: &buffer, from: 0) ?? .nothing {
        case .nothing: break
        case .closed: lose(stream, tag)
        case .bytes(let count):
            let wasOpen = stream.scanner.isOpen
            stream.scanner.take(buffer, count) { filled($0) }
            if stream.scanner.refusal != nil { return lose(stream, tag) }
            if !wasOpen, stream.scanner.isOpen { openStreams += 1 }
        }
    }

    private func lose(_ stream: Stream, _ tag: Int) {
        if stream.scanner.isOpen {
            openStreams -= 1
            tally.streamsLost += 1
        }
        stream.scanner.reset()
        stream.socket = nil
        broken.append((now + settings.retryPause, tag))
    }

    private func filled(_ digest: UInt64) {
        guard let order = index[digest], records[order].filledAt == 0 else { return }
        records[order].filledAt = now
        fills += 1
    }
}
