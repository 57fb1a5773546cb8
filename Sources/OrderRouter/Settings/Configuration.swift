import FIX
import Gateway
import HTTPServer
import MarketData
import OrderDesk
import Quotes
import Trading
import Venue

/// Everything that an operator can set for a router. The table in `Setting.all` says for each what it means, its default and why.
///
/// A value that exists was read from flags and environment and is within its bounds.
struct Configuration: Sendable {
    /// A FIX session's ends.
    struct FIXPeer: Sendable, Equatable {
        var endpoint = Endpoint(host: "", port: 0)
        /// Ours.
        var senderCompID = ""
        /// The counterparty's.
        var targetCompID = ""
    }

    /// Stops this process right at a named step: for tests of what a crash there leaves behind.
    struct CrashPoint: Sendable, Equatable {
        /// A raw value of `DeskStep` or `VenueStep`.
        var step: String
        /// The time that the step is reached at which the process ends, from 1.
        var occurrence: Int
    }

    // MARK: Database
    var databaseURL = ""
    /// The folder of migrations; nil: `Migrations.folder` looks for it.
    var migrations: String?

    // MARK: Clients
    var http = HTTPConfiguration()
    var certificate: String?
    var privateKey: String?
    /// Path or URL of the JWK Set.
    var keySet = ""
    var issuer = ""
    var audience = ""
    var accountRate = RateLimit(perSecond: 1, burst: 1)
    var addressRate = RateLimit(perSecond: 1, burst: 1)

    // MARK: Deciding
    var lanes = 1
    var queueCapacity = 1
    var batchCap = 1
    var limits = RiskLimits(maximumQuantity: 1, maximumNotional: .zero, collarBasisPoints: 0)
    var freshness = Freshness()
    /// Milliseconds.
    var priceWindow: Int64 = 500
    var deadlines = RouteDeadlines(immediateMilliseconds: 0, sessionMilliseconds: 0)
    var sweep = Sweep.Times()

    // MARK: Venue
    var venue = FIXPeer()
    var heartbeatSeconds = 30
    var venueSession = SessionOptions()
    var lines = LineOptions()
    var isLive = false
    var sendsAgain = true
    var leaseMilliseconds: Int64 = 0
    var askMilliseconds: Int64 = 0
    /// Endpoint and TargetCompID may be unset: then they are the venue's. `quotes` is what holds.
    var marketDataEndpoint: Endpoint?
    var marketDataSenderCompID = ""
    var marketDataTargetCompID: String?
    /// What is subscribed to; `*` alone: all that the feed has.
    var symbols: [String] = []
    /// The file of the exchanges' calendars; nil: those that come with the program.
    var calendars: String?
    /// How long candles of a minute are kept, ms.
    var candlesKept: Int64 = 0

    var feed = FeedChoice.fix
    var feedSpeed = 1
    var feedRepeats = false
    var bookRules = Book.Rules()
    var driftInterval: Int64 = 0

    // MARK: This process
    var logLevel = Log.Level.info
    var crashPoint: CrashPoint?

    /// The market-data session.
    var quotes: FIXPeer {
        FIXPeer(
            endpoint: marketDataEndpoint ?? venue.endpoint,
            senderCompID: marketDataSenderCompID,
            targetCompID: marketDataTargetCompID ?? venue.targetCompID
        )
    }

    /// - Parameter tls: of `lines`, for the market-data line.
    func feedSettings(_ tls: LineTLS?) -> FeedSettings {
        FeedSettings(
            host: quotes.endpoint.host,
            port: quotes.endpoint.port,
            senderCompID: quotes.senderCompID,
            targetCompID: quotes.targetCompID,
            heartbeatSeconds: heartbeatSeconds,
            symbols: symbols,
            driftInterval: driftInterval,
            tls: tls
        )
    }

    /// The numbers that the desk decides by. Executions are unique under the venue's CompID.
    var deskRules: DeskRules {
        var rules = DeskRules(
            limits: limits,
            freshness: freshness,
            deadlines: deadlines,
            venue: venue.targetCompID,
            venueSession: "\(venue.senderCompID)->\(venue.targetCompID)"
        )
        rules.sendsAgain = sendsAgain
        return rules
    }

