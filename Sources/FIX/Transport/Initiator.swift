import Synchronization

/// Keeps one session connected to its counterparty: connects, drives, and connects again until it is cancelled.
package final class Initiator: Sendable {
    package struct Configuration: Sendable {
        package var host: String
        package var port: UInt16
        package var session: SessionSettings
        package var runner = RunnerSettings()
        /// For each address of the host: a venue in another city answers within a tenth of it.
        package var connectTimeout: Int32 = 5_000
        /// TLS on the line; nil = none.
        package var tls: LineTLS? {
            willSet { precondition(newValue.map { $0.role == .initiator } ?? true, "An initiator looks at a certificate.") }
        }
        /// For the TLS handshake, in milliseconds: two or three times to the venue and back, as connecting.
        package var handshakeTimeout: Int64 = 5_000
        /// Milliseconds between attempts: the first ones quick, for a restart of the venue costs orders; the longest short enough for a person
        /// to wait for. Each wait is jittered between half and all of its length, so that many routers do not come at once.
        package var backoff: ClosedRange<Int64> = 100...10_000

        package init(host: String, port: UInt16, session: SessionSettings) {
            precondition(session.role == .initiator, "An initiator's session has the initiator's role.")
            self.host = host
            self.port = port
            self.session = session
        }
    }

    private let configuration: Configuration
    private let clock: SessionClock
    private let random: @Sendable () -> Double
    private let report: @Sendable (String) -> Void
    private let lastReport = Mutex("")
    private let openStore: @Sendable () throws -> any SessionStore
    private let control = SessionControl()

    /// - Parameters:
    ///   - random: uniform in 0..<1, for the jitter.
    ///   - report: told why connections and attempts ended, for the log: the same reason once until there is another, and nothing of an end that was asked for.
    ///   - openStore: called once, on the session's own thread; called again after it threw.
    package init(
        _ configuration: Configuration,
        clock: SessionClock = .system,
        random: @escaping @Sendable () -> Double,
        report: @escaping @Sendable (String) -> Void,
        openStore: @escaping @Sendable () throws -> any SessionStore
    ) {
        self.configuration = configuration
        self.clock = clock
        self.random = random
        self.report = report
        self.openStore = openStore
    }

    /// There may be something to send. From any thread.
    package func wake() { control.wake() }

    /// Closes the connection at once, as a broken line would; the next attempt follows.
    package func drop(_ reason: String) { control.drop(reason) }

    /// Runs until the task is cancelled; then logs out with the handshake and returns, once its thread uses the store no more. It runs once.
    ///
    /// Throws only when no thread can be started.
    package func run() async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                do throws(FIXError) {
                    try SessionThread.start {
                        self.work()
                        continuation.resume()
                    }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            control.stop("shutting down")
        }
    }

    private func work() {
        var store: (any SessionStore)?
        var delay = configuration.backoff.lowerBound
        while control.stopText == nil {
            do {
                let open = try store ?? openStore()
                store = open
                if isClosed {
                    tell("the session is closed at this time")
                } else if try connectOnce(open) {
                    delay = configuration.backoff.lowerBound
                }
            } catch {
                tell(String(describing: error))
            }
            pause(delay)
            delay = min(delay * 2, configuration.backoff.upperBound)
        }
    }

    private var isClosed: Bool { configuration.session.schedule.map { $0.opening(at: clock.wall()) == nil } ?? false }

    /// True when the session was logged on.
    private func connectOnce(_ store: any SessionStore) throws -> Bool {
        let numbers = try store.load()
        let socket = try FIXSocket.connect(host: configuration.host, port: configuration.port, timeout: configuration.connectTimeout)
        if let tls = configuration.tls {
            let isStopping = { self.control.stopText != nil }
            try socket.secure(with: tls, host: configuration.host, timeout: configuration.handshakeTimeout, clock: clock, isOver: isStopping)
        }
        _ = control.takeDrop()
        var settings = configuration.session
        // In this generation the counterparty has said nothing yet: it has to begin again as we did.
        if numbers.generation > 1, numbers.nextIn == 1 { settings.resetOnLogon = true }
        let runner = SessionRunner(
            socket: socket,
            session: SessionState(settings, numbers: numbers, began: settings.schedule == nil ? nil : try store.began()),
            store: store,
            clock: clock,
            control: control,
            settings: configuration.runner
        )
        tell(runner.run())
        return runner.wasLoggedOn
    }

    private func tell(_ reason: String) {
        let isNews = lastReport.withLock { last in
            defer { last = reason }
            return last != reason
        }
        if isNews, control.stopText == nil { report(reason) }
    }

    private func pause(_ delay: Int64) {
        let deadline = clock.monotonic() + delay / 2 + Int64(Double(delay / 2) * random())
        while control.stopText == nil {
            let left = deadline - clock.monotonic()
            guard left > 0 else { return }
            _ = Readiness.wait(reading: nil, writing: nil, wakeUp: control.wakeUp, timeout: Int32(clamping: left))
        }
    }
}
