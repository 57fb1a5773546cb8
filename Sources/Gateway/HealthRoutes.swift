import HTTPServer
import OrderDesk
import Storage
import Trading
import Wire

/// For load balancers, orchestrators and Prometheus: no token, nothing secret.
extension APIHandler {
    /// GET /healthz: the process answers.
    func healthz(_ call: inout Call) async throws -> HTTPResponse {
        HTTPResponse(json: Array(#"{"status":"ok"}"#.utf8))
    }

    /// GET /readyz: 200 when new orders can be taken, 503 with what is missing otherwise. Cancels and reads may work all the same.
    func readyz(_ call: inout Call) async throws -> HTTPResponse {
        let ready = await api.readiness()
        var json = JSONWriter()
        json.beginObject()
        json.member("ready", ready.takesOrders)
        json.member("database", ready.database)
        json.member("migrations", ready.migrations)
        json.member("venue", ready.venue)
        json.member("market_data", ready.marketData)
        if ready.isReplay { json.member("market_data_is_replay", true) }
        json.member("kill_switch", ready.killSwitch)
        if let isTest = ready.venueIsTest { json.member("venue_is_test", isTest) } else { json.member("venue_is_test", nil as String?) }
        json.endObject()
        return HTTPResponse(json: json.bytes, status: ready.takesOrders ? 200 : 503)
    }

    /// GET /metrics in Prometheus' text format.
    func metrics(_ call: inout Call) async throws -> HTTPResponse {
        api.gauges()
        api.metrics.set("order_router_queue_depth", to: Double(api.queue.depth))
        let read = try? await api.reads.orders.read { (try $0.backlog(), try $0.halts(), try $0.doubts(), try $0.differenceCount()) }
        if let (backlog, halts, doubts, differences) = read {
            api.metrics.set("order_router_backlog", [("leg", "send")], to: Double(backlog.unsentRows))
            api.metrics.set("order_router_backlog", [("leg", "settle")], to: Double(backlog.unsettledReports))
            for (leg, oldest) in [("send", backlog.oldestUnsentAt), ("settle", backlog.oldestUnsettledAt)] {
                let age = oldest.map { Double(max(0, api.now() - $0)) / 1_000 } ?? 0
                api.metrics.set("order_router_backlog_age_seconds", [("leg", leg)], to: age)
            }
            api.metrics.set("order_router_parked_reports", to: Double(backlog.parkedReports))
            api.metrics.set("order_router_alarms", to: Double(backlog.alarms))
            api.metrics.set("order_router_parts_ahead_days", to: Double(backlog.partDaysAhead))
            if let differences { api.metrics.set("order_router_venue_differences", to: Double(differences)) }
            for scope in Halt.Scope.allCases {
                api.metrics.set("order_router_halts", [("scope", scope.rawValue)], to: Double(halts.count { $0.scope == scope }))
            }
            for (kind, doubts) in [("unknown", doubts.unknown), ("request", doubts.unansweredRequests)] {
                api.metrics.set("order_router_doubts", [("kind", kind)], to: Double(doubts.count))
                let age = doubts.oldestAt.map { Double(max(0, api.now() - $0)) / 1_000 } ?? 0
                api.metrics.set("order_router_doubt_age_seconds", [("kind", kind)], to: age)
            }
            api.metrics.set("order_router_database_up", to: 1)
        } else {
            api.metrics.set("order_router_database_up", to: 0)
        }
        return HTTPResponse(status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8", body: Array(api.metrics.rendered().utf8))
    }
}
