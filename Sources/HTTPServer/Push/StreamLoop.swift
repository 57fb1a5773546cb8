import CLibEvent
import Glibc

/// One loop that writes streams: its connections, their deadlines, and the publishers' timers. Has no listening socket.
///
/// @unchecked Sendable: everything here belongs to the loop's thread, but for what is constant.
@safe final class StreamLoop: @unchecked Sendable {
    let number: Int
    let loop: HTTPLoop
    let configuration: HTTPConfiguration
    let counters: LiveCounters
    /// Connections here and on their way, by which new ones are spread. Moved by the loops that receive.
    let load = Counter()

    /// Where a message gets its framing before it is sent; one for all connections, because one is sent at a time.
    var scratch: [UInt8] = []
    private(set) var isStopping = false

    private let drained: @Sendable () -> Void
    private var hasReported = false
    private var hasEnded = false
    private var isTimeUp = false
    private var connections: [PushConnection] = []
    private var tasks = 0
    private var timers: [LoopTimer] = []
    private var sweepTimer: LoopTimer?
    private var stopTimer: LoopTimer?

    /// `drained` is called once, on the loop's thread, when no connection is left after `stop`.
    init(number: Int, loop: HTTPLoop, configuration: HTTPConfiguration, counters: LiveCounters, drained: @escaping @Sendable () -> Void) {
        self.number = number
        self.loop = loop
        self.configuration = configuration
        self.counters = counters
        self.drained = drained
    }

    /// Begins to watch deadlines. On the loop's thread.
    func open() {
        if isStopping { return }
        let timer = LoopTimer(loop: loop, isRepeating: true) { [unowned self] in sweep() }
        sweepTimer = timer
        let isStarted = timer.start(after: configuration.sweepInterval)
        precondition(isStarted, "No memory for a timer at start.")
    }

    func schedule(every interval: Duration, _ work: @escaping @Sendable (_ loop: Int) -> Void) {
        if isStopping { return }
        let number = number
        let timer = LoopTimer(loop: loop, isRepeating: true) { work(number) }
        let isStarted = timer.start(after: interval)
        precondition(isStarted, "No memory for a publisher's timer.")
        timers.append(timer)
    }

    // MARK: Connections

    func adopt(_ handover: Handover) {
        // The time for farewells is over, or memory is short.
        guard !isTimeUp, !hasEnded, let connection = PushConnection(handover) else { return handover.abandon() }
        connection.slot = connections.count
        connections.append(connection)
        counters.streamsOpen.add()
        connection.begin()
        if isStopping { connection.beginStop() }
    }

    func remove(_ connection: PushConnection) {
        let last = connections.removeLast()
        if last !== connection {
            connections[connection.slot] = last
            last.slot = connection.slot
        }
        endIfDone()
    }

    private func sweep() {
        let now = HTTPLoop.now
        // A copy: connections leave the list while it is walked.
        for connection in connections { connection.sweep(now) }
    }

    func taskStarted() { tasks += 1 }

    func taskEnded() {
        tasks -= 1
        endIfDone()
    }

    // MARK: Stop

    /// Ends the timers, has every stream say its farewell and end, and closes what is left after `limit`. On the loop's thread.
    func stop(within limit: Duration) {
        guard !isStopping else { return }
        isStopping = true
        timers = []
        let timer = LoopTimer(loop: loop) { [unowned self] in closeAll() }
        stopTimer = timer
        for connection in connections { connection.beginStop() }
        if !timer.start(after: limit) { closeAll() }
        endIfDone()
    }

    private func closeAll() {
        isTimeUp = true
        for connection in connections { connection.close() }
    }

    /// The thread goes on until the last task of a stream has ended.
    private func endIfDone() {
        guard isStopping, connections.isEmpty, !hasEnded else { return }
        // Before it is reported: whoever has waited for the stop finds that nothing is performed any more.
        if tasks == 0 {
            hasEnded = true
            sweepTimer = nil
            stopTimer = nil
            loop.stop()
        }
        if !hasReported {
            hasReported = true
            drained()
        }
    }
}
