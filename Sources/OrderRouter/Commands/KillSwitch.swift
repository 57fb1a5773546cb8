import Foundation
import OrderDesk
import Postgres
import Storage
import Trading

extension Command {
    private static let withinFlag = Flag("within", "time", .optional, "How long to wait until every order has ended; 60s without it.")
    private static let patience: Int64 = 60_000

    static let killSwitchOn = Command(
        "kill-switch on",
        "Stops new orders on every router, cancels every open order at the venue, and reports until each has ended.",
        flags: [Flag("reason", "text", .required, "Why: traders are told."), withinFlag, operatorFlag],
        settings: Setting.named("database-url", "sender-comp-id", "target-comp-id"),
        details: """
            Once its first line is there nothing is accepted and nothing newly numbered for the venue, on any router, until
            order-router kill-switch off. What was accepted without a number for the venue ends by our own commit. Cancels go on. It ends with
            0 when no order is open any more, with 1 and the list of those that are when the time is over: calling it again
            asks for them again. Whoever is interrupted leaves it on.
            """
    ) { arguments in
        let reason = try arguments.required("reason", "1 to 200 characters") { (1...200).contains($0.count) ? $0 : nil }
        let within = try arguments.parsed("within", "a time such as 10s or 5m", ValueKind.time(.seconds(1)...(.seconds(86_400))).parse) ?? patience
        let session = try venueSession(arguments)
        let options = PostgresOptions(url: try arguments.setting("database-url", \.databaseURL))
        let killSwitch = KillSwitch(options, by: operatorName(arguments), now: { Date.nowMilliseconds })
        defer { killSwitch.close() }
        try killSwitch.turnOn(because: reason)
        say("The kill switch is on: no router accepts a new order, or sends one to the venue.")
        if try !killSwitch.venueIsUp(session) { say("No router speaks for the venue's session \(session): cancels wait until one does.") }
        return try await CancelEverything(killSwitch, reason: reason).run(until: .now + .milliseconds(within))
    }

    static let killSwitchOff = Command(
        "kill-switch off",
        "Lets routers accept orders again. What was cancelled stays cancelled; other halts stay.",
        flags: [operatorFlag],
        settings: Setting.named("database-url")
    ) { arguments in
        let options = PostgresOptions(url: try arguments.setting("database-url", \.databaseURL))
        let killSwitch = KillSwitch(options, by: operatorName(arguments), now: { Date.nowMilliseconds })
        defer { killSwitch.close() }
        guard try killSwitch.turnOff() else { throw CommandFailure("the kill switch was not on") }
        say("The kill switch is off: new orders are accepted again.")
        return .ok
    }

    static let killSwitchStatus = Command(
        "kill-switch status",
        "Says whether the kill switch is on, since when and why, and how many orders are open.",
        settings: Setting.named("database-url")
    ) { arguments in
        let options = PostgresOptions(url: try arguments.setting("database-url", \.databaseURL))
        let killSwitch = KillSwitch(options, by: "", now: { Date.nowMilliseconds })
        defer { killSwitch.close() }
        if let state = try killSwitch.state() {
            say("The kill switch is on since \(UTC.text(state.at)), by \(state.by): \(Log.quoted(state.halt.reason))")
        } else {
            say("The kill switch is off.")
        }
        let open = try killSwitch.openOrders()
        let counts = open.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.value) \($0.key.text)" }
        say(open.isEmpty ? "No order is open." : "Open orders: \(counts.joined(separator: ", ")).")
        return .ok
    }

    /// The venue session's name in the database, from the settings sender-comp-id and target-comp-id.
    static func venueSession(_ arguments: Arguments) throws(UsageError) -> String {
        "\(try arguments.setting("sender-comp-id", \.venue.senderCompID))->\(try arguments.setting("target-comp-id", \.venue.targetCompID))"
    }
}

/// Follows every open order to its end.
private struct CancelEverything {
    /// Between two looks at the orders that are still open.
    private static let interval: Duration = .milliseconds(200)
    /// Before a cancel that the venue has refused is requested again: a fill that crossed it has surely been reported by then.
    private static let again: Duration = .seconds(2)
    /// Orders listed at the end at most.
    private static let listed = 100

    private let killSwitch: KillSwitch
    private let reason: String

    init(_ killSwitch: KillSwitch, reason: String) {
        self.killSwitch = killSwitch
        self.reason = reason
    }

    func run(until deadline: ContinuousClock.Instant) async throws -> ExitCode {
        var ended: [OrderStatus: Int] = [:]
        while true {
            let outcomes = try killSwitch.cancelEverything(because: reason)
            if outcomes.isEmpty { break }
            let unnumbered = outcomes.count { $0.word == .cancelled }
            let asked = outcomes.count - unnumbered
            say("\(outcomes.count) orders were open: \(unnumbered) without a number have ended, the venue is asked to cancel \(asked).")
            let (open, ends) = try await follow(outcomes.map(\.id), until: deadline)
            ended.merge(ends, uniquingKeysWith: +)
            if !open.isEmpty {
                list(open)
                return .failed
            }
        }
        let counts = ended.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.value) \($0.key.text)" }
        say("No order is open." + (counts.isEmpty ? "" : " Ended: \(counts.joined(separator: ", "))."))
        return .ok
    }

    /// Looks at orders until none is open or time is over; returns those that are open then, and how the others ended.
    private func follow(_ ids: [OrderID], until deadline: ContinuousClock.Instant) async throws -> (open: [OrderState], ends: [OrderStatus: Int]) {
        var last = ids.count
        var againAt = ContinuousClock.now + Self.again
        while true {
            let orders = try killSwitch.look(at: ids)
            let open = orders.filter(\.status.isOpen)
            if open.count != last, !open.isEmpty { say("\(open.count) are still open.") }
            last = open.count
            if open.isEmpty || ContinuousClock.now >= deadline {
                return (open, Dictionary(grouping: orders.filter { !$0.status.isOpen }, by: \.status).mapValues(\.count))
            }
            if ContinuousClock.now >= againAt {
                againAt = .now + Self.again
                try killSwitch.cancelAgain(open, because: reason)
            }
            try await Task.sleep(for: Self.interval)
        }
    }

    private func list(_ open: [OrderState]) {
        var table = TextTable(["order", "account", "status", "cancel", "reason"])
        for order in open.prefix(Self.listed) {
            table.add([
                order.id.text, order.account.text, order.status.text, order.cancelPending ? "unanswered" : "refused", Log.quoted(order.reason ?? ""),
            ])
        }
        say("Time is over: \(open.count) orders are still open\(open.count > Self.listed ? ", among them" : ":")\n\n" + table.text, terminator: "")
    }
}
