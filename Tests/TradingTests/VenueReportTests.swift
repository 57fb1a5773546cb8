import Testing
import Trading

@Suite struct `A venue's report` {
    private func execution(_ type: String?, _ change: (inout VenueReport) -> Void = { _ in }) -> VenueReport {
        var report = VenueReport(kind: .execution)
        report.orderID = orderID.text
        report.execType = type
        report.execID = "e1"
        report.tradeDate = "20260916"
        report.lastQuantity = 10
        report.lastPrice = usd("9.50")
        change(&report)
        return report
    }

    private func meaning(_ report: VenueReport, _ status: OrderStatus = .working, _ terms: OrderTerms = terms()) -> ReportMeaning {
        report.meaning(for: Desk.standing(status, terms).order)
    }

    private func isUnbookable(_ meaning: ReportMeaning) -> Bool {
        if case .unbookable = meaning { return true }
        return false
    }

    @Test(
        arguments: [
            ("0", .event(.acknowledged)), ("F", .event(.filled(quantity: 10, price: usd("9.50")))),
            ("1", .event(.filled(quantity: 10, price: usd("9.50")))), ("2", .event(.filled(quantity: 10, price: usd("9.50")))),
            ("4", .event(.cancelled(reason: nil))), ("C", .event(.expired(reason: "expired"))), ("3", .event(.expired(reason: "expired"))),
            ("8", .event(.rejected(reason: "rejected_by_venue"))), ("A", .nothing), ("6", .nothing), ("E", .nothing), ("D", .nothing),
        ] as [(String, ReportMeaning)]
    )
    func `means by its ExecType`(_ type: String, _ expected: ReportMeaning) {
        #expect(meaning(execution(type)) == expected)
    }

    @Test(arguments: [nil, "", "5", "7", "9", "B", "G", "H", "X", "FF", "f", "00", "\u{FFFD}"] as [String?])
    func `of an ExecType that is not handled is not booked`(_ type: String?) {
        #expect(isUnbookable(meaning(execution(type))))
    }

