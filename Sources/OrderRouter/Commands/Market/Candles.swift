import Foundation
import Postgres
import Quotes
import Storage
import Trading

extension Command {
    /// Rows of one statement: half a megabyte.
    private static let portion = 5_000

    static let candlesLoad = Command(
        "candles load",
        "Loads history from before the routers ran: candles of trading days and of minutes, in place of what is there.",
        operands: [Operand("file", "A CSV file with the heading symbol,time,open,high,low,close,volume.")],
        flags: [
            Flag("source", "loaded|simulated", .optional, "What history says of where they come from; loaded without it."),
            operatorFlag,
        ],
        settings: Setting.named("database-url"),
        details: """
            A time is a trading day of the exchange, 2026-09-16, or a minute of UTC, 2026-09-16T13:30Z. Prices have at most 4 decimals.
            For example: NVDA,2026-09-16,125.10,127.00,124.80,126.35,41250000. A file with a mistake loads nothing. What was loaded stays:
            what routers see of the same day or minute does not take its place. Minutes are kept as long as all others (--candles-kept).
            """
    ) { arguments in
        let source =
            try arguments.parsed("source", "loaded or simulated") { text in
                CandleSource.allCases.first { $0 != .feed && $0.text == text }
            } ?? .loaded
        let file = try CandleFile(file: arguments.operands[0])
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        defer { database.drop() }
        try load(file.days) { bars throws(PostgresError) in try database.loadDays(bars, as: source) }
        try load(file.minutes) { bars throws(PostgresError) in try database.loadMinutes(bars, as: source) }
        let what = "\(file.days.count) days and \(file.minutes.count) minutes of \(file.symbols) symbols"
        try database.audit(
            "candles_loaded",
            "\(what), \(source.text), of \(arguments.operands[0])",
            by: operatorName(arguments),
            at: Date.nowMilliseconds
        )
        say("\(what) are loaded.")
        return .ok
    }

    /// In portions, each committed by itself: a load that broke off is done again from its beginning.
    private static func load(_ bars: [KeptBar], _ write: ([KeptBar]) throws(PostgresError) -> Void) throws(PostgresError) {
        for first in stride(from: 0, to: bars.count, by: portion) { try write(Array(bars[first..<min(first + portion, bars.count)])) }
    }
}

/// A file of candles.
struct CandleFile {
    private(set) var days: [KeptBar] = []
    private(set) var minutes: [KeptBar] = []
    let symbols: Int

    init(file: String) throws { try self.init(CommaSeparated(file: file, heading: Self.heading)) }

    init(text: String, name: String) throws { try self.init(CommaSeparated(text, name: name, heading: Self.heading)) }

    private static let heading = ["symbol", "time", "open", "high", "low", "close", "volume"]

    private init(_ file: CommaSeparated) throws {
        var lines: [[String]: Int] = [:]
        for row in file.rows {
            guard let symbol = Symbol(row.fields[0]) else {
                throw file.fault(row, "'\(row.fields[0])' is not a symbol: expected are 1 to 16 of A-Z, 0-9 and '.'")
            }
            let prices = row.fields[2...5].map { Amount($0)?.units }
            guard let open = prices[0], let high = prices[1], let low = prices[2], let close = prices[3], let volume = Int64(row.fields[6]) else {
                throw file.fault(
                    row,
                    "expected are four prices with at most 4 decimals and a whole number of shares, such as 125.10,127.00,124.80,126.35,41250000"
                )
            }
            let bar = Bar(at: 0, open: open, high: high, low: low, close: close, volume: volume)
            guard bar.isSound else {
                throw file.fault(row, "low, open and close, high do not lie in this order above zero, or the volume is negative")
            }
            if let day = CalendarDay(row.fields[1]) {
                days.append(KeptBar(symbol: symbol, number: Int32(day.number), bar: bar))
            } else if let minute = Self.minute(row.fields[1]) {
                minutes.append(KeptBar(symbol: symbol, number: minute, bar: bar))
            } else {
                throw file.fault(
                    row,
                    "'\(row.fields[1])' is not a time: expected is a day such as 2026-09-16 or a minute of UTC such as 2026-09-16T13:30Z"
                )
            }
            if let before = lines.updateValue(row.line, forKey: Array(row.fields[0...1])) {
                throw file.fault(row, "\(symbol) at \(row.fields[1]) stands in line \(before) already")
            }
        }
        symbols = Set(file.rows.map { $0.fields[0] }).count
    }

    /// Minutes since the epoch, of `yyyy-mm-ddThh:mmZ`.
    private static func minute(_ text: String) -> Int32? {
        guard text.utf8.count == 17, text.hasSuffix("Z"), let separator = text.firstIndex(of: "T"), let day = CalendarDay(text[..<separator]),
            let date = try? Date(text.dropLast() + ":00Z", strategy: .iso8601)
        else { return nil }
        let minute = Int32(date.timeIntervalSince1970 / 60)
        // Foundation takes hours beyond 23 into the next day.
        return Int(minute) / MarketCalendar.minutesPerDay == day.number ? minute : nil
    }
}
