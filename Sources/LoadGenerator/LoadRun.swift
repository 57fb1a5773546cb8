import ExchangeSimulator

/// One run: connections and event streams of many accounts in one loop on one thread.
///
/// It shares its machine with what it measures, so the loop allocates nothing for an order beyond what the signer made: requests are finished
/// bytes, answers are read where they were received.
///
/// Reading order: `run` (its stages), LoadRun+Connections (sending and receiving), LoadRun+Answers (what an answer must be).
final class LoadRun {
    /// A request that is under way or waits to be sent again.
    struct Flight {
        let order: Int
        let signed: SignedOrder
        let intendedAt: Int64
        let isDuplicate: Bool
        var sentAt: Int64 = 0
    }

    final class Connection {
        var socket: Socket?
        var isConnecting = true
        var flight: Flight?
        /// Bytes of the flight that the kernel has taken.
        var sent = 0
        /// The beginning of an answer whose end has not come.
        var partial: [UInt8] = []
    }

    final class Stream {
        let trader: Trader
        var socket: Socket?
        var isConnecting = true
        var scanner = EventScanner()

        init(_ trader: Trader) {
            self.trader = trader
        }
    }

    struct Retry {
        let dueAt: Int64
        let flight: Flight
    }

    /// Requests that may be repeated: the newest few thousand, which a phone that lost an answer might.
    static let recentCapacity = 4_096
    /// To connect, and to open the streams.
    static let openingPatience: Int64 = 15_000_000_000
    /// An open loop sleeps at least so long: arrivals come in small groups, which costs a tenth of a millisecond and saves most wake-ups.
    static let shortestSleep: Int64 = 200_000
    /// Enough to look into the router's log.
    private static let unansweredShown = 20
    private static let second: Int64 = 1_000_000_000

    let settings: LoadSettings
    let orders: SignedOrders
    var readiness: Readiness
    var connections: [Connection] = []
    var streams: [Stream] = []
    /// Connected and free, the last one used first: an open loop keeps to as few as it needs.
    var idle: [Int] = []
    /// To be connected again, by tag.
    var broken: [(dueAt: Int64, tag: Int)] = []
    /// The next orders, the first one last.
    private var pool: [SignedOrder] = []
    var retries: [Retry] = []
    var records: [OrderRecord] = []
    var index: OrderIndex
    /// Orders that the venue received as new after it had received them before.
    var receivedTwice = 0
    private var recent: [(order: Int, signed: SignedOrder)] = []
    private var recentNext = 0
    var tally = Tally()
    var buffer = [UInt8](repeating: 0, count: 131_072)
    var now: Int64 = 0
    var inFlight = 0
    var openStreams = 0
    var fills = 0
    var lastAnswerAt: Int64 = 0
    private var random: SeededGenerator
    private var arrivals: Arrivals?
    private var nextArrival: Int64 = .max
    private(set) var times = Times()
    private var progress = Progress()

    /// The run's own milestones, monotonic nanoseconds.
    struct Times {
        var begun: Int64 = 0
        var warmUpEnds: Int64 = 0
        var endsAt: Int64 = 0
        /// When the last order was sent.
        var sendingEnded: Int64 = 0
        var cpuAtWarmUp: Int64 = 0
        var cpuAtEnd: Int64 = 0
    }

    init(_ settings: LoadSettings, orders: SignedOrders) throws(LoadFailure) {
        self.settings = settings
        self.orders = orders
        readiness = try Readiness()
        random = SeededGenerator(seed: settings.seed &+ 1)
        index = OrderIndex(capacity: settings.orders ?? 1 << 20)
        records.reserveCapacity(settings.orders ?? 1 << 20)
        recent.reserveCapacity(Self.recentCapacity)
    }

    /// Runs on the calling thread, from the first connection to the last fill or the end of patience.
    ///
    /// - Parameter warm: called once, when the warm-up is over.
    func run(warm: () throws -> Void) throws {
        now = MonotonicClock.now
        try openAll()
        begin()
        var isWarm = false
        while now < times.endsAt {
            if !isWarm, now >= times.warmUpEnds {
                isWarm = true
                times.cpuAtWarmUp = ThreadClock.used
                try warm()
            }
            sendDue()
            if isOutOfOrders { break }
            turn(wait: sleep)
        }
        if !isWarm { try warm() }
        times.sendingEnded = now
        try orders.check()
        sendOverdueArrivals()
        let giveUpAt = now + settings.patience
        while inFlight > 0 || !retries.isEmpty, now < giveUpAt {
            resendDue()
            turn(wait: settings.retryPause)
        }
        times.cpuAtEnd = ThreadClock.used
        while isFollowing, now < giveUpAt { turn(wait: settings.retryPause) }
    }

    private func begin() {
        now = MonotonicClock.now
        times.begun = now
        times.warmUpEnds = now + settings.warmUp
        times.endsAt = times.warmUpEnds + settings.duration
        times.cpuAtWarmUp = ThreadClock.used
        progress.at = now
        guard case .open(let rate, let isPoisson) = settings.pace else { return }
        var arrivals = Arrivals(rate: rate, isPoisson: isPoisson, seed: settings.seed)
        nextArrival = now + arrivals.next()
        self.arrivals = arrivals
    }

