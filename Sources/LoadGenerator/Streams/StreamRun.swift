import Glibc

/// Many clients of price streams on one thread: connects them, reads what comes, and says how old it is.
final class StreamRun {
    private struct Client {
        let socket: Socket
        var scanner: PriceScanner
        var isConnected = false
        var isLost = false
    }

    struct Outcome {
        var seconds = 0.0
        var clients = 0
        var events = 0
        var bytes = 0
        var lost = 0
        /// Nanoseconds from the router's change of a price to its arrival here, in whole ms.
        var ages = Histogram()
        var use: (before: ProcessUse, after: ProcessUse)?
        /// Bytes resident in the server before the first client and at the end.
        var memory: (before: Int, after: Int)?
    }

    private let settings: StreamSettings
    private var readiness: Readiness
    private var clients: [Client] = []
    private var connected = 0
    private var buffer = [UInt8](repeating: 0, count: 262_144)
    private var outcome = Outcome()
    private var isMeasuring = false
    private var sipDue: Int64 = 0
    /// Of slow clients.
    private static let sip = 1_024
    private static let sipInterval: Int64 = 2_000_000_000

    init(_ settings: StreamSettings) throws {
        self.settings = settings
        readiness = try Readiness()
    }

    private var watched: [WatchedProcess] { settings.server.map { [WatchedProcess("server", $0)] } ?? [] }

    func run() throws -> Outcome {
        let first = try ProcessUse.now(watched)
        while connected < settings.clients {
            while clients.count < settings.clients, clients.count - connected - outcome.lost < StreamSettings.connecting { try connect() }
            try turn()
            guard outcome.lost == 0 || settings.isSlow else {
                throw LoadFailure("\(outcome.lost) connections were refused or lost: the router's limits and token?")
            }
        }
        let warm = MonotonicClock.now + settings.warmUp
        while MonotonicClock.now < warm { try turn() }
        let watched = watched + [WatchedProcess("load", getpid())]
        let before = try ProcessUse.now(watched)
        let began = MonotonicClock.now
        isMeasuring = true
        while MonotonicClock.now < began + settings.span { try turn() }
        outcome.seconds = Double(MonotonicClock.now - began) / 1e9
        let after = try ProcessUse.now(watched)
        outcome.use = (before, after)
        outcome.clients = connected - outcome.lost
        if let start = first.memory["server"], let end = after.memory["server"] { outcome.memory = (start, end) }
        return outcome
    }

    /// What slow clients read: none of it is looked at.
    private func sipIfDue() {
        guard settings.isSlow, MonotonicClock.now >= sipDue else { return }
        sipDue = MonotonicClock.now + Self.sipInterval
        var sip = [UInt8](repeating: 0, count: Self.sip)
        for tag in clients.indices where clients[tag].isConnected && !clients[tag].isLost {
            switch clients[tag].socket.receive(into: &sip, from: 0) {
            case .bytes(let count): if isMeasuring { outcome.bytes += count }
            case .nothing: break
            case .closed:
                clients[tag].isLost = true
                outcome.lost += 1
            }
        }
    }

    private func connect() throws {
        let socket = try Socket(host: settings.host, port: settings.port)
        if settings.isSlow { socket.keepLittle(Int32(Self.sip)) }
        readiness.add(socket, tag: clients.count, writing: true)
        clients.append(Client(socket: socket, scanner: PriceScanner(settings.form)))
    }

    private func turn() throws {
        sipIfDue()
        let count = readiness.wait(nanoseconds: 100_000_000)
        for index in 0..<count {
            let ready = readiness.ready(index)
            if ready.isWritable, !clients[ready.tag].isConnected { try begin(ready.tag) }
            if ready.isReadable { read(ready.tag) }
        }
    }

    private func begin(_ tag: Int) throws {
        let client = clients[tag]
        guard client.socket.failure == 0 else { throw LoadFailure("a connection failed (errno \(client.socket.failure))") }
        let request = settings.request(tag)
        guard request.isEmpty || client.socket.send(request, from: 0) == request.count else { throw LoadFailure("a request could not be sent") }
        clients[tag].isConnected = true
        connected += 1
        if settings.isSlow { readiness.remove(client.socket) } else { readiness.change(client.socket, tag: tag, writing: false) }
    }

    private func read(_ tag: Int) {
        while true {
            switch clients[tag].socket.receive(into: &buffer, from: 0) {
            case .nothing: return
            case .closed: return lose(tag)
            case .bytes(let count):
                if isMeasuring { outcome.bytes += count }
                if settings.form == .plain {
                    if isMeasuring { outcome.events += 1 }
                } else if !scan(tag, count) {
                    return lose(tag)
                }
                if count < buffer.count { return }
            }
        }
    }

    /// False where the server refuses.
    private func scan(_ tag: Int, _ count: Int) -> Bool {
        let now = WallClock.milliseconds
        let isMeasuring = isMeasuring
        var ages = Histogram()
        swap(&ages, &outcome.ages)
        let found = clients[tag].scanner.take(buffer, count: count) { at in if isMeasuring { ages.add((now - at) * 1_000_000) } }
        swap(&ages, &outcome.ages)
        guard let found else { return false }
        if isMeasuring { outcome.events += found }
        return true
    }

    private func lose(_ tag: Int) {
        outcome.lost += 1
        readiness.remove(clients[tag].socket)
    }
}
