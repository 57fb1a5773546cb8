import Foundation
import Glibc
import Synchronization
import Testing

@testable import HTTPServer

@Suite struct `Pushed streams together` {
    static let hello = Array("data: hello\n\n".utf8)

    /// Thousands of sockets are more than the usual soft limit.
    static func raiseDescriptorLimit() throws {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        try #require(limit.rlim_cur >= 8_000, "The hard limit of descriptors is too low for this test.")
    }

    @Test func `all get what is sent to all, by one frame for thousands`() async throws {
        try Self.raiseDescriptorLimit()
        let publisher = Publisher()
        let count = 2_000
        try await withServer(
            publisher.routes,
            configure: {
                $0.streamLoops = 2
                $0.maximumConnectionsPerAddress = count
            },
            { server in
                let clients = try await blocking {
                    try (0..<count).map { number in
                        let client = try RawClient(server)
                        try client.send(number % 2 == 0 ? RawClient.handshake : RawClient.eventsRequest)
                        return client
                    }
                }
                try await eventually { publisher.opened == count }
                #expect(server.counters.streamsOpen == count)
                let frames = (0..<5).map { WebSocketFrame.text(Array("message \($0)".utf8)) }
                for frame in frames {
                    await publisher.forEach(on: server) { connection in
                        if connection.isWebSocket { connection.send(frames: frame) } else { connection.send(Self.hello) }
                    }
                }
                let loops = publisher.state.withLock { Dictionary(grouping: $0.connections.values, by: \.loop).mapValues(\.count) }
                #expect(loops == [0: count / 2, 1: count / 2])
                try await blocking {
                    for (number, client) in clients.enumerated() {
                        _ = try client.readHead()
                        for round in 0..<5 {
                            if number % 2 == 0 {
                                guard try client.readFrame() == .text("message \(round)") else { throw ClientFailure(description: "wrong frame") }
                            } else {
                                guard try client.readChunk() == "data: hello\n\n" else { throw ClientFailure(description: "wrong event") }
                            }
                        }
                    }
                    for client in clients { client.vanish() }
                }
                try await eventually { publisher.closed == count && server.counters.connectionsOpen == 0 }
            }
        )
    }

    @Test func `know soon that a client has stopped reading`() async throws {
        let publisher = Publisher()
        try await withServer(publisher.routes) { server in
            let client = try RawClient(server, receiveBuffer: 4096)
            try client.send(RawClient.eventsRequest)
            try await eventually { publisher.opened == 1 }
            let sent = Mutex(0)
            let event = [UInt8](repeating: 0x78, count: 1_000)
            await publisher.forEach(on: server) { connection in
                while connection.outstanding == 0, sent.withLock({ $0 }) < 1_000_000 {
                    connection.send(event)
                    sent.withLock { $0 += event.count }
                }
            }
            // The client's own buffer, and what may be unsent: the kernel's send buffer would take four times as much.
            #expect(sent.withLock { $0 } < 40_000)
            client.vanish()
        }
    }

    @Test(arguments: ["/events", "/socket"]) func `go on when a slow reader is cut`(_ path: String) async throws {
        let publisher = Publisher()
        try await withServer(publisher.routes) { server in
            let (slow, quick) = (try RawClient(server, receiveBuffer: 4096), try RawClient(server))
            for client in [slow, quick] { try client.send(path == "/events" ? RawClient.eventsRequest : RawClient.handshake) }
            _ = try await blocking { try quick.readHead() }
            try await eventually { publisher.opened == 2 }
            let text = String(repeating: "x", count: 8_000)
            var rounds = 0
            while rounds < 1_000, server.counters.streamsCut == 0 || rounds % 10 != 0 {
                rounds += 1
                await publisher.forEach(on: server) { $0.send(Array(text.utf8)) }
                try await blocking {
                    let read = path == "/events" ? try quick.readChunk() : String(decoding: try quick.readFrame().payload, as: UTF8.self)
                    if read != text { throw ClientFailure(description: "the quick reader lost something") }
                }
            }
            #expect(server.counters.streamsCut == 1)
            try await eventually { publisher.closed == 1 && server.counters.connectionsOpen == 1 }
        }
    }

