import COpenSSL

/// What to do about a line that does not come about: OpenSSL says what is wrong, a person wants to know where to look.
enum TLSAdvice {
    /// On the other end's certificate (X509_V_ERR_…).
    ///
    /// - Parameter name: what it must be made out to.
    static func onVerdict(_ verdict: Int32, name: String, role: SessionSettings.Role) -> String {
        switch verdict {
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            return
                "the certificate of the other end is not made out to '\(name)': connect to the name that it is made out to, or set that as the name expected"
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return "a certificate of the other end has expired: it has to be renewed there (here the clock must be right)"
        case X509_V_ERR_CERT_NOT_YET_VALID: return "a certificate of the other end is not valid yet: compare both ends' clocks"
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            return "the certificate of the other end is signed by no certificate authority that is believed here: "
                + "name the file of the one that signed it, if this is the right \(role == .initiator ? "acceptor" : "client") (\(text(verdict)))"
        default: return "the certificate of the other end does not hold: \(text(verdict))"
        }
    }

    private static func text(_ verdict: Int32) -> String { unsafe String(cString: X509_verify_cert_error_string(Int(verdict))) }

    /// On a reason of OpenSSL's (SSL_R_…); those from 1000 on are the other end's alerts (RFC 8446 section 6.2). Nil where the reason says it all.
    static func onReason(_ reason: Int32, role: SessionSettings.Role, hasIdentity: Bool) -> String? {
        switch reason {
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
            return "the other end has shown no certificate, and this end wants one: it has to be given one there"
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST: return LineTLS.isPlain.message
        case SSL_R_UNSUPPORTED_PROTOCOL, alerts + SSL_AD_PROTOCOL_VERSION:
            return "the two ends have no version of TLS in common: 1.2 or later is spoken here"
        case alerts + SSL_AD_CERTIFICATE_REQUIRED, alerts + SSL_AD_HANDSHAKE_FAILURE:
            if role == .acceptor || hasIdentity { return "the other end refuses" }
            return "the other end refuses, as one does that wants a certificate of ours: none is set here"
        case alerts + SSL_AD_UNKNOWN_CA:
            return role == .initiator
                ? "the other end does not believe who has signed our certificate: it has to be told there"
                : "the other end does not believe who has signed our certificate: it has to be given that authority's file"
        case alerts + SSL_AD_BAD_CERTIFICATE, alerts + SSL_AD_UNSUPPORTED_CERTIFICATE, alerts + SSL_AD_CERTIFICATE_REVOKED,
            alerts + SSL_AD_CERTIFICATE_EXPIRED, alerts + SSL_AD_CERTIFICATE_UNKNOWN:
            return "the other end refuses our certificate"
        default: return nil
        }
    }

    /// SSL_AD_REASON_OFFSET.
    private static let alerts = SSL_AD_REASON_OFFSET
}
