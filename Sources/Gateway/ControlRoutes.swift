import Cryptography
import HTTPServer
import Identity
import OrderDesk
import Storage
import Trading
import Wire

/// What a client does with orders that stand: replace one, cancel all, and have all cancelled when it falls silent.
extension APIHandler {
    /// PATCH /v1/trading/orders/<id>: a request whose outcome is an event; signed and checked as an order is, under a key of its own.
    func replace(_ call: inout Call, _ text: String) async throws -> HTTPResponse {
        _ = try parameters(call, [])
        try requireJSON(call)
        let body = try ReplaceOrderRequest.Body(call.request.body)
        let signed = try SignedHeaders.read(try signedHeaders(call), form: "the replace")
        let found = try await find(text, of: try await principal(call, .ordersWrite), &call)
        try takeAllowance(found.account, call, for: .place)
        let request = ReplaceOrderRequest(
            account: found.account,
            orderID: found.id,
            terms: try body.replacement(of: found.terms),
            signed: signed
        )
        let (form, fingerprintText) = SignedForm.replaceWithFingerprintText(request)
        let credential = try await verifiedCredential(signed.credentialID, of: found.account, signed.signature, form, at: call.receivedAt)
        let submission = ReplaceSubmission(
            order: found,
            key: signed.key,
            terms: request.terms,
            fingerprint: sha256(fingerprintText),
            credentialID: credential,
            clientTimestamp: signed.clientTimestamp,
            quoteReference: signed.quoteReference,
            receivedAt: call.receivedAt
        )
        return try answer(await api.queue.decide(.replace(submission)), to: signed.key, &call)
    }

    /// DELETE /v1/trading/orders: requests the cancel of every order of the account that is open now, and names each. Passes every halt and stale market.
    func cancelAll(_ call: inout Call) async throws -> HTTPResponse {
        let parameters = try parameters(call, ["account_id"])
        let account = try account(try parameters.account(), of: try await principal(call, .ordersWrite))
        call.account = account
        try takeAllowance(account, call, for: .cancel)
        var cancels: [CancelAnswer] = []
        while true {
            switch await api.queue.decide(.cancelAll(account)) {
            case .allCancelRequested(let orders):
                cancels += orders.map { CancelAnswer(orderID: $0.id, cancelID: $0.cancelID) }
                if orders.count == Database.cancelAllCap { continue }
                // Those under way before as well, as after a lost answer: an order that is not named is not open.
                let named = Set(cancels.map(\.orderID))
                cancels += try await read { try $0.pendingCancels(of: account) }
                    .filter { !named.contains($0.id) }
                    .map { CancelAnswer(orderID: $0.id, cancelID: $0.id.cancelID($0.cancels)) }
                return HTTPResponse(json: CancelAllAnswer(account: account, cancels: cancels).body, status: CancelAnswer.status)
            case .accountUnknown: throw Problem(.accountForbidden, "No account of this id exists here.")
            // Some may have their cancel under way by now: asked again, the rest follows.
            case .busy: throw Self.busy
            case .outcomeUnknown:
                throw Problem(
                    .outcomeUnknown,
                    "The cancels may have been requested. Send the same request again: each order's venue is asked once only."
                )
            case let verdict: throw UnexpectedVerdict(verdict: verdict)
            }
        }
    }

    /// POST /v1/trading/cancel-all-after: arms the account's timer, pushes it back, or disarms it.
    func cancelAllAfter(_ call: inout Call) async throws -> HTTPResponse {
        _ = try parameters(call, [])
        try requireJSON(call)
        let request = try CancelTimerRequest.read(call.request.body)
        let account = try account(request.account, of: try await principal(call, .ordersWrite))
        call.account = account
        try takeAllowance(account, call, for: .cancel)
        let now = api.now()
        let deadline = request.timeout == 0 ? nil : now + request.timeout
        guard try await read({ try $0.setCancelTimer(of: account, deadline: deadline, at: now) }) else {
            throw Problem(.accountForbidden, "No account of this id exists here.")
        }
        return HTTPResponse(json: CancelTimerRequest.answer(account, now: now, deadline: deadline))
    }
}
