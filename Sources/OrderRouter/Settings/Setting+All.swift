import HTTPServer
import OrderDesk
import Quotes
import Trading

extension Setting {
    /// Every setting of a router, in the order in which help and README show them.
    static let all: [Setting] = database + clients + streams + deciding + venue + line + venueSession + quotes + process

    private static let database: [Setting] = [
        Setting(
            "database-url",
            .text("url", "a libpq connection string or a postgres:// URI"),
            \.databaseURL,
            .none,
            "PostgreSQL 15 or later. Of several hosts in it each is tried in turn.",
            isSecret: true
        ),
        Setting(
            "migrations",
            .text("folder", "a folder"),
            optional: \.migrations,
            .absent("`migrations` here, else above the program"),
            "The folder of the migrations, which the database must be at for the router to be ready."
        ),
    ]

    private static let clients: [Setting] = [
        Setting(
            "listen",
            .endpoint,
            \.listen,
            .value("127.0.0.1:8080"),
            "Where clients connect.",
            why: "Loopback: to be reachable from outside is a decision. Port 0 takes any free one."
        ),
        Setting(
            "tls-certificate",
            .text("file", "a PEM file"),
            optional: \.certificate,
            .absent("plain HTTP"),
            "Certificate chain in PEM, read at the start."
        ),
        Setting("tls-key", .text("file", "a PEM file"), optional: \.privateKey, .absent("plain HTTP"), "Private key of the certificate in PEM."),
        Setting(
            "jwks",
            .text("file|url", "a file or an http(s) URL"),
            \.keySet,
            .none,
            "The JWK Set whose keys sign the clients' tokens; read again every 60 s."
        ),
        Setting("issuer", .text("text", "the iss of the tokens"), \.issuer, .none, "What the `iss` of a token must be."),
        Setting("audience", .text("text", "the aud of the tokens"), \.audience, .none, "What the `aud` of a token must name."),
        Setting(
            "account-rate",
            .rate,
            \.accountRate,
            .value("200/500"),
            "Requests of one account a second, and at once.",
            why: "A person needs a few, a program of one account some hundred; one account then takes a fiftieth of what a router can do."
        ),
        Setting(
            "address-rate",
            .rate,
            \.addressRate,
            .value("2000/4000"),
            "Requests of one address a second, and at once.",
            why: "An office or a carrier's gateway is one address; ten busy accounts fit."
        ),
        Setting(
            "http-loops",
            .number(1...64),
            \.http.loops,
            .value("1"),
            "Threads that serve clients.",
            why: "One serves some 40,000 requests a second, more than the ledger takes; TLS may want two."
        ),
        Setting(
            "max-connections",
            .number(1...1_000_000),
            \.http.maximumConnections,
            .value("16000"),
            "Connections in all; more wait.",
            why: "Below the usual hard limit of 20,000 descriptors."
        ),
        Setting(
            "max-connections-per-address",
            .number(1...1_000_000),
            \.http.maximumConnectionsPerAddress,
            .value("1024"),
            "Connections of one address; more are refused.",
            why: "An office behind one address fits, and one host cannot take all."
        ),
        Setting(
            "max-body-bytes",
            .number(1_024...16_777_216),
            \.http.maximumBodyBytes,
            .value("65536"),
            "Largest body of a request; larger ones get 413.",
            why: "An order has 300 bytes."
        ),
        Setting(
            "request-timeout",
            .duration(.seconds(1)...(.seconds(300))),
            \.http.requestTimeout,
            .value("10s"),
            "From a request's first byte to its last; slower ones get 408.",
            why: "Far above a poor mobile line, and all that a slow sender may hold."
        ),
        Setting(
            "idle-timeout",
            .duration(.seconds(1)...(.seconds(3_600))),
            \.http.idleTimeout,
            .value("75s"),
            "Between two requests of a connection.",
            why: "Above the 60 s of common proxies, so that they close first and no request is lost in between."
        ),
        Setting(
            "stop-within",
            .duration(.seconds(1)...(.seconds(300))),
            \.http.stopWithin,
            .value("10s"),
            "How long a stop lets pending requests finish.",
            why: "Below the 30 s after which orchestrators kill."
        ),
    ]