    @Test func `tell when what was behind has been taken`() async throws {
        let outstanding = Mutex<[Int]>([])
        let publisher = Publisher(
            opened: { connection in
                // Until the kernel takes no more.
                while connection.outstanding == 0 { connection.send([UInt8](repeating: 0x78, count: 16_000)) }
            },
            drained: { connection in
                outstanding.withLock { $0.append(connection.outstanding) }
                connection.end()
            }
        )
        try await withServer(publisher.routes) { server in
            let client = try RawClient(server, receiveBuffer: 4096)
            try client.send(RawClient.eventsRequest)
            try await eventually { publisher.opened == 1 }
            try await blocking {
                _ = try client.readHead()
                while try !client.readChunk().isEmpty {}
                #expect(try client.readToEnd().isEmpty)
            }
            #expect(outstanding.withLock { $0 } == [0])
            #expect(server.counters.streamsCut == 0)
        }
    }

    /// The inode of a socket: its descriptor's number may be another's by now.
    private static func inode(_ descriptor: Int32) -> UInt64 {
        var status = stat()
        unsafe fstat(descriptor, &status)
        return UInt64(status.st_ino)
    }

    private static var openSockets: Set<UInt64> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let links = names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
        return Set(links.compactMap { $0.hasPrefix("socket:[") ? UInt64($0.dropFirst(8).dropLast()) : nil })
    }

    @Test(arguments: [false, true]) func `leave nothing behind when their clients vanish`(_ isOverTLS: Bool) async throws {
        final class Watch: Sendable {
            let inodes = Mutex<Set<UInt64>>([])
            let objects = Mutex<[() -> PushConnection?]>([])
        }
        let watch = Watch()
        let publisher = Publisher(opened: { connection in
            _ = watch.inodes.withLock { $0.insert(Self.inode(connection.descriptor)) }
            watch.objects.withLock { list in list.append { [weak connection] in connection } }
            connection.send(Self.hello)
        })
        try await withCertificate { files in
            try await withServer(
                publisher.routes,
                configure: { $0.tls = isOverTLS ? files : nil },
                { server in
                    let count = isOverTLS ? 8 : 100
                    if isOverTLS {
                        await withTaskGroup { group in
                            for _ in 0..<count {
                                group.addTask {
                                    // Ends without TLS's goodbye when its time is over.
                                    _ = try? await execute(
                                        "/usr/bin/curl",
                                        ["-sSNk", "--max-time", "1", "https://localhost:\(server.port)/events"]
                                    )
                                }
                            }
                        }
                    } else {
                        let clients = try (0..<count).map { _ in try RawClient(server) }
                        for (number, client) in clients.enumerated() {
                            try client.send(number % 2 == 0 ? RawClient.handshake : RawClient.eventsRequest)
                        }
                        try await eventually { publisher.opened == count }
                        for client in clients { client.vanish() }
                    }
                    try await eventually { publisher.closed == count && server.counters.connectionsOpen == 0 }
                    #expect(server.counters.streamsOpen == 0)
                    #expect(watch.inodes.withLock { $0.count } == count)
                    // The descriptor is closed by the loop's next pass.
                    try await eventually { Self.openSockets.isDisjoint(with: watch.inodes.withLock { $0 }) }
                    try await eventually { watch.objects.withLock { list in list.allSatisfy { $0() == nil } } }
                }
            )
        }
    }

    @Test func `count among the connections of their address`() async throws {
        let publisher = Publisher()
        try await withServer(
            publisher.routes,
            configure: { $0.maximumConnectionsPerAddress = 2 },
            { server in
                let (first, second) = (try RawClient(server), try RawClient(server))
                try first.send(RawClient.eventsRequest)
                try second.send(RawClient.handshake)
                try await eventually { publisher.opened == 2 }
                #expect(try await blocking { try RawClient(server).readAnswer().status } == 503)
                first.vanish()
                try await eventually { server.counters.connectionsOpen == 1 }
                let status = try await blocking {
                    let client = try RawClient(server)
                    try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                    return try client.readAnswer().status
                }
                #expect(status == 200)
            }
        )
    }

    @Test func `count among all connections, and let the next one in when they end`() async throws {
        let publisher = Publisher()
        try await withServer(
            publisher.routes,
            configure: { $0.maximumConnections = 1 },
            { server in
                let stream = try RawClient(server)
                try stream.send(RawClient.eventsRequest)
                try await eventually { publisher.opened == 1 }
                let next = try RawClient(server)
                try next.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(next.hasNothingToRead(milliseconds: 50))
                #expect(server.counters.connectionsAccepted == 1)
                stream.vanish()
                #expect(try await blocking { try next.readAnswer().status } == 200)
            }
        )
    }

    @Test(arguments: ["", "the token has expired"]) func `say why they end, where there is something to say`(_ reason: String) async throws {
        let publisher = Publisher(opened: { $0.end(.policyViolation, reason: reason) })
        try await withServer(publisher.routes) { server in
            try await blocking {
                let (events, socket) = (try RawClient(server), try RawClient(server))
                try events.send(RawClient.eventsRequest)
                _ = try events.readHead()
                if !reason.isEmpty { #expect(try events.readChunk() == ": \(reason)\n\n") }
                #expect(try events.readChunk().isEmpty)
                try socket.send(RawClient.handshake)
                _ = try socket.readHead()
                let close = try socket.readFrame()
                #expect(close.code == 1008 && String(decoding: close.payload.dropFirst(2), as: UTF8.self) == reason)
                events.vanish()
                socket.vanish()
            }
        }
    }

    @Test(arguments: [false, true]) func `bring a message larger than the bound to whoever reads`(_ isOverTLS: Bool) async throws {
        // Five times the bound, at once; and what follows upon it at once as well.
        let large = "data: \(String(repeating: "x", count: 5 * 65_536))\n\n"
        let publisher = Publisher(
            opened: { connection in
                connection.send(Array(large.utf8))
                connection.send(Array("data: small\n\n".utf8))
                connection.end()
            }
        )
        try await withCertificate { files in
            try await withServer(
                publisher.routes,
                configure: { $0.tls = isOverTLS ? files : nil },
                { server in
                    let url = "\(isOverTLS ? "https" : "http")://localhost:\(server.port)/events"
                    let read = try await execute("/usr/bin/curl", ["-sSN", "--max-time", "20", "--cacert", files.certificateChain, url])
                    #expect(read.status == 0 && read.text == large + "data: small\n\n", "\(read.text.suffix(100))")
                    #expect(server.counters.streamsCut == 0)
                }
            )
        }
    }

    @Test func `say farewell once when the server stops`() async throws {
        let publisher = Publisher()
        try await withServer(publisher.routes) { server in
            let (events, socket) = (try RawClient(server), try RawClient(server))
            try events.send(RawClient.eventsRequest)
            try socket.send(RawClient.handshake)
            try await eventually { publisher.opened == 2 }
            let stopping = Task { await server.stop(within: .seconds(20)) }
            try await blocking {
                _ = try events.readHead()
                #expect(try (0..<2).map { _ in try events.readChunk() } == [": the server stops; come back\n\n", ""])
                #expect(try events.readToEnd().isEmpty)
                events.vanish()
                _ = try socket.readHead()
                #expect(try socket.readFrame().code == 1001)
                try socket.send(RawClient.closeFrame(1001))
                #expect(try socket.readToEnd().isEmpty)
                socket.vanish()
            }
            await stopping.value
            #expect(publisher.closed == 2)
            #expect(server.counters.connectionsOpen == 0)
        }
    }

    @Test func `are whole or absent when the server stops while they come`() async throws {
        for wait in 0..<10 {
            let publisher = Publisher()
            try await withServer(publisher.routes) { server in
                let clients = try (0..<40).map { _ in try RawClient(server) }
                for (number, client) in clients.enumerated() {
                    try client.send(number % 2 == 0 ? RawClient.handshake : RawClient.eventsRequest)
                }
                try await eventually { publisher.opened >= wait * 4 }
                await server.stop(within: .zero)
                #expect(server.counters.connectionsOpen == 0)
                #expect(server.counters.streamsOpen == 0)
                #expect(publisher.opened == publisher.closed)
            }
        }
    }
}
