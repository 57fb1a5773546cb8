import FIX
import Foundation
import Gateway
import HTTPServer
import MarketData
import OrderDesk
import Quotes
import TestSupport
import Testing
import Trading
import Venue

@testable import OrderRouter

@Suite struct `A router's configuration` {
    static let needed = [
        "ORDER_ROUTER_DATABASE_URL": "postgres://router:secret@db/router", "ORDER_ROUTER_JWKS": "jwks.json", "ORDER_ROUTER_ISSUER": "https://issuer",
        "ORDER_ROUTER_AUDIENCE": "router", "ORDER_ROUTER_VENUE": "10.0.0.5:9880",
    ]

    func read(_ flags: [String: String] = [:], _ more: [String: String] = [:]) throws -> Configuration {
        try Configuration(flags: flags, environment: Self.needed.merging(more) { $1 })
    }

    func complaint(_ flags: [String: String] = [:], _ more: [String: String] = [:]) -> String {
        do {
            _ = try read(flags, more)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func `has the published defaults`() throws {
        let configuration = try read()
        #expect(configuration.listen == Endpoint(host: "127.0.0.1", port: 8080))
        #expect(configuration.http.tls == nil)
        #expect(configuration.heartbeatSeconds == 30)
        #expect(configuration.venue == .init(endpoint: Endpoint(host: "10.0.0.5", port: 9880), senderCompID: "ORDERS", targetCompID: "EXCH"))
        #expect(configuration.quotes == .init(endpoint: Endpoint(host: "10.0.0.5", port: 9880), senderCompID: "QUOTES", targetCompID: "EXCH"))
        #expect(configuration.freshness.maximumAge == 2_500)
        #expect(configuration.freshness.maximumLead == 1_000)
        #expect(configuration.deadlines.immediateMilliseconds == 5_000)
        #expect(configuration.sweep.eventsKept == 7 * 86_400_000)
        #expect(configuration.limits.maximumNotional == Amount("100000000.00"))
        #expect(configuration.deskRules.venueSession == "ORDERS->EXCH")
        #expect(configuration.crashPoint == nil)
    }

    @Test func `takes a flag before the environment and that before the default`() throws {
        #expect(try read(["lanes": "2"], ["ORDER_ROUTER_LANES": "3"]).lanes == 2)
        #expect(try read([:], ["ORDER_ROUTER_LANES": "3"]).lanes == 3)
        #expect(try read([:], ["ORDER_ROUTER_LANES": ""]).lanes == 2)
    }

    @Test(arguments: [
        ("lanes", "0"), ("lanes", "65"), ("lanes", "-1"), ("lanes", "4.0"), ("lanes", "٣"), ("lanes", ""), ("queue-capacity", "many"),
        ("collar", "10000"),
        ("max-quantity", "1000000001"), ("max-notional", "0"), ("max-notional", "1e9"), ("max-notional", "1.00001"), ("max-notional", "-5"),
        ("listen", "8080"), ("listen", "localhost:"), ("listen", "localhost:65536"), ("listen", "::1:80"), ("listen", "[1.2.3.4]:80"),
        ("venue", ":9880"),
        ("venue", "user@host:1"), ("stale-after", "2500"), ("stale-after", "99ms"), ("stale-after", "2.5s"), ("stale-after", "9223372036854775807d"),
        ("account-rate", "0"), ("account-rate", "5/"), ("account-rate", "5/6/7"), ("symbols", "nvda"), ("symbols", "NVDA,"), ("symbols", "NVDA,NVDA"),
        ("sender-comp-id", "TWO WORDS"), ("sender-comp-id", "A=B"), ("log-level", "loud"), ("crash-at", "accept"), ("crash-at", "accept-claimed:0"),
        ("heartbeat", "3601"), ("request-timeout", "1ms"), ("venue-validation", "some"), ("venue-resets", "logon,"), ("venue-resets", "always"),
        ("venue-hours", "8-17"), ("venue-hours", "08:00-17:00/someday"), ("venue-sending-time-tolerance", "1ms"), ("venue-next-expected", "true"),
        ("venue-resend-portion", "0"),
    ])
    func `refuses a wrong value by the name of its setting`(_ flag: String, _ value: String) throws {
        let setting = try #require(Setting.all.first { $0.flag == flag })
        #expect(complaint([flag: value]).contains("--\(flag) is '\(value)': expected is "))
        if !value.isEmpty { #expect(complaint([:], [setting.variable: value]).contains("\(setting.variable) is '\(value)': expected is ")) }
    }

    @Test(arguments: needed.keys.sorted()) func `cannot do without`(_ name: String) {
        #expect(complaint([:], [name: ""]).contains("\(name) (or --"))
    }

    @Test func `names everything that is wrong at once, wrong values first`() {
        let text = complaint(["lanes": "x", "collar": "y"], ["ORDER_ROUTER_JWKS": ""])
        let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix("--lanes") && lines[1].hasPrefix("--collar") && lines[2].hasPrefix("ORDER_ROUTER_JWKS"))
    }

    @Test func `refuses a variable that is no setting, and says which one is meant`() {
        let text = complaint([:], ["ORDER_ROUTER_LANE": "4"])
        #expect(text.contains("ORDER_ROUTER_LANE is not a setting"))
        #expect(text.contains("Is ORDER_ROUTER_LANES meant?"))
        #expect(complaint([:], ["ORDER_ROUTER_TEST_DATABASE_URL": "x", "PATH": "y"]).isEmpty)
    }

    @Test func `lets Kubernetes name a service like the router`() {
        let theirs = [
            "ORDER_ROUTER_SERVICE_HOST": "10.1.2.3", "ORDER_ROUTER_SERVICE_PORT_HTTP": "8080", "ORDER_ROUTER_PORT": "tcp://10.1.2.3:8080",
            "ORDER_ROUTER_PORT_8080_TCP_ADDR": "10.1.2.3",
        ]
        #expect(complaint([:], theirs).isEmpty)
        #expect(complaint([:], ["ORDER_ROUTER_PORT": "9000"]).contains("ORDER_ROUTER_PORT is not a setting"))
    }

    @Test func `never shows the database's URL`() {
        #expect(!complaint(["lanes": "x"]).contains("secret"))
        #expect(!Setting.all.contains { $0.flag == "database-url" && complaint([$0.flag: ""]).contains("''") })
    }

    @Test func `needs both files for TLS`() throws {
        #expect(complaint(["tls-certificate": "c.pem"]).contains("--tls-key"))
        #expect(complaint(["tls-key": "k.pem"]).contains("--tls-certificate"))
        let files = try #require(try read(["tls-certificate": "c.pem", "tls-key": "k.pem"]).http.tls)
        #expect(files.certificateChain == "c.pem" && files.privateKey == "k.pem")
    }

    @Test func `secures both lines to the venue, or the one that is said`() throws {
        let authority = try CertificateAuthority()
        let ours = try authority.sign("DNS:orders")
        let files = ["venue-tls-ca": authority.file, "venue-tls-certificate": ours.certificate, "venue-tls-key": ours.key]
        func lines(_ flags: [String: String]) throws -> [Bool] {
            let lines = try read(files.merging(flags) { $1 }).lines.lines(quotesOnSameHost: true)
            return [lines.orders != nil, lines.quotes != nil]
        }
        #expect(try lines(["venue-tls": "yes"]) == [true, true])
        #expect(try lines(["venue-tls": "yes", "market-data-tls": "no"]) == [true, false])
        #expect(try lines(["venue-tls": "no", "market-data-tls": "yes"]) == [false, true])
        let plain = try read().lines.lines(quotesOnSameHost: true)
        #expect(plain.orders == nil && plain.quotes == nil)
    }

    @Test func `refuses TLS settings that would not hold`() throws {
        #expect(complaint(["venue-tls-ca": "ca.pem"]).contains("say --venue-tls yes"))
        #expect(complaint(["venue-tls": "no", "venue-tls-name": "venue"]).contains("--venue-tls-name is set"))
        #expect(complaint(["venue-tls": "yes", "venue-tls-certificate": "c.pem"]).contains("--venue-tls-key is not set"))
        #expect(complaint(["venue-tls": "yes", "venue-tls-key": "k.pem"]).contains("--venue-tls-certificate is not set"))
        let missing = #expect(throws: UsageError.self) {
            _ = try read(["venue-tls": "yes", "venue-tls-ca": "/no/ca.pem"]).lines.lines(quotesOnSameHost: true)
        }
        #expect(missing?.message.contains("--venue-tls-ca") == true && missing?.message.contains("/no/ca.pem cannot be used") == true)
    }

    @Test func `refuses settings that cannot hold together`() {
        #expect(complaint(["batch-cap": "100", "queue-capacity": "99"]).contains("--batch-cap"))
        #expect(complaint(["sender-comp-id": "EXCH"]).contains("both 'EXCH'"))
        #expect(complaint(["market-data-sender-comp-id": "ORDERS"]).contains("--market-data-sender-comp-id"))
        #expect(complaint(["market-data-sender-comp-id": "ORDERS", "market-data": "10.0.0.6:9880"]).isEmpty)
    }

    @Test func `gives the market-data session ends of its own`() throws {
        let configuration = try read(["market-data": "[::1]:9", "market-data-target-comp-id": "MD", "symbols": "NVDA,BRK.B"])
        #expect(configuration.quotes == .init(endpoint: Endpoint(host: "::1", port: 9), senderCompID: "QUOTES", targetCompID: "MD"))
        #expect(configuration.feedSettings(nil).symbols == ["NVDA", "BRK.B"])
        #expect(configuration.quotes.endpoint.description == "[::1]:9")
    }

    @Test func `takes a feed by its address`() throws {
        #expect(try read([:]).feed == .fix)
        #expect(try read(["feed": "tcp://md.example:9883"]).feed == .binary(Endpoint(host: "md.example", port: 9_883), datagrams: nil))
        let udp = try read(["feed": "udp://239.1.2.3:9882?recovery=10.0.0.5:9883&interface=10.0.0.7"]).feed
        #expect(udp == .binary(Endpoint(host: "10.0.0.5", port: 9_883), datagrams: .init(group: "239.1.2.3", port: 9_882, interface: "10.0.0.7")))
        #expect(try read(["feed": "file:/var/day"]).feed == .file("/var/day"))
        for wrong in [
            "", "FIX", "tcp://x", "udp://239.1.2.3:9882", "udp://host:1?recovery=a:1", "udp://1.2.3.4:1?recovery=a:1&interface=eth0", "file:",
            "udp://1.2.3.4:1?recovery=a:1&x=y",
        ] {
            #expect(complaint(["feed": wrong]).contains("feed") || wrong.isEmpty, "\(wrong)")
        }
    }

    @Test func `plays no recorded prices for a live venue`() throws {
        #expect(complaint(["feed": "file:/var/day", "live": "yes"]).contains("nobody trades for real"))
        #expect(complaint(["feed": "file:/var/day"]).isEmpty)
    }

    @Test func `takes the price band in percent`() throws {
        #expect(try read(["price-band": "20"]).bookRules.bandBasisPoints == 2_000)
        #expect(try read([:]).bookRules.bandBasisPoints == Book.Rules().bandBasisPoints)
        #expect(try read([:]).bookRules.bandConfirmation == Book.Rules().bandConfirmation)
    }

    @Test(arguments: DeskStep.allCases.map(\.rawValue) + VenueStep.allCases.map(\.rawValue)) func `can stop at every step`(_ step: String) throws {
        #expect(try read(["crash-at": step]).crashPoint == .init(step: step, occurrence: 1))
        #expect(try read([:], ["ORDER_ROUTER_CRASH_AT": step + ":7"]).crashPoint == .init(step: step, occurrence: 7))
    }

    @Test func `reads times in every unit and rates with and without a burst`() throws {
        for (text, milliseconds) in [("150ms", 150), ("2s", 2_000), ("1m", 60_000)] as [(String, Int64)] {
            #expect(try read(["stale-after": text]).freshness.maximumAge == milliseconds)
        }
        #expect(try read(["messages-kept": "3d"]).sweep.messagesKept == 3 * 86_400_000)
        let rates = [("7", RateLimit(perSecond: 7, burst: 7)), ("7/90", RateLimit(perSecond: 7, burst: 90))]
        for (text, rate) in rates {
            let read = try read(["account-rate": text]).accountRate
            #expect(read.perSecond == rate.perSecond && read.burst == rate.burst)
        }
    }

    @Test func `agrees with the venue upon what it was told`() throws {
        let usual = try read().venueSettings(holder: "h").session
        #expect(usual.rules == .lenient && usual.schedule == nil && usual.sendingTimeTolerance == nil && usual.resendPortion == Int.max)
        #expect(!usual.resetOnLogon && !usual.resetOnLogout && !usual.resetOnDisconnect && !usual.announcesNextExpected && !usual.asksToInfinity)
        let flags = [
            "venue-validation": "strict", "venue-resets": "logon,disconnect", "venue-hours": "12:00-22:00/mon-fri", "venue-resend-portion": "2500",
            "venue-sending-time-tolerance": "2m", "venue-next-expected": "yes", "venue-resend-open-end": "yes",
        ]
        let told = try read(flags).venueSettings(holder: "h").session
        #expect(told.rules == .strict && told.resetOnLogon && !told.resetOnLogout && told.resetOnDisconnect && told.resendPortion == 2_500)
        #expect(told.schedule == SessionSchedule(opens: 12 * 3_600_000, closes: 22 * 3_600_000, days: Set(0...4)))
        #expect(told.sendingTimeTolerance == 120_000 && told.announcesNextExpected && told.asksToInfinity)
        #expect(told.role == .initiator && told.senderCompID == "ORDERS" && told.targetCompID == "EXCH" && told.heartbeatSeconds == 30)
        #expect(try read(["venue-validation": "off"]).venueSettings(holder: "h").session.rules == nil)
    }

    @Test func `renews the lease well before it ends`() throws {
        let settings = try read(["lease": "8s"]).venueSettings(holder: "h")
        #expect(settings.leaseDuration == 8_000)
        #expect(settings.leaseRenewal + settings.leaseMargin < settings.leaseDuration)
    }
}

@Suite struct `The table of settings` {
    @Test func `has each flag once, with a meaning that is a sentence`() {
        #expect(Set(Setting.all.map(\.flag)).count == Setting.all.count)
        for setting in Setting.all { #expect(setting.meaning.hasSuffix("."), "\(setting.flag)") }
    }

    @Test func `gives the reason for each number`() {
        for setting in Setting.all {
            guard case .value(let text) = setting.fallback, text.contains(where: \.isNumber) else { continue }
            #expect(setting.why.hasSuffix("."), "\(setting.flag)")
        }
    }

    @Test func `is the README's table`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let rows = readme.split(separator: "\n").filter { $0.hasPrefix("| `--") }.map(String.init)
        #expect(rows == Setting.all.map(\.tableRow), "The table is:\n\(Setting.all.map(\.tableRow).joined(separator: "\n"))")
    }

    @Test func `is all in the help of serve`() {
        let help = Help.text(.serve)
        for setting in Setting.all { #expect(help.contains("--\(setting.flag) <") && help.contains(setting.variable), "\(setting.flag)") }
    }
}

extension Setting {
    /// A row of the README's table.
    var tableRow: String {
        let shown =
            switch fallback {
            case .value(let text): "`\(text)`"
            case .absent(let text): text
            case .none: "must be set"
            }
        return "| `--\(flag)` | \(shown) | \(meaning)\(why.isEmpty ? "" : " *\(why)*") |"
    }
}
