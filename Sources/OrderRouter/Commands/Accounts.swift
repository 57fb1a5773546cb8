import Foundation
import Postgres
import Storage
import Trading

extension Command {
    private static let idFlag = Flag("id", "account", .required, "The account: 1 to 64 of A-Z, a-z, 0-9, _ and -.")

    static let accountCreate = Command(
        "account create",
        "Opens an account with cash and shares, as deposits in the ledger.",
        flags: [
            idFlag,
            Flag("cash", "usd", .optional, "Cash to begin with, such as 10000.00; none without it."),
            Flag("position", "symbol=shares[@price]", .repeated, "Whole shares to begin with, and what one of them cost; 0 without a price."),
            operatorFlag,
        ],
        settings: Setting.named("database-url")
    ) { arguments in
        let id = try account(arguments, "id")
        let cash = try arguments.parsed("cash", "an amount such as 10000.00", Amount.init(_:)) ?? .zero
        let positions = try arguments.all("position").map { text throws(UsageError) in try OpeningPosition(text) }
        guard Set(positions.map(\.symbol)).count == positions.count else { throw UsageError("--position names a symbol twice.") }
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        let isNew = try database.createAccount(
            id,
            cash: cash,
            positions: positions.map { ($0.symbol, $0.shares, $0.cost) },
            by: operatorName(arguments),
            at: Date.nowMilliseconds
        )
        guard isNew else { throw CommandFailure("the account \(id) exists already; nothing was changed") }
        say("The account \(id) is open with \(cash) USD" + positions.map { ", \($0.text)" }.joined() + ".")
        return .ok
    }

    static let accountShow = Command(
        "account show",
        "Shows what an account has: cash, shares, what open orders hold, what it owes.",
        flags: [idFlag],
        settings: Setting.named("database-url")
    ) { arguments in
        let id = try account(arguments, "id")
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        guard let balances = try database.balances(of: id) else { throw CommandFailure("there is no account \(id)") }
        var table = TextTable(["asset", "available", "held", "owed", "average price"], rightAligned: 1...4)
        for (asset, balance) in balances {
            let shares = balance.available.units + balance.held.units
            let average = asset == .cash || shares <= 0 ? "" : Amount.average(of: balance.cost, over: max(1, shares / Amount.unitsPerOne)).description
            table.add([
                asset == .cash ? "USD" : asset.text, amount(balance.available, asset), amount(balance.held, asset), amount(balance.owed, asset),
                average,
            ])
        }
        say("account \(id), shard \(id.shard)\n\n" + table.text, terminator: "")
        return .ok
    }

    private static func amount(_ amount: Amount, _ asset: Asset) -> String {
        asset != .cash && amount.units % Amount.unitsPerOne == 0 ? String(amount.units / Amount.unitsPerOne) : amount.description
    }
}

/// `NVDA=100` or `NVDA=100@120.00`.
struct OpeningPosition: Equatable {
    let symbol: Symbol
    let shares: Amount
    /// Of all shares.
    let cost: Amount

    init(_ text: String) throws(UsageError) {
        let wrong = UsageError(
            "--position is '\(text)': expected is symbol=shares or symbol=shares@price, such as NVDA=100@120.00, with whole shares."
        )
        let sides = text.split(separator: "=", omittingEmptySubsequences: false)
        guard sides.count == 2, let symbol = Symbol(String(sides[0])) else { throw wrong }
        let parts = sides[1].split(separator: "@", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), !parts[0].isEmpty, parts[0].utf8.allSatisfy(\.isDigit), let count = Int64(parts[0]), count > 0,
            let shares = Amount(whole: count)
        else { throw wrong }
        self.symbol = symbol
        self.shares = shares
        if parts.count == 2 {
            guard let price = Amount(parts[1]), let cost = price.times(count) else { throw wrong }
            self.cost = cost
        } else {
            cost = .zero
        }
    }

    var text: String { "\(shares.units / Amount.unitsPerOne) \(symbol)" }
}

// MARK: What several commands read alike.

extension Command {
    /// Who acts, for the audit.
    static let operatorFlag = Flag("by", "name", .optional, "Who you are, for the audit; your login name without it.")

    static func operatorName(_ arguments: Arguments) -> String { arguments.value("by") ?? NSUserName() }

    static func account(_ arguments: Arguments, _ flag: String) throws(UsageError) -> AccountID {
        try arguments.required(flag, "1 to 64 of A-Z, a-z, 0-9, _ and -", AccountID.init)
    }
}

/// Columns of text with a heading.
struct TextTable {
    private var rows: [[String]]
    private let rightAligned: ClosedRange<Int>?

    init(_ heading: [String], rightAligned: ClosedRange<Int>? = nil) {
        rows = [heading]
        self.rightAligned = rightAligned
    }

    mutating func add(_ row: [String]) { rows.append(row) }

    var text: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return rightAligned?.contains(column) == true ? padding + cell : cell + padding
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed()) + "\n"
        }.joined()
    }
}
