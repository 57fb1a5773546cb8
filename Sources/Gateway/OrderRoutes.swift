import Cryptography
import HTTPServer
import Identity
import OrderDesk
import Storage
import Trading
import Wire

/// The order API (design sections 4.1 to 4.4): where an order's journey begins. Checks stand in the order of 4.3.
extension APIHandler {
    /// POST /v1/trading/orders: form, token, rate, signature; then the desk decides and commits, and its verdict is the answer.
    func place(_ call: inout Call) async throws -> HTTPResponse {
        try requireJSON(call)
        let order = try PlaceOrderRequest.read(body: call.request.body, headers: try signedHeaders(call))
        let principal = try await principal(call, .ordersWrite)
        let account = try account(order.account, of: principal)
        call.account = account
        try takeAllowance(account, call, for: .place)
        let (form, fingerprintText) = SignedForm.orderWithFingerprintText(order)
        let credential = try await verifiedCredential(order.credentialID, of: account, order.signature, form, at: call.receivedAt)
        let submission = Submission(
            account: account,
            key: order.key,
            orderID: OrderID(key: order.key, digest: sha256(SignedForm.orderIdentityText(account: account, key: order.key))),
            terms: order.terms,
            fingerprint: sha256(fingerprintText),
            credentialID: credential,
            clientTimestamp: order.clientTimestamp,
            quoteReference: order.quoteReference,
            receivedAt: call.receivedAt
        )
        call.orderID = submission.orderID
        let begun = ContinuousClock.now
        let verdict = await api.queue.decide(.place(submission))
        tallies.placeTimes.time(.now - begun)
        return try answer(verdict, to: order.key, &call)
    }

    func signedHeaders(_ call: Call) throws(Problem) -> PlaceOrderHeaders {
        PlaceOrderHeaders(
            idempotencyKey: try single(PlaceOrderHeaders.Name.idempotencyKey, call),
            signature: try single(PlaceOrderHeaders.Name.signature, call),
            credential: try single(PlaceOrderHeaders.Name.credential, call),
            clientTimestamp: try single(PlaceOrderHeaders.Name.clientTimestamp, call),
            quoteReferenceTimestamp: try single(PlaceOrderHeaders.Name.quoteReferenceTimestamp, call)
        )
    }

    /// The credential whose signature over the signed form verifies (row 4).
    func verifiedCredential(
        _ named: String?,
        of account: AccountID,
        _ signature: [UInt8],
        _ form: [UInt8],
        at now: Int64
    ) async throws -> String {
        let verdict = await api.credentials.verify(account: account, credentialID: named, signature: signature, form: form, now: now)
        guard case .verified(let credentialID) = verdict else { throw verdict.problem ?? Self.busy }
        return credentialID
    }

    /// The answer to what was signed under a key: an order, or a replace of one.
    func answer(_ verdict: Verdict, to key: IdempotencyKey, _ call: inout Call) throws -> HTTPResponse {
        switch verdict {
        case .accepted(let record):
            tally("accepted")
            return HTTPResponse(first: record)
        case .refusedForGood(let record):
            call.code = Self.code(of: record)
            tally("refused", call.code ?? "")
            return HTTPResponse(first: record)
        case .replayed(let record):
            tally("replayed")
            var response = HTTPResponse(first: record)
            response.headers.append(("Idempotency-Replayed", "true"))
            if let status = record.statusNow { response.headers.append(("X-Order-Status", status.text)) }
            return response
        case .refused(let refusal): throw counted(Problem(refusal, key: key))
        case .accountUnknown: throw counted(Problem(.accountUnknown, key: key))
        case .busy: throw counted(Self.busy)
        case .outcomeUnknown: throw counted(.outcomeUnknown(key: key))
        case .failed, .key, .cancelRequested, .allCancelRequested, .orderNotOpen, .orderNotFound: throw UnexpectedVerdict(verdict: verdict)
        }
    }

    static let busy = Problem(.busy, "The router is busy. Send exactly the same request again.", retryAfterSeconds: 1)

    private func counted(_ problem: Problem) -> Problem {
        tally("refused", problem.code.rawValue)
        return problem
    }

    private func tally(_ outcome: String, _ code: String = "") { tallies.orders[Tallies.Decided(outcome: outcome, code: code)].add() }

    /// The code inside a stored refusal, for log and metrics.
    private static func code(of record: KeyRecord) -> String? {
        guard let answer = record.answer, case .object(let members)? = try? JSONReader.read(answer, limits: .answer) else { return nil }
        guard case .string(let code)? = members.first(where: { $0.name == "code" })?.value else { return nil }
        return code
    }

    // MARK: By key

    /// GET /v1/trading/orders/by-key/<key>: the first answer and the order now.
    func byKey(_ call: inout Call, _ text: String) async throws -> HTTPResponse {
        let id = try await keyID(&call, text, scope: .ordersRead)
        guard let record = try await read({ try $0.key(id) }) else {
            throw Problem(
                .keyUnknown,
                "No request with this key is known here. It may still be under way; fence the key to give it up.",
                extras: [.key(id.key)]
            )
        }
        return try await answer(record, &call)
    }

    /// POST …/by-key/<key>/fence: an unseen key can never become an order from then on; a used one stays what it is.
    func fence(_ call: inout Call, _ text: String) async throws -> HTTPResponse {
        let id = try await keyID(&call, text, scope: .ordersWrite)
        try takeAllowance(id.account, call, for: .cancel)
        switch await api.queue.decide(.fence(id)) {
        case .key(let record): return try await answer(record, &call)
        case .refused(.keyRecovering): throw Problem.fenceRecovering(key: id.key)
        case .accountUnknown: throw Problem(.accountUnknown, key: id.key)
        case .busy: throw Self.busy
        case .outcomeUnknown: throw Problem.outcomeUnknown(key: id.key)
        case let verdict: throw UnexpectedVerdict(verdict: verdict)
        }
    }

