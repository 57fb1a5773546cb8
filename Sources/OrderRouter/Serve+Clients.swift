import Gateway
import HTTPServer

extension Serve {
    /// Between two looks at what the server counts: below the pause between two scrapes.
    private static let clientsInterval: Duration = .seconds(1)

    /// Tells the metrics of the clients' connections, until cancelled.
    func clientGauges(_ listener: HTTPListener) async throws {
        var before = HTTPCounters()
        while true {
            let now = listener.counters
            metrics.set("order_router_connections", to: Double(now.connectionsOpen))
            metrics.set("order_router_streams", to: Double(now.streamsOpen))
            let growing = [
                ("connections", now.connectionsAccepted - before.connectionsAccepted),
                ("connections_refused", now.connectionsRefused - before.connectionsRefused),
                ("accept_failures", now.acceptFailures - before.acceptFailures), ("requests_refused", now.requestsRefused - before.requestsRefused),
                ("streams_cut", now.streamsCut - before.streamsCut), ("received_bytes", now.bytesReceived - before.bytesReceived),
                ("sent_bytes", now.bytesSent - before.bytesSent),
            ]
            for (name, growth) in growing { metrics.count("order_router_\(name)_total", by: growth) }
            before = now
            try await Task.sleep(for: Self.clientsInterval)
        }
    }
}
