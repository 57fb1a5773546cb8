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
        let headers = call.request.headers.all("authorization")
        guard headers.count == 1, let token = Self.bearer(headers[0]) else {
            throw Problem(.tokenInvalid, "Send one header 'Authorization: Bearer <token>'.")
        }
        switch await api.tokens.verify(token, now: call.receivedAt) {
        case .principal(let principal):
            guard principal.scopes.contains(scope) else {
                throw Problem(.scopeMissing, "The token needs the scope \(scope.rawValue).")
            }
            return principal
        case .refused(.expired): throw Problem(.tokenExpired, "The token has expired. Get a new one, then send the same request again.")
        case .refused(.invalid(let why)): throw Problem(.tokenInvalid, "The token is not valid: \(why).")
        case .refused(.unavailable): throw Problem(.busy, "Tokens cannot be checked at the moment. Try again.", retryAfterSeconds: 2)
        }
    }

    /// RFC 6750 section 2.1; the scheme's name in any case (RFC 9110 section 11.1).
    private static func bearer(_ header: String) -> String? {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }

    /// The account that a request speaks of: the one named, or the token's only one.
    func account(_ named: AccountID?, of principal: Principal) throws(Problem) -> AccountID {
        if let named {
            guard principal.accounts.contains(named) else { throw Problem(.accountForbidden, "The token does not cover account \(named).") }
            return named
        }
        guard principal.accounts.count == 1, let only = principal.accounts.first else {
            throw .invalid("account_id", "The token covers \(principal.accounts.count) accounts. Name one with account_id.")
        }
        return only
    }

    /// What a request takes its allowance for. Who has used up the one for new orders can still take back what is open.
    enum Purpose: String {
        case place
        case cancel
    }

    /// Takes one request from the account's and the address's allowance.
    func takeAllowance(_ account: AccountID, _ call: Call, for purpose: Purpose) throws(Problem) {
        let callers = [(api.accountLimits, account.text), (api.addressLimits, call.request.peerAddress)]
        for (limits, name) in callers {
            let caller = "\(purpose.rawValue) \(name)"
            if case .refused(let milliseconds) = limits.take(caller, at: call.receivedAt) {
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
        }
    }

    /// A body must say that it is JSON (415) where there is one.
    func requireJSON(_ call: Call) throws(Problem) {
        let types = call.request.headers.all("content-type")
        let media = types.first?.split(separator: ";").first?.trimmingSpaces.lowercased()
        guard types.count == 1, media == "application/json" else {
            throw Problem(.unsupportedMediaType, "Send the body as Content-Type: application/json.")
        }
    }

    /// A header that may stand once.
    func single(_ name: String, _ call: Call) throws(Problem) -> String? {
        let values = call.request.headers.all(name)
        guard values.count <= 1 else { throw Problem(.malformedRequest, "The header \(name) stands there \(values.count) times. Send it once.") }
        return values.first
    }

    func parameters(_ call: Call, _ names: [String]) throws(Problem) -> QueryParameters {
        try QueryParameters(decoded: call.request.query, expecting: names)
    }

    /// Reads from the database; a database that cannot be reached is no fault of the request.
    func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        do {
            return try await api.readers.read(body)
        } catch let error as PostgresError where error.isTransient {
            throw Problem(.busy, "The database cannot be reached at the moment. Try again.", retryAfterSeconds: 1)
        }
    }
}

extension StringProtocol {
    fileprivate var trimmingSpaces: String {
        String(String(self).drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
