import Foundation
import Postgres
import Quotes
import Storage
import Trading

extension Command {
    static let instrumentsLoad = Command(
        "instruments load",
        "Loads what symbols stand for: adds new ones, and changes names and exchanges of those that are there.",
        operands: [Operand("file", "A CSV file with the heading symbol,name,exchange.")],
        flags: [operatorFlag],
        settings: Setting.named("database-url"),
        details: """
            For example: BRK.B,"Berkshire Hathaway Inc. Class B",XNYS. The exchange is its code in the calendars; the simulator's is SIM.
            All of the file is loaded or nothing. Routers show it within a minute.
            """
    ) { arguments in
        let file = arguments.operands[0]
        let instruments = try InstrumentFile(file: file).instruments
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        defer { database.drop() }
        let changed = try database.load(instruments, from: file, by: operatorName(arguments), at: Date.nowMilliseconds)
        say("\(instruments.count) instruments: \(changed) are new or changed.")
        return .ok
    }

    static let instrumentsList = Command(
        "instruments list",
        "Lists what symbols stand for.",
        settings: Setting.named("database-url")
    ) { arguments in
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        defer { database.drop() }
        var table = TextTable(["symbol", "exchange", "name"])
        for instrument in try database.instruments() { table.add([instrument.symbol.text, instrument.exchange?.text ?? "", instrument.name]) }
        say(table.text, terminator: "")
        return .ok
    }
}

/// A file of instruments.
struct InstrumentFile {
    let instruments: [Instrument]

    init(file: String) throws { try self.init(CommaSeparated(file: file, heading: Self.heading)) }

    init(text: String, name: String) throws { try self.init(CommaSeparated(text, name: name, heading: Self.heading)) }

    private static let heading = ["symbol", "name", "exchange"]

    private init(_ file: CommaSeparated) throws {
        var lines: [Symbol: Int] = [:]
        instruments = try file.rows.map { row in
            guard let symbol = Symbol(row.fields[0]) else {
                throw file.fault(row, "'\(row.fields[0])' is not a symbol: expected are 1 to 16 of A-Z, 0-9 and '.'")
            }
            let name = row.fields[1]
            guard !name.isEmpty, name.utf8.count <= Instrument.nameLimitBytes, !name.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
                throw file.fault(row, "the name of \(symbol) is not one: expected are 1 to \(Instrument.nameLimitBytes) bytes on one line")
            }
            guard let exchange = ExchangeCode(row.fields[2]) else {
                throw file.fault(row, "'\(row.fields[2])' is not an exchange's code: expected are 1 to 8 of A-Z and 0-9, such as XNYS")
            }
            if let before = lines.updateValue(row.line, forKey: symbol) { throw file.fault(row, "\(symbol) stands in line \(before) already") }
            return Instrument(symbol: symbol, name: name, exchange: exchange)
        }
    }
}
