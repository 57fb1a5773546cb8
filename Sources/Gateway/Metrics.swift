import Synchronization

/// Counts and times of this router, written as Prometheus text (exposition format 0.0.4).
package final class Metrics: Sendable {
    /// Upper bounds in seconds: from a fast commit to an answer that nobody waits for any more.
    static let timeBounds: [Double] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10]
    static let sizeBounds: [Double] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

    /// A number that only grows. Moving it is one atomic addition: whoever counts often keeps it.
    package final class Counter: Sendable {
        private let value = Atomic<Int>(0)

        fileprivate var now: Int { value.load(ordering: .relaxed) }

        package func add(_ amount: Int = 1) { value.add(amount, ordering: .relaxed) }
    }

    /// How often something had which size. Whoever observes often keeps it.
    package final class Histogram: Sendable {
        fileprivate struct Reading {
            var counts: [Int]
            var sum = 0.0
            var count = 0
        }

        fileprivate let bounds: [Double]
        private let reading: Mutex<Reading>

        fileprivate init(bounds: [Double]) {
            self.bounds = bounds
            reading = Mutex(Reading(counts: Array(repeating: 0, count: bounds.count + 1)))
        }

        fileprivate var now: Reading { reading.withLock { $0 } }

        package func observe(_ value: Double) {
            let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
            reading.withLock { reading in
                reading.counts[bucket] += 1
                reading.sum += value
                reading.count += 1
            }
        }

        /// In seconds.
        package func time(_ duration: Duration) {
            let (seconds, attoseconds) = duration.components
            observe(Double(seconds) + Double(attoseconds) / 1e18)
        }
    }

    private struct Series: Hashable {
        let name: String
        let labels: String
    }

    private struct State {
        var counters: [Series: Counter] = [:]
        var histograms: [Series: Histogram] = [:]
        var gauges: [Series: Double] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    // MARK: Kept by those who count often

    package func counter(_ name: String, _ labels: [(String, String)] = []) -> Counter {
        let series = Series(name: name, labels: Self.text(labels))
        return state.withLock { state in
            if let known = state.counters[series] { return known }
            let new = Counter()
            state.counters[series] = new
            return new
        }
    }

    /// Of times: its name ends in `_seconds`.
    package func times(_ name: String, _ labels: [(String, String)] = []) -> Histogram { histogram(name, labels, bounds: Self.timeBounds) }

    package func sizes(_ name: String, _ labels: [(String, String)] = []) -> Histogram { histogram(name, labels, bounds: Self.sizeBounds) }

    private func histogram(_ name: String, _ labels: [(String, String)], bounds: [Double]) -> Histogram {
        let series = Series(name: name, labels: Self.text(labels))
        return state.withLock { state in
            if let known = state.histograms[series] { return known }
            let new = Histogram(bounds: bounds)
            state.histograms[series] = new
            return new
        }
    }

    // MARK: By name, for what is rare

    package func count(_ name: String, _ labels: [(String, String)] = [], by amount: Int = 1) { counter(name, labels).add(amount) }

    package func set(_ name: String, _ labels: [(String, String)] = [], to value: Double) {
        state.withLock { $0.gauges[Series(name: name, labels: Self.text(labels))] = value }
    }

    /// A time in a histogram whose name ends in `_seconds`.
    package func time(_ name: String, _ labels: [(String, String)] = [], _ duration: Duration) { times(name, labels).time(duration) }

    package func size(_ name: String, _ labels: [(String, String)] = [], _ size: Int) { sizes(name, labels).observe(Double(size)) }

    private static func text(_ labels: [(String, String)]) -> String {
        labels.map { name, value in
            let isPlain = value.utf8.allSatisfy { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "\n") }
            if isPlain { return "\(name)=\"\(value)\"" }
            let escaped = value.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : $0 == "\n" ? "\\n" : String($0) }.joined()
            return "\(name)=\"\(escaped)\""
        }.joined(separator: ",")
    }

    /// Everything, sorted by name so that two readings can be compared.
    package func rendered() -> String {
        let (counters, histograms, gauges) = state.withLock { ($0.counters, $0.histograms, $0.gauges) }
        var lines: [String] = []
        for (kind, values) in [("counter", counters.mapValues { Double($0.now) }), ("gauge", gauges)] {
            var last = ""
            for (series, value) in values.sorted(by: { ($0.key.name, $0.key.labels) < ($1.key.name, $1.key.labels) }) {
                if series.name != last { lines.append("# TYPE \(series.name) \(kind)") }
                last = series.name
                lines.append("\(series.name)\(series.labels.isEmpty ? "" : "{\(series.labels)}") \(Self.number(value))")
            }
        }
        var last = ""
        for (series, histogram) in histograms.sorted(by: { ($0.key.name, $0.key.labels) < ($1.key.name, $1.key.labels) }) {
            if series.name != last { lines.append("# TYPE \(series.name) histogram") }
            last = series.name
            lines += Self.lines(of: histogram, series)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func lines(of histogram: Histogram, _ series: Series) -> [String] {
        let (bounds, reading) = (histogram.bounds, histogram.now)
        let prefix = series.labels.isEmpty ? "" : series.labels + ","
        var lines: [String] = []
        var total = 0
        for (index, count) in reading.counts.enumerated() {
            total += count
            let bound = index < bounds.count ? number(bounds[index]) : "+Inf"
            lines.append("\(series.name)_bucket{\(prefix)le=\"\(bound)\"} \(total)")
        }
        let labels = series.labels.isEmpty ? "" : "{\(series.labels)}"
        return lines + ["\(series.name)_sum\(labels) \(reading.sum)", "\(series.name)_count\(labels) \(reading.count)"]
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && value.magnitude < 1e15 ? String(Int64(value)) : String(value)
    }
}

/// Counters or histograms of one name that a value tells apart, each found by its labels but once.
final class Kept<Value: Hashable & Sendable, Metric: Sendable>: Sendable {
    private let find: @Sendable (Value) -> Metric
    private let found = Mutex<[Value: Metric]>([:])

    init(_ find: @escaping @Sendable (Value) -> Metric) {
        self.find = find
    }

    subscript(value: Value) -> Metric {
        found.withLock { found in
            if let metric = found[value] { return metric }
            let metric = find(value)
            found[value] = metric
            return metric
        }
    }
}
