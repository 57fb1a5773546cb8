import Cryptography
import ExchangeSimulator
import FIX
import Foundation
import JourneySupport
import Storage
import TestSupport
import Testing
import Trading

extension Faults {
    /// The whole circle with TLS between router and venue, each of which shows a certificate.
    @Suite struct `Over a secured line` {
        @Test func `an order is placed and filled, also after the line has broken`() async throws {
            let authority = try CertificateAuthority()
            let (theirs, ours) = (try authority.sign("DNS:venue.example"), try authority.sign("DNS:orders"))
            let identity = LineTLS.Identity(certificateChain: theirs.certificate, privateKey: theirs.key)
            let town = try await Town(accounts: 1, tls: try LineTLS.acceptor(identity: identity, clientAuthorities: authority.file))
            try await town.run { town in
                let router = try town.router([
                    "ORDER_ROUTER_VENUE_TLS": "yes", "ORDER_ROUTER_VENUE_TLS_CA": authority.file, "ORDER_ROUTER_VENUE_TLS_NAME": "venue.example",
                    "ORDER_ROUTER_VENUE_TLS_CERTIFICATE": ours.certificate, "ORDER_ROUTER_VENUE_TLS_KEY": ours.key,
                ])
                let port = try #require(await router.ready(), "\(router.log)")
                let phone = town.phones[0]
                for round in 0..<3 {
                    if round > 0 { town.venue.disconnectAll() }
                    let key = Circle.newKey()
                    // Not taken while the line is down; the same key again, as a client does.
                    try await eventually("acceptance") { try await phone.place(Circle.terms(.buy, 10), key: key, port: port).status == 201 }
                    let order = try #require(try await phone.place(Circle.terms(.buy, 10), key: key, port: port).member("order_id"))
                    try await eventually("the fill") {
                        try await phone.send("GET", "/v1/trading/orders/\(order)", port: port).member("status") == "FILLED"
                    }
                }
                try await town.quiet()
                try await town.verify()
            }
        }

        @Test func `does not come about with a venue that nobody here knows, which the log explains, and no order is taken`() async throws {
            let (authority, stranger) = (try CertificateAuthority(), try CertificateAuthority())
            let theirs = try stranger.sign()
            let identity = LineTLS.Identity(certificateChain: theirs.certificate, privateKey: theirs.key)
            let town = try await Town(accounts: 1, tls: try LineTLS.acceptor(identity: identity, clientAuthorities: nil))
            try await town.run { town in
                let router = try town.router(["ORDER_ROUTER_VENUE_TLS": "yes", "ORDER_ROUTER_VENUE_TLS_CA": authority.file])
                for part in ["venue", "feed"] {
                    try await eventually("a word of the \(part)") {
                        router.log.contains {
                            $0.contains("part=\(part)") && $0.contains("signed by no certificate authority that is believed here")
                        }
                    }
                }
                #expect(!router.log.contains { $0.contains("event=ready") })
                #expect(town.venue.receipts.isEmpty)
            }
        }
    }
}