    private static let deciding: [Setting] = [
        Setting(
            "lanes",
            .number(1...64),
            \.lanes,
            .value("2"),
            "Connections that accept orders, each on a thread of its own, and each with its share of the eight shards at once.",
            why: "Two make large batches, and one goes on while the other waits. Four suit a server whose commits are slow; 8 work at most."
        ),
        Setting(
            "queue-capacity",
            .number(1...1_000_000),
            \.queueCapacity,
            .value("4096"),
            "Orders that wait for a lane; more get 503 `busy`.",
            why: "Less than a second's work: who waits longer has given up."
        ),
        Setting(
            "batch-cap",
            .number(1...4_096),
            \.batchCap,
            .value("256"),
            "Orders in one commit at most.",
            why: "Larger batches gain nothing and hold the shard longer."
        ),
        Setting(
            "max-quantity",
            .number(1...1_000_000_000),
            \.limits.maximumQuantity,
            .value("1000000"),
            "Shares of one order at most.",
            why: "Ten times a large block; a slip of the finger ends here."
        ),
        Setting(
            "max-notional",
            .money,
            \.limits.maximumNotional,
            .value("100000000.00"),
            "Quantity times price of one order at most, in USD.",
            why: "A hundred million is beyond what goes to a venue in one order."
        ),
        Setting(
            "collar",
            .number(1...9_999),
            \.limits.collarBasisPoints,
            .value("1000"),
            "Hundredths of a percent by which a BUY may be above the ask and a SELL below the bid; also sizes the hold of orders without a limit.",
            why: "10 % is the exchanges' own band for most shares."
        ),
        Setting(
            "stale-after",
            .time(.milliseconds(100)...(.seconds(60))),
            \.freshness.maximumAge,
            .value("2500ms"),
            "Age from which a symbol's data refuses new orders.",
            why: "The feed vouches for each symbol once a second: two misses and a half."
        ),
        Setting(
            "immediate-deadline",
            .time(.milliseconds(100)...(.seconds(600))),
            \.deadlines.immediateMilliseconds,
            .value("5s"),
            "MARKET, IOC and FOK orders not numbered for the venue by then are cancelled (`not_routed`).",
            why: "The price that the trader saw has moved on."
        ),
        Setting(
            "session-deadline",
            .time(.seconds(1)...(.seconds(7 * 86_400))),
            \.deadlines.sessionMilliseconds,
            .value("390m"),
            "The same for all other orders.",
            why: "A regular session of the US exchanges."
        ),
        Setting(
            "silence",
            .time(.milliseconds(100)...(.seconds(3_600))),
            \.sweep.silence,
            .value("10s"),
            "A routed order that the venue has not answered for so long becomes UNKNOWN and is asked about.",
            why: "A hundred times a slow venue's answer."
        ),
        Setting(
            "ask-interval",
            .time(.milliseconds(100)...(.seconds(3_600))),
            \.askMilliseconds,
            .value("5s"),
            "Between two questions about the same UNKNOWN order.",
            why: "Often enough for a trader who waits, seldom enough for a venue in trouble."
        ),
        Setting(
            "events-kept",
            .time(.seconds(60)...(.seconds(366 * 86_400))),
            \.sweep.eventsKept,
            .value("7d"),
            "How far back event streams can be resumed.",
            why: "The published contract says 7 days."
        ),
        Setting(
            "messages-kept",
            .time(.seconds(3_600)...(.seconds(366 * 86_400))),
            \.sweep.messagesKept,
            .value("2d"),
            "How long sent and settled FIX messages are kept.",
            why: "Past any resend that a venue still asks for."
        ),
    ]

