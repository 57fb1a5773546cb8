/// One order, by the number under which it was first sent. Times are monotonic nanoseconds; 0: it has not happened.
struct OrderRecord {
    let digest: UInt64
    /// When it was to be sent: latencies count from here.
    let intendedAt: Int64
    var answeredAt: Int64 = 0
    var receivedAt: Int64 = 0
    var filledAt: Int64 = 0
    /// Of the first 201's body: every later one must be the same.
    var body: UInt64 = 0
    /// Answers of 201 that did not say that they repeat another: one at most.
    var fresh: UInt8 = 0
    let expected: OrderPlan.Expected
    /// Accepted, and sent after the warm-up.
    let isCounted: Bool
}

/// What a run has seen.
struct Tally {
    /// Problems, by their codes.
    private var codes: [(bytes: [UInt8], name: String, count: Int)] = []
    var created = 0
    var replayed = 0
    /// Other refusals than those that were to come, and acceptances of what must be refused.
    var unexpected = 0
    var refused = 0
    var retried = 0
    var connectionsLost = 0
    var timeouts = 0
    var streamsLost = 0
    private(set) var contradictions = 0
    /// The first few, in words.
    private(set) var examples: [String] = []
    var answerTimes = Histogram()
    var replayTimes = Histogram()
    /// Turns in which a connection was free and nothing was signed.
    var starved = 0

    private static let exampleLimit = 5

    mutating func contradict(_ what: @autoclosure () -> String) {
        contradictions += 1
        exemplify(what())
    }

    mutating func surprise(_ what: @autoclosure () -> String) {
        unexpected += 1
        exemplify(what())
    }

    private mutating func exemplify(_ what: String) {
        if examples.count < Self.exampleLimit { examples.append(what) }
    }

    /// Counts a problem by its code, given as the bytes in its body. No String is made but at the first of its kind.
    mutating func count(code bytes: [UInt8], _ start: Int, _ end: Int) -> Int {
        for index in codes.indices
        where codes[index].bytes.count == end - start && ByteSearch.matches(codes[index].bytes, bytes, start) {
            codes[index].count += 1
            return index
        }
        let code = Array(bytes[start..<end])
        codes.append((code, String(decoding: code, as: UTF8.self), 1))
        return codes.count - 1
    }

    func code(_ index: Int) -> String { codes[index].name }

    /// Everything that was answered, by code.
    var byCode: [String: Int] {
        var all: [String: Int] = ["201": created, "201 replayed": replayed]
        for code in codes { all[code.name, default: 0] += code.count }
        return all.filter { $0.value > 0 }
    }
}