    @Test func `of a fill needs an id, a date, whole shares and a price`() {
        #expect(isUnbookable(meaning(execution("F") { $0.execID = nil })))
        #expect(isUnbookable(meaning(execution("F") { $0.tradeDate = nil })))
        for quantity in [nil, 0, -1] as [Int64?] { #expect(isUnbookable(meaning(execution("F") { $0.lastQuantity = quantity }))) }
        for price in [nil, Amount.zero, Amount(units: -1)] { #expect(isUnbookable(meaning(execution("F") { $0.lastPrice = price }))) }
    }

    @Test func `that speaks of another symbol or side is not booked`() {
        #expect(isUnbookable(meaning(execution("F") { $0.symbol = "AAPL" })))
        #expect(isUnbookable(meaning(execution("F") { $0.side = "2" })))
        #expect(isUnbookable(meaning(execution("0") { $0.side = "5" })))
        let agreeing = execution("F") {
            $0.symbol = "NVDA"
            $0.side = "1"
        }
        #expect(!isUnbookable(meaning(agreeing)))
    }

    @Test func `that restates the quantity is not booked`() {
        #expect(meaning(execution("D") { $0.orderQuantity = 100 }) == .nothing)
        #expect(isUnbookable(meaning(execution("D") { $0.orderQuantity = 60 })))
    }

    @Test func `of the day's end is no end of an order that lives on`() {
        let lasting = terms(.buy, .limit, .goodTillCancel)
        #expect(meaning(execution("3"), .working, lasting) == .nothing)
        #expect(meaning(execution("C"), .working, lasting) == .event(.expired(reason: "expired")))
        #expect(meaning(execution("I") { $0.orderStatus = "3" }, .unknown, lasting) == .event(.acknowledged))
    }

    @Test func `of a duplicate order is a doubt, never a rejection`() {
        let duplicate = execution("8") { $0.rejectReason = 6 }
        #expect(meaning(duplicate, .routed) == .event(.doubted(reason: "venue_says_duplicate_order")))
        #expect(meaning(execution("8") { $0.rejectReason = 1 }, .routed) == .event(.rejected(reason: "rejected_by_venue (1)")))
        #expect(meaning(execution("8") { $0.text = "Unknown symbol" }, .routed) == .event(.rejected(reason: "Unknown symbol")))
        #expect(meaning(execution("8") { $0.text = "" }, .routed) == .event(.rejected(reason: "rejected_by_venue")))
    }

    @Test(
        arguments: [
            ("0", .event(.acknowledged)), ("1", .event(.acknowledged)), ("4", .event(.cancelled(reason: nil))),
            ("C", .event(.expired(reason: "expired"))),
            ("3", .event(.expired(reason: "expired"))), ("8", .event(.rejected(reason: "rejected_by_venue"))), ("2", .nothing), ("A", .nothing),
            ("6", .nothing), ("E", .nothing), ("?", .nothing), (nil, .nothing),
        ] as [(String?, ReportMeaning)]
    )
    func `that answers a status request books nothing and means by its OrdStatus`(_ status: String?, _ expected: ReportMeaning) {
        #expect(meaning(execution("I") { $0.orderStatus = status }, .unknown) == expected)
        #expect(meaning(execution("I") { ($0.orderStatus, $0.cumulativeQuantity) = (status, 0) }, .unknown) == expected)
    }

    @Test(arguments: ["0", "1", "2", "4", "C", "8", nil] as [String?])
    func `that answers with other fills than ours is not believed`(_ status: String?) {
        #expect(isUnbookable(meaning(execution("I") { ($0.orderStatus, $0.cumulativeQuantity) = (status, 41) }, .partiallyFilled)))
    }

    @Test func `that has an open order with other numbers than ours is not believed to agree`() {
        func status(_ status: String, quantity: Int64?, request: String? = nil) -> VenueReport {
            execution("I") { ($0.orderStatus, $0.orderQuantity, $0.requestID) = (status, quantity, request) }
        }
        for live in ["0", "1"] {
            #expect(isUnbookable(meaning(status(live, quantity: 60), .unknown)))
            // Replaced there, here not: so it is after a restore, also where the total is the same.
            #expect(isUnbookable(meaning(status(live, quantity: 100, request: orderID.text + "-r1"), .unknown)))
            #expect(meaning(status(live, quantity: 100), .unknown) == .event(.acknowledged))
            #expect(meaning(status(live, quantity: nil, request: orderID.text + "-c1"), .unknown) == .event(.acknowledged))
        }
        // An end is an end, of whatever total.
        #expect(meaning(status("4", quantity: 60), .unknown) == .event(.cancelled(reason: nil)))
        // What a replace makes of it is in force under that name.
        var desk = Desk.standing(.unknown)
        desk.order.replaces.taken = 2
        #expect(status("0", quantity: 100, request: orderID.text + "-r2").meaning(for: desk.order) == .event(.acknowledged))
        #expect(status("0", quantity: 100, request: orderID.text + "-r1").meaning(for: desk.order) == .event(.acknowledged))
        // While one is under way the venue may have it with the old numbers or the new ones.
        desk.order.replaces.pending = Replaces.Pending(terms: Replacement(quantity: 60, limitPrice: usd("10"), stopPrice: nil), holdPrice: usd("10"))
        #expect(status("0", quantity: 60).meaning(for: desk.order) == .event(.acknowledged))
    }

    @Test func `that refuses a cancel speaks of that cancel alone`() {
        var desk = Desk.standing(.working)
        desk.apply(.cancelRequested)
        desk.apply(.cancelRejected(reason: nil))
        desk.apply(.cancelRequested)
        var report = VenueReport(kind: .cancelReject)
        report.requestID = orderID.text + "-c1"
        report.text = "too late"
        #expect(report.meaning(for: desk.order) == .nothing)
        report.requestID = orderID.text + "-c2"
        #expect(report.meaning(for: desk.order) == .event(.cancelRejected(reason: "too late")))
        report.requestID = nil
        #expect(report.meaning(for: desk.order) == .event(.cancelRejected(reason: "too late")))
    }

    @Test func `of the session level means by what it refuses`() {
        func rejected(_ kind: VenueReport.Kind) -> ReportMeaning {
            var report = VenueReport(kind: kind)
            report.rejectReason = 5
            return meaning(report, .routed)
        }
        #expect(rejected(.orderRefused) == .event(.rejected(reason: "refused_by_venue_session (5)")))
        // Acknowledged before: the venue contradicts itself, and the hold stays until it has been asked.
        var late = VenueReport(kind: .orderRefused)
        late.rejectReason = 5
        for status in [OrderStatus.working, .partiallyFilled] {
            #expect(meaning(late, status) == .event(.doubted(reason: "refused_after_acknowledgement")))
        }
        #expect(rejected(.cancelRefused) == .event(.cancelRejected(reason: "cancel_rejected (5)")))
        #expect(rejected(.statusRefused) == .nothing)
        #expect(isUnbookable(rejected(.other)))
    }
}
