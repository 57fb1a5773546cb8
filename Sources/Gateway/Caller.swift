import HTTPServer
import Identity
import Postgres
import Storage
import Trading
import Wire

/// Who calls: token, scope, account and rate (design section 4.3, rows 2 and 3).
extension APIHandler {
    /// The token's principal, which must have the scope.
    func principal(_ call: Call, _ scope: Scope) async throws -> Principal {
        let principal = try await principal(call)
        guard principal.scopes.contains(scope) else { throw Problem(.scopeMissing, "The token needs the scope \(scope.rawValue).") }
        return principal
    }

    /// The token's principal, whatever its scopes.
    ///
    /// - Parameter given: a token that came otherwise than in the header.
    func principal(_ call: Call, token given: ArraySlice<UInt8>? = nil) async throws -> Principal {
        let header = call.request.headers.single("authorization")
        guard header.count + (given == nil ? 0 : 1) == 1, let token = given ?? Self.bearer(header.value) else {
            throw Problem(.tokenInvalid, "Send one header 'Authorization: Bearer <token>'.")
        }
        switch await api.tokens.verify(token, now: call.receivedAt) {
        case .principal(let principal): return principal
        case .refused(.expired): throw Problem(.tokenExpired, "The token has expired. Get a new one, then send the same request again.")
        case .refused(.invalid(let why)): throw Problem(.tokenInvalid, "The token is not valid: \(why).")
        case .refused(.unavailable): throw Problem(.busy, "Tokens cannot be checked at the moment. Try again.", retryAfterSeconds: 2)
        }
    }

    /// RFC 6750 section 2.1; the scheme's name in any case (RFC 9110 section 11.1).
    private static func bearer(_ header: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let scheme: StaticString = "bearer "
        guard header.count > scheme.utf8CodeUnitCount, header.prefix(scheme.utf8CodeUnitCount).isASCII(scheme) else { return nil }
        return header.dropFirst(scheme.utf8CodeUnitCount)
    }

    /// The account that a request speaks of: the one named, or the token's only one.
    func account(_ named: AccountID?, of principal: Principal) throws(Problem) -> AccountID { try principal.account(named) }

    /// Takes one request from the account's and the address's allowance.
    func takeAllowance(_ account: AccountID, _ call: Call, for purpose: RateLimits.Purpose) throws(Problem) {
        try Self.takeAllowance(api.accountLimits, RateLimits.Caller(purpose: purpose, name: account.text), at: call.receivedAt)
        try Self.takeAllowance(api.addressLimits, RateLimits.Caller(purpose: purpose, name: call.request.peerAddress), at: call.receivedAt)
    }

    private static func takeAllowance(_ limits: RateLimits, _ caller: RateLimits.Caller, at now: Int64) throws(Problem) {
        guard case .refused(let milliseconds) = limits.take(caller, at: now) else { return }
        let seconds = Int((milliseconds + 999) / 1_000)
        throw Problem(
            .rateLimited,
            "More than \(limits.perSecond) requests a second. Send the same request again after \(seconds) s.",
            retryAfterSeconds: seconds,
            headers: [
                HeaderField("RateLimit-Limit", String(limits.perSecond)), HeaderField("RateLimit-Remaining", "0"),
                HeaderField("RateLimit-Reset", String(seconds)),
            ]
        )
    }

    /// A body must say that it is JSON (415) where there is one.
    func requireJSON(_ call: Call) throws(Problem) {
        let type = call.request.headers.single("content-type")
        guard type.count == 1, Self.isJSON(type.value) else {
            throw Problem(.unsupportedMediaType, "Send the body as Content-Type: application/json.")
        }
    }

    /// The media type in any case, with or without parameters (RFC 9110 section 8.3.1).
    private static func isJSON(_ type: ArraySlice<UInt8>) -> Bool {
        var media = type.prefix { $0 != UInt8(ascii: ";") }
        while media.first == UInt8(ascii: " ") { media.removeFirst() }
        while media.last == UInt8(ascii: " ") { media.removeLast() }
        return media.isASCII("application/json")
    }

    /// A header that may stand once. Bytes that are not UTF-8 become U+FFFD.
    func single(_ name: String, _ call: Call) throws(Problem) -> String? {
        let (count, value) = call.request.headers.single(name)
        guard count <= 1 else { throw Problem(.malformedRequest, "The header \(name) stands there \(count) times. Send it once.") }
        return count == 0 ? nil : String(decoding: value, as: UTF8.self)
    }

    func parameters(_ call: Call, _ names: [String]) throws(Problem) -> QueryParameters {
        try QueryParameters(decoded: call.request.query, expecting: names)
    }

    /// Reads from the database; a database that cannot be reached is no fault of the request.
    ///
    /// - Parameter pool: whose connections.
    func read<Value: Sendable>(
        from pool: KeyPath<Reads, DatabasePool> = \.orders,
        _ body: @Sendable (Database) throws -> Value
    ) async throws -> Value {
        do {
            return try await api.reads[keyPath: pool].read(body)
        } catch DatabaseTrouble.busy {
            throw Problem(.busy, "Too many ask the same of the database at the moment. Try again.", retryAfterSeconds: 1)
        } catch DatabaseTrouble.stopped {
            throw Problem(.busy, "This router ends. Ask again: another one answers.", retryAfterSeconds: 1)
        } catch let error as PostgresError where error.isTransient {
            throw Problem(.busy, "The database cannot be reached at the moment. Try again.", retryAfterSeconds: 1)
        }
    }
}

extension Principal {
    /// The account that is named, or the token's only one.
    func account(_ named: AccountID?) throws(Problem) -> AccountID {
        if let named {
            guard accounts.contains(named) else { throw Problem(.accountForbidden, "The token does not cover account \(named).") }
            return named
        }
        guard accounts.count == 1, let only = accounts.first else {
            throw .invalid("account_id", "The token covers \(accounts.count) accounts. Name one with account_id.")
        }
        return only
    }
}

extension ArraySlice<UInt8> {
    /// Whether this is the text, its letters in any case.
    ///
    /// - Parameter lower: ASCII in lower case.
    fileprivate func isASCII(_ lower: StaticString) -> Bool {
        guard count == lower.utf8CodeUnitCount else { return false }
        return lower.withUTF8Buffer { lower in
            unsafe zip(self, lower).allSatisfy { ($0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0) == $1 }
        }
    }
}
