/// What a run says at its end; as JSON one line. Times are milliseconds unless a name says otherwise, rates a second.
struct LoadResult: Codable, Sendable {
    struct Latency: Codable, Sendable {
        let count: Int
        let p50: Double?
        let p99: Double?
        let p999: Double?
        let max: Double?

        init(_ times: Histogram) {
            func milliseconds(_ value: Int64?) -> Double? { value.map { Double($0 / 1_000) / 1_000 } }
            count = times.count
            p50 = milliseconds(times.quantile(0.5))
            p99 = milliseconds(times.quantile(0.99))
            p999 = milliseconds(times.quantile(0.999))
            max = times.count == 0 ? nil : milliseconds(times.largest)
        }
    }

    var pace = ""
    var connections = 0
    /// Seconds that count: from the end of the warm-up to the last order.
    var seconds = 0.0
    var acceptedPerSecond = 0.0
    var receivedPerSecond = 0.0
    var filledPerSecond = 0.0
    /// All answers of the whole run by code, the warm-up included.
    var answers: [String: Int] = [:]
    var orders = 0
    var accepted = 0
    var received = 0
    var filled = 0
    var toAnswer = Latency(Histogram())
    var toReplay = Latency(Histogram())
    var toReceipt = Latency(Histogram())
    var toFill = Latency(Histogram())
    /// From the last answer to the last receipt, and to the last fill: the backlog is gone.
    var lastReceiptAfter: Double?
    var lastFillAfter: Double?
    /// Microseconds of processor time for each accepted order, by process; `load` is the loop, `signing` apart and for each signed order.
    var cpuPerOrder: [String: Double] = [:]
    /// Bytes.
    var peakMemory: [String: Int] = [:]
    /// Pieces of work in a commit on average, by leg.
    var batchSizes: [String: Double] = [:]
    /// Accepted orders that the venue never received, and new orders that it received again; where receipts are followed.
    var notReceived = 0
    var receivedTwice = 0
    var unexpected = 0
    var contradictions = 0
    var unanswered = 0
    /// Of the first few.
    var unansweredKeys: [String] = []
    /// Orders of an open loop that were never sent: no connection was free for them before patience ended.
    var unsent = 0
    var retried = 0
    var connectionsLost = 0
    var timeouts = 0
    var streamsLost = 0
    /// Turns in which a connection was free and nothing was signed: then the generator was the limit.
    var starved = 0
    var examples: [String] = []

    /// No answer contradicts another, every request that was sent has one, and every accepted order came to the venue once.
    var holds: Bool { contradictions == 0 && unanswered == 0 && notReceived == 0 && receivedTwice == 0 }
}

extension LoadResult {
    /// - Parameters:
    ///   - before, after: at the end of the warm-up, and when everything had come.
    init(_ run: LoadRun, before: ProcessUse, after: ProcessUse, batches: [String: BatchCount]) {
        let (settings, tally, times) = (run.settings, run.tally, run.times)
        switch settings.pace {
        case .closed: pace = "closed"
        case .open(let rate, let isPoisson): pace = "open \(Int(rate))/s\(isPoisson ? "" : " even")"
        }
        connections = settings.connections
        let end = Swift.min(times.sendingEnded, times.endsAt)
        seconds = Swift.max(0.001, Double(end - times.warmUpEnds) / 1e9)
        count(run, end)
        answers = tally.byCode
        toAnswer = Latency(tally.answerTimes)
        toReplay = Latency(tally.replayTimes)
        cost(run, before: before, after: after)
        peakMemory = after.peakMemory
        batchSizes = batches.mapValues { ($0.mean * 10).rounded() / 10 }
        unexpected = tally.unexpected
        contradictions = tally.contradictions
        unanswered = run.unanswered
        receivedTwice = run.receivedTwice
        unansweredKeys = run.unansweredKeys
        unsent = run.unsent
        retried = tally.retried
        connectionsLost = tally.connectionsLost
        timeouts = tally.timeouts
        streamsLost = tally.streamsLost
        starved = tally.starved
        examples = tally.examples
    }