    private static let venue: [Setting] = [
        Setting("venue", .endpoint, \.venue.endpoint, .none, "The venue's FIX 4.4 acceptor for orders."),
        Setting("sender-comp-id", .compID, \.venue.senderCompID, .value("ORDERS"), "Our SenderCompID towards the venue."),
        Setting("target-comp-id", .compID, \.venue.targetCompID, .value("EXCH"), "The venue's CompID; executions are unique under it."),
        Setting(
            "live",
            .yesOrNo,
            \.isLive,
            .value("no"),
            "With yes a venue whose Logon says that it is a test system (464=Y) gets no orders.",
            why: "Orders for real money must not end in a simulator; /readyz tells which it is."
        ),
        Setting(
            "heartbeat",
            .number(1...3_600),
            \.heartbeatSeconds,
            .value("30"),
            "HeartBtInt in seconds.",
            why: "What most venues ask for. A dead line is noticed within 1.2 to 2.4 of it."
        ),
        Setting(
            "lease",
            .time(.seconds(1)...(.seconds(60))),
            \.leaseMilliseconds,
            .value("4s"),
            "How long a router may speak for the venue's session without renewing its lease.",
            why: "So long a second router waits after the first has crashed; a renewal takes milliseconds."
        ),
    ]

    private static let venueSession: [Setting] = [
        Setting(
            "venue-validation",
            .validation,
            \.venueSession.validation,
            .value("lenient"),
            "How the venue's messages are held against the FIX 4.4 dictionary: `strict` refuses what it does not allow, `lenient` what could be read "
                + "in two ways, `off` what the session itself cannot read. A refused report is parked and its order UNKNOWN."
        ),
        Setting(
            "venue-resets",
            .resets,
            optional: \.venueResets,
            .absent("never"),
            "When both sequence numbers begin again at 1: `logon`, `logout`, `disconnect`. Every order at the venue is then asked about."
        ),
        Setting(
            "venue-poss-resend",
            .yesOrNo,
            \.sendsAgain,
            .value("yes"),
            "Whether an order that the venue has lost when the numbers began again is sent again (PossResend=Y) within its deadline; with no it ends "
                + "CANCELLED, `not_routed`."
        ),
        Setting(
            "venue-hours",
            .hours,
            optional: \.venueSession.schedule,
            .absent("always open"),
            "When the session may be logged on, in UTC, such as `12:00-22:00/mon-fri`; the first logon of each period begins the sequence numbers again."
        ),
        Setting(
            "venue-sending-time-tolerance",
            .time(.seconds(1)...(.seconds(3_600))),
            optional: \.venueSession.sendingTimeTolerance,
            .absent("not checked"),
            "How far a SendingTime may be from our clock; further away the message is refused and the session logged out."
        ),
        Setting(
            "venue-next-expected",
            .yesOrNo,
            \.venueSession.announcesNextExpected,
            .value("no"),
            "Whether each Logon says which number is expected next (NextExpectedMsgSeqNum, tag 789), and the other side resends from there."
        ),
        Setting(
            "venue-resend-portion",
            .number(1...1_000_000),
            optional: \.venueSession.resendPortion,
            .absent("no limit"),
            "Messages that one ResendRequest asks for at most."
        ),
        Setting(
            "venue-resend-open-end",
            .yesOrNo,
            \.venueSession.asksToInfinity,
            .value("no"),
            "Whether a ResendRequest ends with EndSeqNo 0 (all that was sent) instead of the gap's last number."
        ),
    ]

    private static let process: [Setting] = [
        Setting("log-level", .level, \.logLevel, .value("info"), "The least that is logged: debug, info, warning or error."),
        Setting(
            "crash-at",
            .crashPoint,
            optional: \.crashPoint,
            .absent("never"),
            "For tests: kills this process (SIGKILL) when it reaches the step for the n-th time."
        ),
    ]
}

extension Configuration {
    /// Unset = never.
    var venueResets: Set<SessionOptions.Reset>? {
        get { venueSession.resets.isEmpty ? nil : venueSession.resets }
        set { venueSession.resets = newValue ?? [] }
    }

    /// Where clients connect.
    var listen: Endpoint {
        get { Endpoint(host: http.host, port: http.port) }
        set { (http.host, http.port) = (newValue.host, newValue.port) }
    }
}
