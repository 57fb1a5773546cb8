import Synchronization

/// Counts and times of this router, written as Prometheus text (exposition format 0.0.4).
package final class Metrics: Sendable {
    /// Upper bounds in seconds: from a fast commit to an answer that nobody waits for any more.
    static let timeBounds: [Double] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10]
    static let sizeBounds: [Double] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

    private struct Histogram {
        var counts: [Int]
        var sum = 0.0
        var count = 0
    }

    private struct Series: Hashable {
        let name: String
        let labels: String
    }

    private struct State {
        var counters: [Series: Int] = [:]
        var histograms: [Series: Histogram] = [:]
        var gauges: [Series: Double] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    package func count(_ name: String, _ labels: [(String, String)] = [], by amount: Int = 1) {
        state.withLock { $0.counters[Series(name: name, labels: Self.text(labels)), default: 0] += amount }
    }

    package func set(_ name: String, _ labels: [(String, String)] = [], to value: Double) {
        state.withLock { $0.gauges[Series(name: name, labels: Self.text(labels))] = value }
    }

    /// A time in a histogram whose name ends in `_seconds`.
    package func time(_ name: String, _ labels: [(String, String)] = [], _ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        observe(name, labels, Double(seconds) + Double(attoseconds) / 1e18, bounds: Self.timeBounds)
    }

    package func size(_ name: String, _ labels: [(String, String)] = [], _ size: Int) {
        observe(name, labels, Double(size), bounds: Self.sizeBounds)
    }

    private func observe(_ name: String, _ labels: [(String, String)], _ value: Double, bounds: [Double]) {
        let series = Series(name: name, labels: Self.text(labels))
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.histograms[series, default: Histogram(counts: Array(repeating: 0, count: bounds.count + 1))].counts[bucket] += 1
            state.histograms[series]?.sum += value
            state.histograms[series]?.count += 1
        }
    }

    private static func text(_ labels: [(String, String)]) -> String {
        labels.map { name, value in
            let escaped = value.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : $0 == "\n" ? "\\n" : String($0) }.joined()
            return "\(name)=\"\(escaped)\""
        }.joined(separator: ",")
    }

    /// Everything, sorted by name so that two readings can be compared.
    package func rendered() -> String {
        let (counters, histograms, gauges) = state.withLock { ($0.counters, $0.histograms, $0.gauges) }
        var lines: [String] = []
        for (kind, values) in [("counter", counters.mapValues(Double.init)), ("gauge", gauges)] {
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
        let bounds = histogram.counts.count == timeBounds.count + 1 ? timeBounds : sizeBounds
        let prefix = series.labels.isEmpty ? "" : series.labels + ","
        var lines: [String] = []
        var total = 0
        for (index, count) in histogram.counts.enumerated() {
            total += count
            let bound = index < bounds.count ? number(bounds[index]) : "+Inf"
            lines.append("\(series.name)_bucket{\(prefix)le=\"\(bound)\"} \(total)")
        }
        let labels = series.labels.isEmpty ? "" : "{\(series.labels)}"
        return lines + ["\(series.name)_sum\(labels) \(histogram.sum)", "\(series.name)_count\(labels) \(histogram.count)"]
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && value.magnitude < 1e15 ? String(Int64(value)) : String(value)
    }
}
