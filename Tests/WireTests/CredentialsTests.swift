import Cryptography
import Testing
import Trading
import Wire

@Suite struct `A credential` {
    private static let publicKey = Base64.standard.encode(Array(repeating: 7, count: 91))

    private func create(_ json: String) throws(Problem) -> CreateCredentialRequest {
        try CreateCredentialRequest.read(Array(json.utf8))
    }

    @Test func `is asked for with account, name and key`() throws {
        let request = try create(#"{"account_id":"acc_1","key_alias":"Zoë’s phone 😀","public_key_spki":"\#(Self.publicKey)"}"#)
        #expect(request.account == AccountID("acc_1"))
        #expect(request.keyAlias == "Zoë’s phone 😀")
        #expect(request.publicKey == Array(repeating: 7, count: 91))
    }

    @Test(
        arguments: [
            ("account_id", #""a b""#),
            ("account_id", "null"),
            ("key_alias", #""""#),
            ("key_alias", "7"),
            ("key_alias", #""a\u0000""#),
            ("key_alias", #""a\n""#),
            ("key_alias", #""\u0085""#),
            ("key_alias", "\"\(String(repeating: "é", count: 65))\""),
            ("public_key_spki", #""""#),
            ("public_key_spki", #""AA""#),
            ("public_key_spki", #""-_-_""#),
            ("public_key_spki", "[]"),
            ("public_key_spki", "\"\(Base64.standard.encode(Array(repeating: 0, count: 513)))\""),
            ("x", "1"),
        ]
    )
    func `is refused with a wrong field, naming it`(_ name: String, _ json: String) {
        var fields = ["account_id": "\"acc_1\"", "key_alias": "\"phone\"", "public_key_spki": "\"\(Self.publicKey)\""]
        fields[name] = json
        let body = "{" + fields.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
        let problem = problem { () throws(Problem) in try create(body) }
        #expect(problem?.code == .invalidField)
        #expect(problem?.extras == field(name))
    }

    @Test func `is paired by two signatures`() throws {
        let request = try PairCredentialRequest.read(
            Array(#"{"signature":"AQI=","authorizing_credential":"cred_1","authorizing_signature":"AwQ="}"#.utf8)
        )
        #expect(request.signature == [1, 2])
        #expect(request.authorizingCredentialID == "cred_1")
        #expect(request.authorizingSignature == [3, 4])
    }

    @Test(arguments: ["signature", "authorizing_credential", "authorizing_signature"])
    func `is not paired by fewer`(_ missing: String) {
        let fields = PairCredentialRequest.fieldNames.filter { $0 != missing }
        let body = "{" + fields.map { "\"\($0)\":\"AAAA\"" }.joined(separator: ",") + "}"
        let problem = problem { () throws(Problem) in try PairCredentialRequest.read(Array(body.utf8)) }
        #expect(problem?.code == .invalidField)
        #expect(problem?.extras == field(missing))
    }

    private let view = CredentialView(
        credentialID: "cred_1",
        accountID: Example.account,
        keyAlias: "a \"phone\"",
        status: .pendingPairing,
        createdAt: 1,
        pairedAt: nil,
        invalidatedAt: nil
    )
    private let members =
        #""credential_id":"cred_1","account_id":"acc_998124a87","key_alias":"a \"phone\"","status":"PENDING_PAIRING","created_at":1,"#
        + #""paired_at":null,"invalidated_at":null"#

    @Test func `is shown with its state, and at first with its challenge`() {
        #expect(text(view.body) == "{\(members)}")
        let created = view.createdBody(challenge: Array(repeating: 0xFF, count: 32), challengeExpiresAt: 300_001)
        #expect(
            text(created) == "{\(members)," + #""challenge":"\#(String(repeating: "_", count: 42))8","challenge_expires_at":300001}"#
        )
    }

    @Test func `stands in a list`() {
        #expect(text(CredentialView.listBody([])) == #"{"credentials":[]}"#)
        #expect(text(CredentialView.listBody([view, view])) == #"{"credentials":[{\#(members)},{\#(members)}]}"#)
        #expect(CredentialStatus.allCases.map(\.rawValue) == ["PENDING_PAIRING", "ACTIVE", "INVALIDATED"])
    }

    // MARK: The client's side

    @Test func `is asked for and paired by bodies that read back`() throws {
        let create = CreateCredentialRequest(account: Example.account, keyAlias: "\"é\" 😀", publicKey: [1, 2, 3])
        #expect(try CreateCredentialRequest.read(create.body) == create)
        let pair = PairCredentialRequest(signature: [1], authorizingCredentialID: "cred_2", authorizingSignature: [2, 3])
        #expect(try PairCredentialRequest.read(pair.body) == pair)
    }

    @Test(arguments: CredentialStatus.allCases)
    func `reads back in each state`(_ status: CredentialStatus) throws {
        let credential = CredentialView(
            credentialID: "cred_1",
            accountID: Example.account,
            keyAlias: "phone",
            status: status,
            createdAt: 1,
            pairedAt: status == .pendingPairing ? nil : 2,
            invalidatedAt: status == .invalidated ? 3 : nil
        )
        #expect(try CredentialView.read(credential.body) == credential)
        #expect(try CredentialView.readList(CredentialView.listBody([credential, view])) == [credential, view])
        let created = credential.createdBody(challenge: [0xFB, 0xFF], challengeExpiresAt: 9)
        #expect(try CredentialView.read(created) == credential)
        #expect(try CredentialView.readChallenge(created) == "-_8")
    }

    @Test(
        arguments: [
            ("cred_1", "a b"),
            ("acc_998124a87", "a b"),
            ("PENDING_PAIRING", "LOST"),
            ("\"created_at\":1", "\"created_at\":-1"),
            ("\"created_at\":1", "\"created_at\":null"),
            ("\"paired_at\":null", "\"paired_at\":\"x\""),
        ]
    )
    func `is not read from what cannot be one`(_ old: String, _ new: String) {
        let body = Array(text(view.body).replacing(old, with: new).utf8)
        #expect(throws: AnswerError.self) { try CredentialView.read(body) }
        #expect(throws: AnswerError.self) { try CredentialView.readList(Array("{\"credentials\":[".utf8) + body + Array("]}".utf8)) }
        #expect(throws: AnswerError.self) { try CredentialView.readChallenge(body) }
    }
}