    /// Every order is sent that can be.
    private var isOutOfOrders: Bool { pool.isEmpty && orders.isOver || isStale }

    /// What is signed next has grown too old while the router was busy.
    private var isStale: Bool { pool.last.map { now - $0.signedAt > settings.oldestSigned } ?? false }

    private var isFollowing: Bool {
        settings.streams && !settings.isResting && fills < records.count { $0.answeredAt > 0 && $0.expected == .accepted }
    }

    // MARK: Sending

    private func sendDue() {
        resendDue()
        while let connection = idle.last {
            guard let intendedAt = nextIntended, let flight = nextFlight(intendedAt) else { return }
            idle.removeLast()
            dispatch(flight, on: connection)
        }
    }

    /// When the next order is, or was, to be sent; nil while that lies ahead.
    private var nextIntended: Int64? {
        guard arrivals != nil else { return now }
        return nextArrival <= now ? nextArrival : nil
    }

    func resendDue() {
        while let retry = retries.first, retry.dueAt <= now, let connection = idle.last {
            retries.removeFirst()
            idle.removeLast()
            dispatch(retry.flight, on: connection)
        }
    }

    /// What was to be sent before the end and found no connection: its latency counts, so it is sent.
    private func sendOverdueArrivals() {
        let giveUpAt = now + settings.patience
        while arrivals != nil, nextArrival < times.endsAt, !isOutOfOrders, now < giveUpAt {
            sendDue()
            turn(wait: settings.retryPause)
        }
    }

    private func nextFlight(_ intendedAt: Int64) -> Flight? {
        if settings.duplicates > 0, !recent.isEmpty, Double.random(in: 0..<1, using: &random) < settings.duplicates {
            let again = recent[Int.random(in: 0..<recent.count, using: &random)]
            arrive()
            return Flight(order: again.order, signed: again.signed, intendedAt: intendedAt, isDuplicate: true)
        }
        if pool.isEmpty { orders.take(into: &pool, limit: 64) }
        if isStale { return nil }
        guard let signed = pool.popLast() else {
            tally.starved += 1
            return nil
        }
        arrive()
        let order = records.count
        records.append(
            OrderRecord(digest: signed.digest, intendedAt: intendedAt, expected: signed.expected, isCounted: intendedAt >= times.warmUpEnds)
        )
        index.insert(signed.digest, order)
        if settings.duplicates > 0, signed.expected == .accepted { remember(order, signed) }
        return Flight(order: order, signed: signed, intendedAt: intendedAt, isDuplicate: false)
    }

    private func arrive() {
        guard let next = arrivals?.next() else { return }
        nextArrival = times.begun + next
    }

    private func remember(_ order: Int, _ signed: SignedOrder) {
        if recent.count < Self.recentCapacity {
            recent.append((order, signed))
        } else {
            recent[recentNext] = (order, signed)
            recentNext = (recentNext + 1) % Self.recentCapacity
        }
    }

    // MARK: Waiting

    /// Until something is to be done even if nothing is received.
    private var sleep: Int64 {
        var until = min(times.endsAt, progress.at + Self.second)
        if now < times.warmUpEnds { until = min(until, times.warmUpEnds) }
        if let retry = retries.first { until = min(until, retry.dueAt) }
        if !idle.isEmpty {
            // A free connection waits for the next arrival, or for the signer.
            until = min(until, arrivals == nil ? now + 1_000_000 : max(nextArrival, now + Self.shortestSleep))
        }
        return max(0, until - now)
    }

    /// Waits, and takes what has come.
    func turn(wait: Int64) {
        let count = readiness.wait(nanoseconds: wait)
        now = MonotonicClock.now
        for place in 0..<count { handle(readiness.ready(place)) }
        if !broken.isEmpty { mend() }
        if now >= progress.at + Self.second { tick() }
    }

    private func tick() {
        cutSlow()
        let accepted = tally.created
        if settings.showsProgress, times.begun > 0 {
            let rate = Double(accepted - progress.accepted) * 1e9 / Double(now - progress.at)
            let p99 = tally.answerTimes.quantile(0.99).map { Figures.milliseconds($0) } ?? "-"
            let second = (now - times.begun) / Self.second
            note("  \(second)s  \(Int(rate))/s accepted, \(inFlight) in flight, p99 \(p99) ms, refused \(tally.refused), filled \(fills)")
        }
        progress = Progress(at: now, accepted: accepted)
    }

    private struct Progress {
        var at: Int64 = 0
        var accepted = 0
    }

    /// Idempotency keys of requests that were given up without an answer, the first few.
    var unansweredKeys: [String] {
        let flights = connections.compactMap(\.flight) + retries.map(\.flight)
        return flights.prefix(Self.unansweredShown).map(\.signed.key)
    }

    /// Requests that were given up without an answer.
    var unanswered: Int { inFlight + retries.count }

    /// Arrivals for which no connection was free before patience ended or their signatures were too old: more was offered than the router takes.
    var unsent: Int {
        guard var arrivals, isStale || !isOutOfOrders else { return 0 }
        var (count, next) = (0, nextArrival)
        while next < times.endsAt {
            count += 1
            next = times.begun + arrivals.next()
        }
        return count
    }
}