    /// - Parameters:
    ///   - holder: names this run among the holders of the session's lease.
    ///   - tls: of `lines`, for the line for orders.
    func venueSettings(holder: String, _ tls: LineTLS? = nil) -> VenueSettings {
        var settings = VenueSettings(
            host: venue.endpoint.host,
            port: venue.endpoint.port,
            senderCompID: venue.senderCompID,
            targetCompID: venue.targetCompID,
            heartbeatSeconds: heartbeatSeconds,
            holder: holder
        )
        settings.tls = tls
        venueSession.apply(to: &settings.session)
        settings.leaseDuration = leaseMilliseconds
        // A quarter: three renewals may fail before the lease is lost, and the margin covers what two clocks and the network make of a second.
        settings.leaseRenewal = leaseMilliseconds / 4
        settings.leaseMargin = leaseMilliseconds / 4
        settings.askInterval = askMilliseconds
        settings.isLive = isLive
        settings.pricesAreRecorded = pricesAreRecorded
        return settings
    }

    /// Nothing is set yet.
    static let blank = Configuration()

    private init() {}

    /// Reads every setting: a flag wins over the environment, the environment over the default.
    ///
    /// - Parameters:
    ///   - flags: by name without dashes; only names of `Setting.all`.
    ///   - environment: all of it; other variables than `ORDER_ROUTER_…` are not looked at.
    /// - Throws: every setting that is wrong or missing, by its name and with what is expected; a variable `ORDER_ROUTER_…` that is no setting.
    init(flags: [String: String], environment: [String: String]) throws(UsageError) {
        try Setting.checkNames(environment)
        // All of them at once: nobody wants to find the tenth mistake at the tenth start.
        var wrong: [String] = []
        var missing: [String] = []
        for setting in Setting.all {
            let (flag, variable) = (flags[setting.flag], environment[setting.variable])
            do {
                try setting.read(into: &self, flag: flag, variable: variable)
            } catch {
                if flag == nil && variable?.isEmpty != false { missing.append(error.message) } else { wrong.append(error.message) }
            }
        }
        if !(wrong + missing).isEmpty { throw UsageError((wrong + missing).joined(separator: "\n  ")) }
        try check()
    }

    /// Prices of another day.
    var pricesAreRecorded: Bool { if case .file = feed { true } else { false } }

    /// What no setting can say by itself.
    private mutating func check() throws(UsageError) {
        switch (certificate, privateKey) {
        case (let certificate?, let privateKey?): http.tls = .init(certificateChain: certificate, privateKey: privateKey)
        case (nil, nil): break
        case (_?, nil): throw UsageError("--tls-key (ORDER_ROUTER_TLS_KEY) is not set, although --tls-certificate is: TLS needs both files.")
        case (nil, _?): throw UsageError("--tls-certificate (ORDER_ROUTER_TLS_CERTIFICATE) is not set, although --tls-key is: TLS needs both files.")
        }
        if isLive, pricesAreRecorded {
            throw UsageError("--feed (ORDER_ROUTER_FEED) is a recorded file, and --live is yes: nobody trades for real on prices of another day.")
        }
        try lines.check()
        guard batchCap <= queueCapacity else {
            throw UsageError(
                "--batch-cap (ORDER_ROUTER_BATCH_CAP) is \(batchCap), more than --queue-capacity, \(queueCapacity): a batch comes from the queue."
            )
        }
        for peer in [venue, quotes] where peer.senderCompID == peer.targetCompID {
            throw UsageError("The two CompIDs of a FIX session are both '\(peer.senderCompID)': they name its two ends.")
        }
        guard venue.senderCompID != quotes.senderCompID || venue.targetCompID != quotes.targetCompID || venue.endpoint != quotes.endpoint else {
            throw UsageError(
                "--market-data-sender-comp-id (ORDER_ROUTER_MARKET_DATA_SENDER_COMP_ID) is '\(quotes.senderCompID)', the same as for orders: "
                    + "the market-data session needs a name of its own."
            )
        }
    }
}
