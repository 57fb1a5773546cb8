import Cryptography
import FIX

/// TLS on the FIX lines to the venue, as it is set.
struct LineOptions: Sendable, Equatable {
    var isOn = false
    /// File of the certificate authorities that are believed; nil = the system's.
    var authorities: String?
    /// What the venue's certificate is made out to; nil = its host.
    var name: String?
    var certificate: String?
    var privateKey: String?
    /// The market-data line; nil = as the line for orders.
    var quotes: Bool?

    var quotesAreSecured: Bool { quotes ?? isOn }

    /// What no setting can say by itself. A file that is named and not used would be security that the operator believes in and does not have.
    func check() throws(UsageError) {
        let named = [("ca", authorities), ("name", name), ("certificate", certificate), ("key", privateKey)].filter { $0.1 != nil }
        if !isOn, !quotesAreSecured, let (setting, _) = named.first {
            throw UsageError("--venue-tls-\(setting) is set, and no line to the venue has TLS: say --venue-tls yes (ORDER_ROUTER_VENUE_TLS) too.")
        }
        guard (certificate == nil) == (privateKey == nil) else {
            let (given, missing) = certificate == nil ? ("key", "certificate") : ("certificate", "key")
            throw UsageError("--venue-tls-\(missing) is not set, although --venue-tls-\(given) is: who shows a certificate needs both files.")
        }
    }

    private var identity: LineTLS.Identity? {
        guard let certificate, let privateKey else { return nil }
        return LineTLS.Identity(certificateChain: certificate, privateKey: privateKey)
    }

    /// - Parameter isSameHost: the market-data line goes where the orders go: its certificate is made out to the same name.
    /// - Throws: naming the settings, and the file that cannot be used.
    func lines(quotesOnSameHost isSameHost: Bool) throws(UsageError) -> (orders: LineTLS?, quotes: LineTLS?) {
        do throws(FIXError) {
            return (
                isOn ? try LineTLS.initiator(authorities: authorities, name: name, identity: identity) : nil,
                quotesAreSecured ? try LineTLS.initiator(authorities: authorities, name: isSameHost ? name : nil, identity: identity) : nil
            )
        } catch {
            throw UsageError("--venue-tls-ca, --venue-tls-certificate and --venue-tls-key: \(error.description)")
        }
    }
}

extension Setting {
    static let line: [Setting] = [
        Setting(
            "venue-tls",
            .yesOrNo,
            \.lines.isOn,
            .value("no"),
            "Whether the FIX lines to the venue are secured by TLS (1.2 and later); the venue's certificate is always checked then."
        ),
        Setting(
            "venue-tls-ca",
            .text("file", "a PEM file"),
            optional: \.lines.authorities,
            .absent("the system's"),
            "The certificate authorities that are believed when they have signed the venue's certificate, in PEM, read at the start."
        ),
        Setting(
            "venue-tls-name",
            .text("name", "a host's name or address"),
            optional: \.lines.name,
            .absent("the host of `--venue`"),
            "What the venue's certificate must be made out to, where that is not its host."
        ),
        Setting(
            "venue-tls-certificate",
            .text("file", "a PEM file"),
            optional: \.lines.certificate,
            .absent("none is shown"),
            "Our certificate chain in PEM, for a venue that wants to know who connects."
        ),
        Setting(
            "venue-tls-key",
            .text("file", "a PEM file"),
            optional: \.lines.privateKey,
            .absent("none"),
            "Private key of that certificate in PEM, without a pass phrase."
        ),
        Setting(
            "market-data-tls",
            .yesOrNo,
            optional: \.lines.quotes,
            .absent("as `--venue-tls`"),
            "Whether the line for market data is secured by TLS, with the same files; the name is that of `--venue-tls-name` where it goes to the "
                + "venue's host, else its own host's."
        ),
    ]
}
