import HTTPServer
import Identity
import Trading
import Wire

/// Device keys (design section 4.4): a stolen token alone enrols nothing, re-pairing loses no open order.
extension APIHandler {
    /// POST /v1/credentials: PENDING_PAIRING, with a challenge.
    func createCredential(_ call: inout Call) async throws -> HTTPResponse {
        try requireJSON(call)
        let request = try CreateCredentialRequest.read(call.request.body)
        let principal = try await principal(call, .credentialsWrite)
        let account = try account(request.account, of: principal)
        call.account = account
        try takeAllowance(account, call, for: .place)
        let created = try await api.enrolment.create(request, by: principal.subject, now: call.receivedAt)
        return HTTPResponse(json: created.body, status: 201)
    }

    /// POST /v1/credentials/<id>/pair: both the new key and an ACTIVE one sign the challenge.
    func pairCredential(_ call: inout Call, _ id: String) async throws -> HTTPResponse {
        try requireJSON(call)
        let request = try PairCredentialRequest.read(call.request.body)
        let principal = try await principal(call, .credentialsWrite)
        let view = try await api.enrolment.pair(id, request, accounts: principal.accounts, by: principal.subject, now: call.receivedAt)
        call.account = view.accountID
        return HTTPResponse(json: view.body)
    }

    /// DELETE /v1/credentials/<id>: INVALIDATED, on every router with the next order that is accepted.
    func invalidateCredential(_ call: inout Call, _ id: String) async throws -> HTTPResponse {
        _ = try parameters(call, [])
        let principal = try await principal(call, .credentialsWrite)
        let view = try await api.enrolment.invalidate(id, accounts: principal.accounts, by: principal.subject, now: call.receivedAt)
        call.account = view.accountID
        return HTTPResponse(json: view.body)
    }

    /// GET /v1/credentials?account_id=.
    func listCredentials(_ call: inout Call) async throws -> HTTPResponse {
        let parameters = try parameters(call, ["account_id"])
        let account = try account(try parameters.account(), of: try await principal(call, .credentialsWrite))
        call.account = account
        return HTTPResponse(json: CredentialView.listBody(try await api.enrolment.list(account)))
    }
}
