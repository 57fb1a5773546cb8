package import Trading

/// A header of an answer.
package struct HeaderField: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// An answer that is not the one asked for (RFC 9457), and everything the person needs next.
package struct Problem: Error, Hashable, Sendable {
    package static let contentType = "application/problem+json"

    package let code: ErrorCode
    /// What is wrong here and what to do about it, in full sentences.
    package let detail: String
    package private(set) var outcome: KeyOutcome
    package let isFinal: Bool
    package let retryAfterSeconds: Int?
    package let extras: [Extra]
    private let furtherHeaders: [HeaderField]
    private let givenStatus: Int?

    /// - Parameters:
    ///   - outcome: where it differs from what the code alone says.
    ///   - isFinal: likewise.
    ///   - status: likewise; for what the HTTP server itself refuses (408, 414, 431, 501, 505).
    package init(
        _ code: ErrorCode,
        _ detail: String,
        extras: [Extra] = [],
        outcome: KeyOutcome? = nil,
        isFinal: Bool? = nil,
        retryAfterSeconds: Int? = nil,
        headers: [HeaderField] = [],
        status: Int? = nil
    ) {
        self.code = code
        self.detail = detail
        self.outcome = outcome ?? code.outcome
        self.isFinal = isFinal ?? code.isFinal
        self.retryAfterSeconds = retryAfterSeconds
        self.extras = extras
        furtherHeaders = headers
        givenStatus = status
    }

    /// The same in answer to a request that has nothing to do with an order's key.
    package var withoutKey: Problem {
        var problem = self
        problem.outcome = .notApplicable
        return problem
    }

    /// `invalid_field` for a body field, query parameter or header.
    package static func invalid(_ field: String, _ detail: String) -> Problem {
        Problem(.invalidField, detail, extras: [.field(field)])
    }

    /// 422: the key stands for another order already. Speaks of the first: its outcome, and its order where one exists.
    package static func idempotencyKeyReused(_ key: IdempotencyKey, firstOrder: OrderID?) -> Problem {
        Problem(
            .idempotencyKeyReused,
            firstOrder.map { "Under this key another request was signed, of order \($0). Send this one under a new key." }
                ?? "Under this key another request was signed, which was refused. Send this one under a new key.",
            extras: [.key(key)] + (firstOrder.map { [.orderID($0)] } ?? []),
            outcome: firstOrder == nil ? .notAccepted : .accepted,
            isFinal: true
        )
    }

    /// 503: the commit's outcome is not known; the Location is where it will be.
    package static func outcomeUnknown(key: IdempotencyKey) -> Problem {
        Problem(
            .outcomeUnknown,
            "The request may have been accepted. Send exactly the same again, or ask for what became of its key.",
            extras: [.key(key)],
            headers: [HeaderField("Location", OrderPath.byKey(key))]
        )
    }

    /// 503: whether a key of before a restore may be given up is not known before the venue was asked about its order, and only the signed order says which.
    package static func fenceRecovering(key: IdempotencyKey) -> Problem {
        Problem(
            .recovering,
            "The service was restored from a backup, and this key may have been used before: it cannot be given up yet. Send exactly the order of this key "
                + "again: the venue is then asked about it, and the answers say what became of the key.",
            extras: [.key(key)],
            retryAfterSeconds: 2
        )
    }

    /// 409: a replace under a key of before a restore. However often it is sent, it stays that.
    package static func replaceNotRestored(_ order: OrderID, key: IdempotencyKey) -> Problem {
        Problem(
            .replaceNotRestored,
            "The service was restored from a backup, and this key may have been used before. This request changes nothing; whether an earlier one did, "
                + "the order says. Look at it, then sign a replace under a new key.",
            extras: [.key(key), .orderID(order)],
            headers: [HeaderField("Location", OrderPath.order(order))]
        )
    }

    package var status: Int { givenStatus ?? code.status }

    /// Content-Type, Retry-After, WWW-Authenticate (RFC 6750 section 3) and what the problem was made with.
    package var headers: [HeaderField] {
        var fields = [HeaderField("Content-Type", Self.contentType)]
        if let retryAfterSeconds { fields.append(HeaderField("Retry-After", String(retryAfterSeconds))) }
        switch code {
        case .tokenInvalid, .tokenExpired: fields.append(HeaderField("WWW-Authenticate", "Bearer error=\"invalid_token\""))
        case .scopeMissing: fields.append(HeaderField("WWW-Authenticate", "Bearer error=\"insufficient_scope\""))
        default: break
        }
        return fields + furtherHeaders
    }

    /// The body. A refusal that is stored for replay is stored as these bytes: the time in it stays that of the first answer.
    ///
    /// - Parameter serverTime: milliseconds since the epoch, the router's clock.
    package func body(serverTime: Int64) -> [UInt8] {
        var json = JSONWriter(reservingBytes: 512)
        json.beginObject()
        json.member("type", code.type)
        json.member("title", code.title)
        json.member("status", Int64(status))
        json.member("detail", detail)
        json.member("code", code.rawValue)
        json.member("outcome", outcome.rawValue)
        json.member("final", isFinal)
        json.member("retry_safe", code.isRetrySafe)
        json.member("server_time", serverTime)
        for extra in extras {
            json.name(extra.name)
            json.verbatim(extra.json)
        }
        json.endObject()
        return json.bytes
    }
}

extension Problem {
    /// A further member of a problem. Made only by name, so that one thing has one name in every problem.
    package struct Extra: Hashable, Sendable {
        package let name: String
        let json: [UInt8]

        private init(_ name: String, _ write: (inout JSONWriter) -> Void) {
            var writer = JSONWriter(reservingBytes: 64)
            write(&writer)
            self.name = name
            json = writer.bytes
        }

        /// The field, query parameter or header that is wrong.
        package static func field(_ name: String) -> Extra { Extra("field") { $0.string(name) } }

        /// Age of the symbol's market data.
        package static func dataAge(milliseconds: Int64) -> Extra { Extra("data_age_ms") { $0.integer(milliseconds) } }

        /// There has been no data of the symbol at all.
        package static let noDataAge = Extra("data_age_ms") { $0.null() }

        /// The order concerned: with a reused key, the first one.
        package static func orderID(_ order: OrderID) -> Extra { Extra("order_id") { $0.string(order.text) } }

        /// The order as it stands.
        package static func order(_ order: OrderView) -> Extra { Extra("order") { order.write(to: &$0) } }

        package static func key(_ key: IdempotencyKey) -> Extra { Extra("key") { $0.string(key) } }

        /// The limit that would be exceeded.
        package static func limit(_ amount: Amount) -> Extra { Extra("limit") { $0.number(amount) } }
        package static func limit(count: Int64) -> Extra { Extra("limit") { $0.integer(count) } }

        /// What the account can spend, and what the order needs: dollars or whole shares.
        package static func available(_ amount: Amount) -> Extra { Extra("available") { $0.number(amount) } }
        package static func available(shares: Int64) -> Extra { Extra("available") { $0.integer(shares) } }
        package static func required(_ amount: Amount) -> Extra { Extra("required") { $0.number(amount) } }
        package static func required(shares: Int64) -> Extra { Extra("required") { $0.integer(shares) } }

        /// What is halted, and the operator's reason.
        package static func halt(scope: Halt.Scope, reason: String) -> Extra {
            Extra("halt") {
                $0.beginObject()
                $0.member("scope", scope.rawValue)
                $0.member("reason", reason)
                $0.endObject()
            }
        }
    }
}