    private mutating func count(_ run: LoadRun, _ end: Int64) {
        var (receipts, fills) = (Histogram(), Histogram())
        var (answeredInTime, receivedInTime, filledInTime) = (0, 0, 0)
        var (lastReceipt, lastFill): (Int64, Int64) = (0, 0)
        let window = run.times.warmUpEnds...Swift.max(end, run.times.warmUpEnds)
        for record in run.records {
            orders += 1
            if window.contains(record.answeredAt) { answeredInTime += 1 }
            if window.contains(record.receivedAt) { receivedInTime += 1 }
            if window.contains(record.filledAt) { filledInTime += 1 }
            if record.answeredAt > 0 { accepted += 1 }
            if record.receivedAt > 0 { received += 1 }
            if record.filledAt > 0 { filled += 1 }
            if run.settings.receipts != nil, record.answeredAt > 0, record.receivedAt == 0 { notReceived += 1 }
            (lastReceipt, lastFill) = (Swift.max(lastReceipt, record.receivedAt), Swift.max(lastFill, record.filledAt))
            guard record.isCounted else { continue }
            if record.receivedAt > 0 { receipts.add(record.receivedAt - record.intendedAt) }
            if record.filledAt > 0 { fills.add(record.filledAt - record.intendedAt) }
        }
        acceptedPerSecond = (Double(answeredInTime) / seconds).rounded()
        receivedPerSecond = (Double(receivedInTime) / seconds).rounded()
        filledPerSecond = (Double(filledInTime) / seconds).rounded()
        toReceipt = Latency(receipts)
        toFill = Latency(fills)
        func after(_ last: Int64) -> Double? { last == 0 ? nil : Double((last - run.lastAnswerAt) / 1_000_000) }
        lastReceiptAfter = after(lastReceipt)
        lastFillAfter = after(lastFill)
    }

    private mutating func cost(_ run: LoadRun, before: ProcessUse, after: ProcessUse) {
        let counted = Swift.max(1, run.records.count { $0.answeredAt >= run.times.warmUpEnds })
        for (name, used) in after.cpu {
            cpuPerOrder[name] = ((used - (before.cpu[name] ?? 0)) * 1e6 / Double(counted)).rounded()
        }
        cpuPerOrder["load"] = (Double(run.times.cpuAtEnd - run.times.cpuAtWarmUp) / 1e3 / Double(counted) * 10).rounded() / 10
        let (signed, used) = run.orders.cost
        if signed > 0 { cpuPerOrder["signing"] = (Double(used) / 1e3 / Double(signed) * 10).rounded() / 10 }
    }

    /// For a person.
    var table: String {
        var lines: [String] = []
        lines.append("\(pace), \(connections) connections, \(Figures.short(seconds)) s counted")
        lines.append("  accepted \(Int(acceptedPerSecond))/s   received \(Int(receivedPerSecond))/s   filled \(Int(filledPerSecond))/s")
        lines.append("  answers  " + answers.sorted { $0.value > $1.value }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
        lines.append("  ms              count      p50      p99    p99.9      max")
        for (name, latency) in [("answer", toAnswer), ("repetition", toReplay), ("venue receipt", toReceipt), ("fill", toFill)]
        where latency.count > 0 {
            let figures = [latency.p50, latency.p99, latency.p999, latency.max].map { Figures.padded($0.map(Figures.short) ?? "-", 9) }
            lines.append("  " + name.padding(14) + Figures.padded(String(latency.count), 7) + figures.joined())
        }
        if let lastReceiptAfter { lines.append("  last receipt \(Int(lastReceiptAfter)) ms after the last answer") }
        if let lastFillAfter { lines.append("  last fill \(Int(lastFillAfter)) ms after the last answer") }
        lines.append(
            "  µs of CPU an order  " + cpuPerOrder.sorted { $0.key < $1.key }.map { "\($0.key) \(Figures.short($0.value))" }.joined(separator: ", ")
        )
        let memory = peakMemory.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value >> 20) MB" }.joined(separator: ", ")
        if !memory.isEmpty { lines.append("  peak memory  " + memory) }
        let batches = batchSizes.sorted { $0.key < $1.key }.map { "\($0.key) \(Figures.short($0.value))" }.joined(separator: ", ")
        if !batches.isEmpty { lines.append("  a batch holds  " + batches) }
        lines.append(
            "  not received \(notReceived), received twice \(receivedTwice), unexpected \(unexpected), contradictions \(contradictions), unanswered \(unanswered), unsent \(unsent), retried \(retried), "
                + "connections lost \(connectionsLost), time-outs \(timeouts), streams lost \(streamsLost), waits for the signer \(starved)"
        )
        lines += examples.map { "  ! \($0)" } + unansweredKeys.map { "  ! no answer to \($0)" }
        return lines.joined(separator: "\n")
    }
}

/// Numbers for a person to read.
enum Figures {
    /// Three figures or so: 0.12, 3.4, 57.
    static func short(_ value: Double) -> String {
        let scale: Double = value.magnitude < 1 ? 100 : value.magnitude < 100 ? 10 : 1
        let rounded = (value * scale).rounded() / scale
        return scale == 1 || rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded)
    }

    static func milliseconds(_ nanoseconds: Int64) -> String { short(Double(nanoseconds) / 1e6) }

    /// To the right.
    static func padded(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) + text }
}

extension String {
    /// To the left.
    func padding(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
