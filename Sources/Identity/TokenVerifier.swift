import Cryptography
import Synchronization
import Trading

/// Why a token was not taken, in order of precedence. No detail ever holds a part of the token.
package enum TokenRefusal: Sendable, Hashable {
    /// There are no keys to judge by: the issuer has been out of reach for too long, or OpenSSL fails. Says nothing about the token.
    case unavailable(String)
    /// Not a token of this issuer for us, for the reason given.
    case invalid(String)
    /// It was good once.
    case expired
}

package enum TokenVerdict: Sendable, Hashable {
    case principal(Principal)
    case refused(TokenRefusal)
}

/// Tells who stands behind a bearer token: RS256 or ES256, verified with the issuer's key set; `iss`, `aud`, `exp` and `kid` required,
/// `nbf` and `iat` honoured, `accounts` an array of account ids, `scope` a list separated by spaces.
///
/// Verified tokens are remembered until they expire or their key leaves the set. Any thread may ask.
package final class TokenVerifier: Sendable {
    package struct Settings: Sendable {
        package var issuer: String
        package var audience: String
        /// How far the issuer's clock and ours may be apart.
        package var leeway: Duration = .seconds(30)
        /// Bounds the memory to some 10 MB; twice the sessions of a busy router.
        package var cachedTokens = 10_000

        package init(issuer: String, audience: String) {
            self.issuer = issuer
            self.audience = audience
        }
    }

    /// An object, so that finding it copies one reference.
    private final class Remembered: Sendable {
        let principal: Principal
        /// The key that signed it: the entry is good only as long as the same key stands under that name.
        let keyName: KeyName
        let thumbprint: [UInt8]

        init(principal: Principal, keyName: KeyName, thumbprint: [UInt8]) {
            self.principal = principal
            self.keyName = keyName
            self.thumbprint = thumbprint
        }
    }

    private let settings: Settings
    private let leewayMilliseconds: Int64
    private let source: KeySetSource
    /// By the SHA-256 of the token's text, so that a session's later requests cost a digest and not a signature.
    private let cache: Mutex<RecentCache<[UInt8], Remembered>>

    package init(settings: Settings, source: KeySetSource) {
        self.settings = settings
        let leeway = settings.leeway.components
        leewayMilliseconds = leeway.seconds * 1_000 + leeway.attoseconds / 1_000_000_000_000_000
        self.source = source
        cache = Mutex(RecentCache(capacity: settings.cachedTokens))
    }

    /// The principal of a token, or the refusal. Suspends only when the token names an unknown key, until the set has been read again.
    ///
    /// - Parameters:
    ///   - token: the text after `Bearer `.
    ///   - now: milliseconds since the epoch.
    package func verify(_ token: String, now: Int64) async -> TokenVerdict { await verify(Array(token.utf8)[...], now: now) }

    /// The same of a token's bytes, as they came.
    package func verify(_ token: ArraySlice<UInt8>, now: Int64) async -> TokenVerdict {
        guard let keys = source.current else { return Self.noKeys }
        let digest = sha256(token)
        if let verdict = remembered(digest, keys: keys, now: now) { return verdict }
        do throws(CryptographyError) {
            let signed = try JSONWebSignature(compact: String(decoding: token, as: UTF8.self))
            if keys[signed.keyName] == nil { await source.refreshForUnknownKey() }
            guard let keys = source.current else { return Self.noKeys }
            let token = try JSONWebToken(signed, verifiedWith: keys)
            let verdict = judge(token, now: now)
            if case .principal(let principal) = verdict, let entry = keys[token.keyName] {
                let remembered = Remembered(principal: principal, keyName: token.keyName, thumbprint: entry.thumbprint)
                cache.withLock { $0.insert(remembered, for: digest) }
            }
            return verdict
        } catch {
            return .refused(error.code == .openSSL ? .unavailable(error.message) : .invalid(error.message))
        }
    }

    private static let noKeys = TokenVerdict.refused(.unavailable("the issuer's keys could not be read"))

    /// Nil when the token has to be looked at: it is new, or the key it was signed with is no longer the one of that name.
    private func remembered(_ digest: [UInt8], keys: JSONWebKeySet, now: Int64) -> TokenVerdict? {
        cache.withLock { cache in
            guard let entry = cache.find(digest) else { return nil }
            guard keys[entry.keyName]?.thumbprint == entry.thumbprint else {
                cache.remove(digest)
                return nil
            }
            guard now < entry.principal.expiresAt else {
                cache.remove(digest)
                return .refused(.expired)
            }
            return .principal(entry.principal)
        }
    }

    /// The claims. Whose token it is comes first: only a token for us can be called expired.
    private func judge(_ token: JSONWebToken, now: Int64) -> TokenVerdict {
        // Compared byte by byte: Swift's own equality takes canonically equivalent texts for the same.
        guard let issuer = token.issuer, issuer.utf8.elementsEqual(settings.issuer.utf8) else { return .refused(.invalid("its iss is not ours")) }
        guard token.audience.contains(where: { $0.utf8.elementsEqual(settings.audience.utf8) }) else {
            return .refused(.invalid("its aud does not name us"))
        }
        guard let expiresAt = token.expiresAt else { return .refused(.invalid("it has no exp")) }
        let end = expiresAt + leewayMilliseconds
        guard now < end else { return .refused(.expired) }
        if let notBefore = token.notBefore, now < notBefore - leewayMilliseconds { return .refused(.invalid("its nbf is still ahead")) }
        if let issuedAt = token.issuedAt, now < issuedAt - leewayMilliseconds { return .refused(.invalid("its iat is still ahead")) }
        guard let accounts = Self.accounts(token.claims["accounts"]) else {
            return .refused(.invalid("its accounts are not an array of account ids"))
        }
        guard let scopes = Self.scopes(token.claims["scope"]) else { return .refused(.invalid("its scope is not a string")) }
        return .principal(Principal(subject: token.subject, accounts: accounts, scopes: scopes, expiresAt: end))
    }

    /// Without the claim a token speaks for no account.
    private static func accounts(_ claim: JOSEValue?) -> Set<AccountID>? {
        guard let claim else { return [] }
        guard let texts = claim.strings else { return nil }
        let accounts = texts.compactMap { AccountID($0) }
        return accounts.count == texts.count ? Set(accounts) : nil
    }

    /// RFC 8693 section 4.2. Words of other services are passed over.
    private static func scopes(_ claim: JOSEValue?) -> Set<Scope>? {
        guard let claim else { return [] }
        return claim.string.map { Set($0.split(separator: " ").compactMap { Scope(rawValue: String($0)) }) }
    }
}
