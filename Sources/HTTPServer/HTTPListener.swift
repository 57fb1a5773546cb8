import Cryptography
import Synchronization

/// An HTTP/1.1 server: listens at one address and has a handler answer what comes.
///
/// Pushed streams and WebSockets leave for loops of their own once their head is sent: `Push/Handover`, `Push/PushConnection`.
///
/// Reading order: `HTTPListener` (start and stop), `Reception` (what one loop serves), `Connection` (one client: receive, handle, answer),
/// `Parsing/RequestParser` (what is refused), `Transport/HTTPLoop` (the thread). Its limits are in `HTTPConfiguration`.
package final class HTTPListener: Sendable {
    private enum Stage {
        case ready
        case running
        case stopping
        /// Stopped before it ran: it never will.
        case unused
    }

    /// The port in use, also when any was asked for.
    package let port: UInt16

    /// The loops that write pushed streams and WebSockets.
    package let streams: StreamLoops

    private let configuration: HTTPConfiguration
    private let receptions: [Reception]
    private let live = LiveCounters()
    private let drained: Latch
    private let stage = Mutex(Stage.ready)

    /// Binds and listens: clients can connect from here on, and are served once `run()` is called.
    ///
    /// Throws `configuration`, `tls` (names the file), `listen` or `system`.
    package init(_ configuration: HTTPConfiguration, handler: any HTTPHandler) throws(HTTPError) {
        try configuration.validate()
        let tls: TLSContext?
        if let files = configuration.tls { tls = try Self.context(files) } else { tls = nil }
        let drained = Latch(count: configuration.loops + configuration.streamLoops)
        let admission = Admission(limit: configuration.maximumConnectionsPerAddress)
        var port = configuration.port
        var streamLoops: [StreamLoop] = []
        for number in 0..<configuration.streamLoops {
            let loop = try HTTPLoop()
            streamLoops.append(
                StreamLoop(number: number, loop: loop, configuration: configuration, counters: live, drained: { drained.countDown() })
            )
        }
        let streams = StreamLoops(streamLoops)
        var receptions: [Reception] = []
        for number in 0..<configuration.loops {
            let socket = try ListeningSocket(
                host: configuration.host,
                port: port,
                backlog: configuration.backlog,
                isShared: configuration.loops > 1
            )
            port = socket.port
            receptions.append(
                Reception(
                    loop: try HTTPLoop(),
                    number: number,
                    socket: socket,
                    configuration: configuration,
                    handler: handler,
                    tls: tls,
                    counters: live,
                    admission: admission,
                    streams: streams,
                    drained: { drained.countDown() }
                )
            )
        }
        self.configuration = configuration
        self.port = port
        self.receptions = receptions
        self.streams = streams
        self.drained = drained
    }

    package var counters: HTTPCounters { live.snapshot }

    /// Serves until `stop` is called or the task is cancelled, and returns when no connection is left (or the time for that is over).
    ///
    /// Call it once. Handlers that outlast the stop go on, and are waited for by nobody.
    package func run() async throws(HTTPError) {
        let mayRun = stage.withLock { stage in
            if stage == .unused { return false }
            precondition(stage == .ready, "A listener runs once.")
            stage = .running
            return true
        }
        guard mayRun else { return }
        do throws(HTTPError) {
            for stream in streams.all {
                try stream.loop.start(name: "stream-\(stream.number)") { [stream] in _ = stream }
                stream.loop.perform { stream.open() }
            }
            for (number, reception) in receptions.enumerated() {
                // The thread keeps what it serves alive, also beyond the end of this listener.
                try reception.loop.start(name: "http-\(number)") { [reception] in _ = reception }
                reception.loop.perform { reception.open() }
            }
        } catch {
            beginStop(within: .zero)
            throw error
        }
        await withTaskCancellationHandler {
            await drained.wait()
        } onCancel: {
            beginStop(within: configuration.stopWithin)
        }
    }

    /// Stops accepting, answers what is pending, ends the event streams, and closes; what is not over within `limit` is cut.
    package func stop(within limit: Duration) async {
        if beginStop(within: limit) { await drained.wait() }
    }

    /// False when nothing runs that would have to be waited for.
    @discardableResult
    private func beginStop(within limit: Duration) -> Bool {
        let hasRun = stage.withLock { stage in
            if stage == .running { stage = .stopping }
            if stage == .ready { stage = .unused }
            return stage == .stopping
        }
        guard hasRun else { return false }
        for reception in receptions { reception.loop.perform { reception.stop(within: limit) } }
        for stream in streams.all { stream.loop.perform { stream.stop(within: limit) } }
        return true
    }

    private static func context(_ files: HTTPConfiguration.TLSFiles) throws(HTTPError) -> TLSContext {
        do throws(CryptographyError) {
            let identity = TLSContext.Identity(certificateChain: files.certificateChain, privateKey: files.privateKey)
            return try TLSContext(.server, identity: identity, trust: .nobody)
        } catch {
            throw HTTPError(code: .tls, operation: error.operation, message: error.message)
        }
    }
}
