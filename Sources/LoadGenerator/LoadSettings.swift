/// What a run of load is told. Times are nanoseconds.
struct LoadSettings: Sendable {
    enum Pace: Sendable, Equatable {
        /// Each connection sends its next order when the last is answered.
        case closed
        /// So many orders a second, whatever the answers do. Latency counts from the intended time.
        case open(rate: Double, isPoisson: Bool)
    }

    var host = "127.0.0.1"
    var port: UInt16 = 8_080
    var traders: [Trader] = []
    var pace = Pace.closed
    /// As many submissions as a shard's batch holds, for each of two shards.
    var connections = 256
    var seed: UInt64 = 1
    var warmUp: Int64 = 3_000_000_000
    var duration: Int64 = 10_000_000_000
    /// Orders at most, duplicates not counted; nil: as many as there is time for.
    var orders: Int?
    /// Signed orders that wait. As many as `orders`: all are signed before the run begins.
    var ahead = 512
    /// Of orders that go through one account.
    var hotShare = 0.0
    /// Of requests that repeat an earlier one, byte for byte.
    var duplicates = 0.0
    /// Of orders that must be refused.
    var refusals = 0.0
    /// Limits at which nothing fills.
    var isResting = false
    var symbols = Preparation.symbols
    /// Follows orders to their fills.
    var streams = true
    /// Written by `order-router simulate --receipts`.
    var receipts: String?
    var watched: [WatchedProcess] = []
    /// An answer that takes longer is not awaited: the connection is closed and the same request sent again. Above the router's own patience of 5 s.
    var timeout: Int64 = 10_000_000_000
    /// After the last order was sent: for answers, and then for receipts and fills. What has not come by then is listed.
    var patience: Int64 = 30_000_000_000
    /// Older signed orders are not sent: a router refuses a client's clock that is 30 s off, and the order may wait there as well.
    var oldestSigned: Int64 = 25_000_000_000
    /// Before a request that was not decided is sent again: a batch or two.
    var retryPause: Int64 = 50_000_000
    /// A progress line each second on the standard error.
    var showsProgress = true
}

/// A process whose processor time and memory a run reports.
struct WatchedProcess: Sendable, Equatable {
    /// `router`, `venue` or `postgres`: the last with all its children.
    let name: String
    let id: Int32

    init(_ name: String, _ id: Int32) { (self.name, self.id) = (name, id) }

    /// Reads `router=1234`.
    init?(_ text: String) {
        let parts = text.split(separator: "=")
        guard parts.count == 2, ["router", "venue", "postgres"].contains(parts[0]), let id = Int32(parts[1]), id > 0 else { return nil }
        self.init(String(parts[0]), id)
    }
}
