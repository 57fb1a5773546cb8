/// How far back a line goes: `range=` of `/v1/symbols/<symbol>/history`.
package enum HistoryRange: String, CaseIterable, Sendable {
    case day = "1D"
    case week = "1W"
    case month = "1M"
    case year = "1Y"
    case all = "MAX"
}

/// How long a candle is: `interval=` of `/v1/stocks/<symbol>/history`.
package enum HistoryInterval: String, CaseIterable, Sendable {
    case minute = "1m"
    case fiveMinutes = "5m"
    case hour = "1h"
    case day = "1d"

    /// Milliseconds; nil for a trading day, which has no fixed length.
    package var milliseconds: Int64? {
        switch self {
        case .minute: 60_000
        case .fiveMinutes: 300_000
        case .hour: 3_600_000
        case .day: nil
        }
    }

    /// The periods that it is kept for and that one answer can hold, at most some 2,000 candles (but for max).
    package var periods: [HistoryPeriod] {
        switch self {
        case .minute: [.day]
        case .fiveMinutes: [.day, .fiveDays]
        case .hour: [.day, .fiveDays, .month]
        case .day: [.month, .threeMonths, .sixMonths, .year, .twoYears, .fiveYears, .max]
        }
    }
}

/// How far back candles go: `period=` of `/v1/stocks/<symbol>/history`.
package enum HistoryPeriod: String, CaseIterable, Sendable {
    case day = "1d"
    case fiveDays = "5d"
    case month = "1mo"
    case threeMonths = "3mo"
    case sixMonths = "6mo"
    case year = "1y"
    case twoYears = "2y"
    case fiveYears = "5y"
    case max
}

/// What of a symbol's history is asked for.
package enum HistoryQuery: Hashable, Sendable {
    /// A line of so many points.
    case line(HistoryRange, points: Int)
    case candles(HistoryInterval, HistoryPeriod)

    package static let lineParameters = ["range", "points"]
    package static let candleParameters = ["interval", "period"]

    /// Two are a line; 2,000 are more than any screen has columns.
    package static let pointsRange = 2...2_000
    package static let defaultPoints = 300

    /// - Throws: `invalid_field`, naming the parameter and what is allowed.
    package static func readLine(_ parameters: QueryParameters) throws(Problem) -> HistoryQuery {
        let range = try required(parameters, "range", HistoryRange.allCases)
        return .line(range, points: try parameters.wholeNumber("points", in: pointsRange) ?? defaultPoints)
    }

    /// - Throws: `invalid_field`, naming the parameter and what is allowed.
    package static func readCandles(_ parameters: QueryParameters) throws(Problem) -> HistoryQuery {
        let interval = try required(parameters, "interval", HistoryInterval.allCases)
        let period = try required(parameters, "period", HistoryPeriod.allCases)
        guard interval.periods.contains(period) else {
            let allowed = interval.periods.map(\.rawValue).joined(separator: ", ")
            throw .invalid("period", "Candles of \(interval.rawValue) are told for \(allowed). Send one of these, or a longer interval.")
        }
        return .candles(interval, period)
    }

    private static func required<Value: RawRepresentable<String>>(
        _ parameters: QueryParameters,
        _ name: String,
        _ all: [Value]
    ) throws(Problem) -> Value {
        guard let value = parameters[name].flatMap({ Value(rawValue: $0) }) else {
            throw .invalid(name, "Send \(name)= with one of \(all.map(\.rawValue).joined(separator: ", ")).")
        }
        return value
    }
}
