import MarketData
import Quotes

extension Setting {
    static let quotes: [Setting] = [
        Setting("market-data", .endpoint, optional: \.marketDataEndpoint, .absent("the venue's"), "The FIX 4.4 acceptor for market data."),
        Setting("market-data-sender-comp-id", .compID, \.marketDataSenderCompID, .value("QUOTES"), "Our SenderCompID towards it."),
        Setting("market-data-target-comp-id", .compID, optional: \.marketDataTargetCompID, .absent("the venue's"), "Its CompID."),
        Setting("symbols", .symbols, \.symbols, .value("*"), "What is subscribed to, and so can be traded; `*`: all that the feed has."),
        Setting(
            "feed",
            .feed,
            \.feed,
            .value("fix"),
            "Where prices come from: `fix` as set above, the binary feed over UDP with a TCP line for recovery or over TCP alone, or a recorded file."
        ),
        Setting(
            "feed-speed",
            .number(1...1_000),
            \.feedSpeed,
            .value("1"),
            "How many times as fast as it came a recorded file is played.",
            why: "As it came."
        ),
        Setting("feed-repeat", .yesOrNo, \.feedRepeats, .value("no"), "Whether a recorded file is played again and again."),
        Setting(
            "price-band",
            .number(1...10_000),
            \.priceBandPercent,
            .value("50"),
            "A price farther than so many percent from the one before is not believed: not shown, not traded on.",
            why: "Exchanges halt a share that moves by 5 to 20 % within minutes; a wrong decimal point is 900 %."
        ),
        Setting(
            "price-band-confirmation",
            .time(.seconds(1)...(.seconds(3_600))),
            \.bookRules.bandConfirmation,
            .value("30s"),
            "Unless the feed stays there for so long: then it is believed.",
            why: "A split, or a reopening after news; meanwhile the symbol is stale."
        ),
        Setting(
            "feed-lead",
            .time(.zero...(.seconds(60))),
            \.bookRules.maximumLead,
            .value("1s"),
            "A price whose time is farther ahead of this machine's clock is not believed: not shown, not traded on.",
            why: "Clocks under NTP differ by milliseconds; by what a feed's clock is ahead, its late prices look younger."
        ),
        Setting(
            "drift-interval",
            .time(.seconds(1)...(.seconds(86_400))),
            \.driftInterval,
            .value("60s"),
            "How often each symbol is compared with the feed's own picture.",
            why: "10,000 symbols are 170 a second, a thousandth of what the feed brings."
        ),
        Setting(
            "calendars",
            .text("file", "a file of calendars"),
            optional: \.calendars,
            .absent("those that come with the program"),
            "When the exchanges trade: zones, sessions, holidays and half days; `Sources/MarketData/exchange-calendars.txt` says how it is written."
        ),
        Setting(
            "candles-kept",
            .time(.seconds(86_400)...(.seconds(10 * 366 * 86_400))),
            \.candlesKept,
            .value("35d"),
            "How long the candles of minutes are kept; those of days are kept for ever.",
            why: "A month of candles of an hour is what is told, and some days for whoever looks into them."
        ),
    ]
}

extension Configuration {
    var priceBandPercent: Int64 {
        get { bookRules.bandBasisPoints / 100 }
        set { bookRules.bandBasisPoints = newValue * 100 }
    }
}

/// Where prices come from.
enum FeedChoice: Sendable, Equatable {
    /// The FIX market-data session.
    case fix
    /// The binary feed, its TCP line at the endpoint.
    case binary(Endpoint, datagrams: BinaryFeedSettings.Datagrams?)
    /// A recorded feed.
    case file(String)

    /// `fix`, `tcp://host:port`, `udp://group:port?recovery=host:port&interface=address` or `file:path`.
    init?(_ text: String) {
        if text == "fix" {
            self = .fix
        } else if let path = text.suffix(after: "file:") {
            if path.isEmpty { return nil }
            self = .file(path)
        } else if let address = text.suffix(after: "tcp://") {
            guard let endpoint = Endpoint(address) else { return nil }
            self = .binary(endpoint, datagrams: nil)
        } else if let rest = text.suffix(after: "udp://") {
            guard let choice = Self.datagrams(rest) else { return nil }
            self = choice
        } else {
            return nil
        }
    }

    private static func datagrams(_ text: String) -> FeedChoice? {
        let halves = text.split(separator: "?", omittingEmptySubsequences: false).map { String($0) }
        guard halves.count == 2, let group = Endpoint(halves[0]) else { return nil }
        var recovery: Endpoint?
        var interface = "0.0.0.0"
        for pair in halves[1].split(separator: "&", omittingEmptySubsequences: false) {
            if let value = String(pair).suffix(after: "recovery=") {
                recovery = Endpoint(value)
            } else if let value = String(pair).suffix(after: "interface=") {
                interface = value
            } else {
                return nil
            }
        }
        let areAddresses = [group.host, interface].allSatisfy { host in
            let parts = host.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
        }
        guard let recovery, areAddresses else { return nil }
        return .binary(recovery, datagrams: .init(group: group.host, port: group.port, interface: interface))
    }
}

extension String {
    fileprivate func suffix(after prefix: String) -> String? { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil }
}

extension ValueKind where Value == FeedChoice {
    static let feed = ValueKind(
        placeholder: "feed",
        expected: "fix, tcp://host:port, udp://group:port?recovery=host:port&interface=address (IPv4), or file:path",
        parse: { FeedChoice($0) }
    )
}
