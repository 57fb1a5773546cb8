package import Cryptography

/// TLS (1.2 and later) on a FIX line: who this end is, and whom it believes. Read from its files once; connections share it.
package final class LineTLS: Sendable {
    /// Who an end is: certificate chain and private key in PEM.
    package typealias Identity = TLSContext.Identity

    let context: TLSContext
    let role: SessionSettings.Role
    /// The name in the acceptor's certificate where it is not the host that is connected to.
    let name: String?
    let hasIdentity: Bool

    private init(_ role: SessionSettings.Role, name: String?, identity: Identity?, trust: TLSContext.Trust) throws(FIXError) {
        do throws(CryptographyError) {
            context = try TLSContext(role == .initiator ? .client : .server, identity: identity, trust: trust)
        } catch {
            throw FIXError(.tlsFailed, operation: error.operation, message: error.message)
        }
        self.role = role
        self.name = name
        hasIdentity = identity != nil
    }

    /// The end that connects. It always wants to know who the other one is.
    ///
    /// - Parameters:
    ///   - authorities: file of the certificate authorities (PEM) that are believed; nil = the system's.
    ///   - name: what the acceptor's certificate must be made out to; nil = the host that is connected to.
    ///   - identity: for an acceptor that wants to know who connects.
    /// - Throws: naming the file that cannot be used.
    package static func initiator(authorities: String?, name: String?, identity: Identity?) throws(FIXError) -> LineTLS {
        try LineTLS(.initiator, name: name, identity: identity, trust: authorities.map { .authorities($0) } ?? .systemAuthorities)
    }

    /// The end that is connected to.
    ///
    /// - Parameter clientAuthorities: file of the certificate authorities (PEM) one of which must have signed a certificate of whoever connects; nil = who
    ///   connects is not asked for one.
    /// - Throws: naming the file that cannot be used.
    package static func acceptor(identity: Identity, clientAuthorities: String?) throws(FIXError) -> LineTLS {
        try LineTLS(.acceptor, name: nil, identity: identity, trust: clientAuthorities.map { .authorities($0) } ?? .nobody)
    }

    /// The first two bytes of a TLS record (RFC 8446 section 5.1): a content type, and the major version 3. No FIX message begins so.
    static func looksLikeTLS(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let type = bytes.first, (20...23).contains(type) else { return false }
        return bytes.dropFirst().first.map { $0 == 3 } ?? true
    }

    static let isTLS = FIXError(
        .tlsFailed,
        operation: "read",
        message: "the other end speaks TLS on this port, and this end does not: switch TLS on here, or connect to its port without TLS"
    )

    static let isPlain = FIXError(
        .tlsFailed,
        operation: "TLS handshake",
        message: "the other end does not speak TLS on this port: switch TLS off here, or connect to its port with TLS"
    )
}
