import Synchronization

/// Listens, finds out by its Logon whose session a connection is, and drives each on a thread of its own.
package final class Acceptor: Sendable {
    package struct Configuration: Sendable {
        package var host = "127.0.0.1"
        /// 0 = any free port.
        package var port: UInt16 = 0
        package var runner = RunnerSettings()
        /// TLS on every connection; nil = none on any.
        package var tls: LineTLS? {
            willSet { precondition(newValue.map { $0.role == .acceptor } ?? true, "An acceptor shows a certificate.") }
        }
        /// For the TLS handshake, in milliseconds: a counterparty in another city needs a tenth of a second.
        package var handshakeTimeout: Int64 = 5_000
        /// A connection that says nothing is closed after this long, in milliseconds.
        package var logonTimeout: Int64 = 10_000
        /// How long a connection waits for the one before it to end, in milliseconds: a counterparty that has logged out may be back before its line is seen to
        /// be closed, and what it is refused costs it the number of its Logon.
        package var handover: Int64 = 1_000
        /// Connections at once, logged on or not: each costs a thread.
        package var maximumConnections = 64

        package init() {}
    }

    /// What the first message of a connection says.
    package struct Logon: Sendable {
        /// The counterparty's SenderCompID.
        package let senderCompID: String
        package let targetCompID: String
    }

    /// A session that may log on, with its store: made and used on the connection's thread.
    package struct Session {
        package let settings: SessionSettings
        package let store: any SessionStore
        package let control: SessionControl

        package init(settings: SessionSettings, store: any SessionStore, control: SessionControl = SessionControl()) {
            precondition(settings.role == .acceptor, "An acceptor's session has the acceptor's role.")
            self.settings = settings
            self.store = store
            self.control = control
        }
    }

    private struct Registry {
        var connections = 0
        var live: [String: SessionControl] = [:]
        /// Who waits for a session's connection to end.
        var heirs: [String: [WakeUp]] = [:]
        var stopping = false
        var refusing = false
        var finished: CheckedContinuation<Void, Never>?
    }

    private let configuration: Configuration
    private let clock: SessionClock
    private let report: @Sendable (String) -> Void
    private let open: @Sendable (Logon) throws -> Session?
    private let wakeUp = WakeUp()
    private let registry = Mutex(Registry())
    // The listener is made once, before run; afterwards only the listening thread calls it, and its end frees it.
    private let listener = Mutex<Listening?>(nil)

    /// A listener on its way to its thread. Unchecked: exactly one thread holds it at a time, first the one that starts, then the listening one.
    private struct Listening: @unchecked Sendable {
        let listener: FIXListener
    }

    /// A connection on its way to its thread. Unchecked: the listening thread lets go of it when the connection's own thread takes it.
    private struct Connection: @unchecked Sendable {
        let socket: FIXSocket
    }

    /// - Parameter open: called on the connection's thread; nil = no such session, the connection is closed without a word.
    package init(
        _ configuration: Configuration,
        clock: SessionClock = .system,
        report: @escaping @Sendable (String) -> Void,
        open: @escaping @Sendable (Logon) throws -> Session?
    ) {
        self.configuration = configuration
        self.clock = clock
        self.report = report
        self.open = open
    }

    /// Binds and listens; returns the port.
    package func start() throws(FIXError) -> UInt16 {
        let made = Listening(listener: try FIXListener(host: configuration.host, port: configuration.port))
        listener.withLock { $0 = made }
        return made.listener.port
    }

    /// Accepts until the task is cancelled; then every session logs out with the handshake, and this returns when all have ended and the
    /// port is free. `start` comes first; it runs once.
    ///
    /// Throws when `start` was not called or no thread can be started.
    package func run() async throws {
        guard listener.withLock({ $0 != nil }) else {
            throw FIXError(.listenFailed, operation: "run", message: "start was not called, or this ran before")
        }
        try await withTaskCancellationHandler {
            try SessionThread.start {
                self.listen()
                self.ended()
            }
            await withCheckedContinuation { continuation in
                let done = registry.withLock { registry in
                    if registry.stopping, registry.connections < 0 { return true }
                    registry.finished = continuation
                    return false
                }
                if done { continuation.resume() }
            }
        } onCancel: {
            stop()
        }
    }

    /// Ends `run` as its cancellation would.
    package func stop() {
        let live = registry.withLock { registry in
            registry.stopping = true
            return Array(registry.live.values)
        }
        for control in live { control.stop("shutting down") }
        wakeUp.signal()
    }

    /// There may be something to pull on every session.
    package func wakeAll() {
        for control in registry.withLock({ Array($0.live.values) }) { control.wake() }
    }

    /// Closes every connection at once, as a broken line would.
    package func disconnectAll(_ reason: String) {
        for control in registry.withLock({ Array($0.live.values) }) { control.drop(reason) }
    }

    /// While true, connections are closed as soon as they are accepted.
    package func refuseConnections(_ refuse: Bool) {
        registry.withLock { $0.refusing = refuse }
    }

    // MARK: The listening thread

    private func listen() {
        guard let listener = listener.withLock({ $0.take() })?.listener else { return }
        while !registry.withLock({ $0.stopping }) {
            _ = Readiness.wait(reading: listener.descriptor, writing: nil, wakeUp: wakeUp, timeout: 1_000)
            do throws(FIXError) {
                while let socket = try listener.accept() { try begin(Connection(socket: socket)) }
            } catch {
                // Out of descriptors or threads: the connection stays in the queue, a pause keeps this thread from spinning over it.
                report(String(describing: error))
                _ = Readiness.wait(reading: nil, writing: nil, wakeUp: wakeUp, timeout: 100)
            }
        }
    }

    private func begin(_ connection: Connection) throws(FIXError) {
        let admitted = registry.withLock { registry in
            guard !registry.stopping, !registry.refusing, registry.connections < configuration.maximumConnections else { return false }
            registry.connections += 1
            return true
        }
        guard admitted else { return }
        do throws(FIXError) {
            try SessionThread.start {
                self.serve(connection.socket)
                self.ended()
            }
        } catch {
            ended()
            throw error
        }
    }

    /// A connection's thread or the listening one has ended. The listening one counts as the last: it takes the count below zero.
    private func ended() {
        let finished = registry.withLock { registry in
            registry.connections -= 1
            guard registry.stopping, registry.connections < 0 else { return nil as CheckedContinuation<Void, Never>? }
            return registry.finished.take()
        }
        finished?.resume()
    }

    // MARK: A connection's thread

    private func serve(_ socket: FIXSocket) {
        defer { socket.close() }
        do {
            if let tls = configuration.tls {
                let isStopping = { self.registry.withLock(\.stopping) }
                try socket.secure(with: tls, host: configuration.host, timeout: configuration.handshakeTimeout, clock: clock, isOver: isStopping)
            }
            var decoder = FrameDecoder()
            guard let logon = try firstMessage(socket, &decoder), logon.type == .logon,
                let sender = logon.string(.senderCompID), let target = logon.string(.targetCompID)
            else { return report("a connection did not begin with a Logon") }
            guard let session = try open(Logon(senderCompID: sender, targetCompID: target)) else {
                return report("no session for \(sender) to \(target)")
            }
            let key = sender + "\u{1}" + target
            guard take(key, session.control) else { return report("\(sender) is already connected: the second connection is refused") }
            defer { release(key) }
            let runner = SessionRunner(
                socket: socket,
                session: SessionState(
                    session.settings,
                    numbers: try session.store.load(),
                    began: session.settings.schedule == nil ? nil : try session.store.began()
                ),
                store: session.store,
                clock: clock,
                control: session.control,
                settings: configuration.runner,
                decoder: decoder
            )
            report("\(sender): \(runner.run(first: logon))")
        } catch {
            report(String(describing: error))
        }
    }

    /// Takes the session for this connection; false when another keeps it.
    private func take(_ key: String, _ control: SessionControl) -> Bool {
        let deadline = clock.monotonic() + configuration.handover
        let heir = WakeUp()
        // Whoever goes away leaves nothing behind: a second connection may be tried for hours.
        defer { registry.withLock { $0.heirs[key]?.removeAll { $0 === heir } } }
        while true {
            let (isTaken, isOver) = registry.withLock { registry in
                if registry.stopping { return (false, true) }
                if registry.live[key] == nil {
                    registry.live[key] = control
                    return (true, true)
                }
                if registry.heirs[key]?.contains(where: { $0 === heir }) != true { registry.heirs[key, default: []].append(heir) }
                return (false, false)
            }
            let left = deadline - clock.monotonic()
            if isOver || left <= 0 { return isTaken }
            // A look at the request to stop each 100 ms, as below.
            _ = Readiness.wait(reading: nil, writing: nil, wakeUp: heir, timeout: Int32(min(left, 100)))
        }
    }

    private func release(_ key: String) {
        let heirs = registry.withLock { registry in
            registry.live[key] = nil
            return registry.heirs.removeValue(forKey: key) ?? []
        }
        for heir in heirs { heir.signal() }
    }

    private func firstMessage(_ socket: FIXSocket, _ decoder: inout FrameDecoder) throws(FIXError) -> FIXMessage? {
        let deadline = clock.monotonic() + configuration.logonTimeout
        var buffer = [UInt8](repeating: 0, count: 4_096)
        // A look at the request to stop each 100 ms: nothing else can wake a connection that has no session yet.
        while clock.monotonic() < deadline, !registry.withLock({ $0.stopping }) {
            guard socket.wait(writing: false, wakeUp: nil, timeout: 100).readable else { continue }
            switch try socket.read(into: &buffer) {
            case .nothing: continue
            case .closed: return nil
            case .bytes(let count): decoder.append(buffer[..<count])
            }
            if let message = decoder.next() { return message }
        }
        return nil
    }
}