    private func keyID(_ call: inout Call, _ text: String, scope: Scope) async throws -> KeyID {
        guard let key = IdempotencyKey(text) else { throw Problem.invalid("key", "The key in the path is not a UUIDv7.") }
        let parameters = try parameters(call, ["account_id"])
        let account = try account(try parameters.account(), of: try await principal(call, scope))
        call.account = account
        return KeyID(account, key)
    }

    private func answer(_ record: KeyRecord, _ call: inout Call) async throws -> HTTPResponse {
        let key = record.id.key
        switch record.outcome {
        case .fenced: return HTTPResponse(json: KeyAnswer.fenced(key: key).body)
        case .refused:
            return HTTPResponse(json: KeyAnswer.refused(key: key, firstStatus: record.httpStatus ?? 0, firstBody: record.answer ?? []).body)
        case .accepted, .replaceRequested:
            guard let orderID = record.orderID, let status = record.httpStatus else {
                preconditionFailure("An accepted key has its order and answer.")
            }
            call.orderID = orderID
            // Its part may have been detached: the key and its answer are kept for ever.
            let order = try await read { try $0.order(orderID, of: record.id.account) }
            return HTTPResponse(
                json: KeyAnswer.accepted(key: key, firstStatus: status, firstBody: record.answer ?? [], order: order.map { OrderView($0) }).body
            )
        }
    }

    // MARK: By id

    /// GET /v1/trading/orders/<id>. Another account's order is not found.
    func order(_ call: inout Call, _ text: String) async throws -> HTTPResponse {
        _ = try parameters(call, [])
        let order = try await find(text, of: try await principal(call, .ordersRead), &call)
        return HTTPResponse(json: OrderView(order).body)
    }

    /// DELETE /v1/trading/orders/<id>: a request whose outcome is an event. Passes every halt and stale market.
    func cancel(_ call: inout Call, _ text: String) async throws -> HTTPResponse {
        _ = try parameters(call, [])
        let found = try await find(text, of: try await principal(call, .ordersWrite), &call)
        try takeAllowance(found.account, call, for: .cancel)
        switch await api.queue.decide(.cancel(found.id, of: found.account)) {
        case .cancelRequested(let order):
            return HTTPResponse(json: CancelAnswer(orderID: order.id, cancelID: order.cancelID).body, status: CancelAnswer.status)
        case .orderNotOpen(let order):
            throw Problem(.orderNotOpen, "The order is \(order.status.text) already; there is nothing to cancel.", extras: [.order(OrderView(order))])
        case .busy: throw Self.busy
        case .outcomeUnknown:
            throw Problem(.outcomeUnknown, "The cancel may have been requested. Send the same request again: it asks the venue once only.")
        case let verdict: throw UnexpectedVerdict(verdict: verdict)
        }
    }

    func find(_ text: String, of principal: Principal, _ call: inout Call) async throws -> OrderState {
        let accounts = principal.accounts
        if let id = OrderID(text) {
            call.orderID = id
            for account in accounts {
                if let order = try await read({ try $0.order(id, of: account) }) {
                    call.account = account
                    return order
                }
            }
        }
        throw Problem(.notFound, "None of the token's accounts has an order of this id.")
    }

    /// GET /v1/trading/orders: newest first.
    func list(_ call: inout Call) async throws -> HTTPResponse {
        let query = try OrderListQuery.read(try parameters(call, OrderListQuery.parameterNames))
        let account = try account(query.account, of: try await principal(call, .ordersRead))
        call.account = account
        // One more than asked for tells whether there is a next page.
        let filter = OrderFilter(
            status: query.status,
            symbol: query.symbol,
            after: query.after.map { ($0.createdAt, $0.orderID.text) },
            limit: query.limit + 1,
            offset: (query.page - 1) * query.limit
        )
        let orders = try await read { try $0.orders(of: account, filter) }
        let page = orders.prefix(query.limit)
        let next = orders.count > query.limit ? page.last.map { OrderCursor(createdAt: $0.createdAt, orderID: $0.id) } : nil
        return HTTPResponse(json: OrderPage(orders: page.map(OrderView.init), next: next).body)
    }
}

/// A verdict that this work cannot have: a fault, answered as one.
struct UnexpectedVerdict: Error {
    let verdict: Verdict
}

extension HTTPResponse {
    /// The first answer to a key, from its stored bytes: the same now and at every retry.
    init(first record: KeyRecord) {
        guard let status = record.httpStatus, let answer = record.answer else { preconditionFailure("An answered key has its answer.") }
        if let orderID = record.orderID {
            self.init(
                status: status,
                headers: [("Content-Type", AcceptedAnswer.contentType), ("Location", OrderPath.order(orderID))],
                body: .bytes(answer)
            )
        } else {
            self.init(status: status, headers: [("Content-Type", Problem.contentType)], body: .bytes(answer))
        }
    }
}

extension OrderView {
    init(_ order: OrderState) {
        self.init(
            orderID: order.id,
            accountID: order.account,
            key: order.key,
            terms: order.terms,
            filledQuantity: order.filledQuantity,
            averagePrice: order.averagePrice,
            status: order.status,
            reason: order.reason,
            reservedFunds: order.terms.side == .buy ? order.held : .zero,
            createdAt: order.createdAt,
            updatedAt: order.updatedAt
        )
    }
}
