import Cryptography
import Postgres
import Storage
import TestSupport
import Testing
import Trading
import Wire

@testable import Identity

private let now = CredentialStation.now

@Suite struct `A credential` {
    let station: CredentialStation
    let phone: P256PrivateKey
    let tablet: P256PrivateKey

    init() throws {
        station = try CredentialStation()
        phone = try P256PrivateKey()
        tablet = try P256PrivateKey()
    }

    @Test func `is enrolled by an operator, paired by a device, invalidated, and each step is in the audit`() async throws {
        let (phone, tablet) = (try OpenSSLDevice(), try OpenSSLDevice())
        let phoneID = try await station.enrol(phone)
        let created = try await station.create(tablet, now: now + 1)
        #expect(created.view.status == .pendingPairing)
        #expect(created.view.pairedAt == nil)
        #expect(created.challenge.count == 32)
        #expect(created.challengeExpiresAt == now + 1 + 300_000)
        let id = created.view.credentialID
        #expect(id.wholeMatch(of: /cred_[a-z2-7]{26}/) != nil)

        let paired = try await station.pair(created, try created.request(signedBy: tablet, and: phone, phoneID), now: now + 2)
        #expect(paired.status == .active)
        #expect(paired.pairedAt == now + 2)
        #expect(paired.keyAlias == "tablet")

        let invalidated = try await station.enrolment.invalidate(id, accounts: [station.first, station.second], by: nil, now: now + 3)
        #expect(invalidated.status == .invalidated)
        #expect(invalidated.invalidatedAt == now + 3)
        #expect(invalidated.pairedAt == now + 2)
        #expect(try await station.enrolment.invalidate(id, accounts: [station.first], by: "trader-1", now: now + 4) == invalidated)

        let listed = try await station.enrolment.list(station.first)
        #expect(listed.map(\.credentialID) == [id, phoneID])
        #expect(listed.first == invalidated)
        #expect(listed.last?.status == .active)
        #expect(try await station.enrolment.list(station.second) == [])

        #expect(try station.audit(phoneID) == ["enrolled by operator"])
        #expect(
            try station.audit(id) == ["created by trader-1", "activated by trader-1: authorized by \(phoneID)", "invalidated by : was ACTIVE"]
        )
        #expect(await station.complaints() == [])
    }

    @Test(arguments: ["UPDATE credential_audit SET by_whom = 'x'", "DELETE FROM credential_audit", "TRUNCATE credential_audit"])
    func `has an audit that is only added to`(_ sql: String) async throws {
        _ = try await station.enrol(phone)
        #expect(throws: PostgresError.self) { try station.test.connect().execute(sql) }
        #expect(try station.texts("SELECT change FROM credential_audit WHERE account_id = '\(station.first)'") == ["enrolled"])
    }

    @Test func `waits for pairing no longer once invalidated`() async throws {
        let phoneID = try await station.enrol(phone)
        let created = try await station.create(tablet)
        let request = try created.request(signedBy: tablet, and: phone, phoneID)
        let view = try await station.enrolment.invalidate(created.view.credentialID, accounts: [station.first], by: "trader-1", now: now)
        #expect(view.status == .invalidated)
        #expect(await problem { _ = try await station.pair(created, request) } == .credentialNotPending)
    }

    @Test func `is paired once`() async throws {
        let phoneID = try await station.enrol(phone)
        let created = try await station.create(tablet)
        let request = try created.request(signedBy: tablet, and: phone, phoneID)
        _ = try await station.pair(created, request)
        #expect(await problem { _ = try await station.pair(created, request) } == .credentialNotPending)
    }

    @Test func `is paired until just before its challenge expires, and then no more`() async throws {
        let phoneID = try await station.enrol(phone)
        let late = try await station.create(tablet)
        let lateRequest = try late.request(signedBy: tablet, and: phone, phoneID)
        #expect(await problem { _ = try await station.pair(late, lateRequest, now: late.challengeExpiresAt) } == .challengeExpired)
        // Used up: a clock that goes back brings nothing back.
        #expect(await problem { _ = try await station.pair(late, lateRequest) } == .challengeExpired)
        #expect(
            try station.audit(late.view.credentialID) == ["created by trader-1", "pairing_failed by trader-1: the challenge has expired"]
        )

        let inTime = try await station.create(tablet)
        let request = try inTime.request(signedBy: tablet, and: phone, phoneID)
        #expect(try await station.pair(inTime, request, now: inTime.challengeExpiresAt - 1).status == .active)
    }

    @Test func `is not paired by signatures over another challenge, and the attempt uses its own up`() async throws {
        let phoneID = try await station.enrol(phone)
        let other = try await station.create(tablet)
        let created = try await station.create(tablet)
        let wrong = try other.request(signedBy: tablet, and: phone, phoneID)
        #expect(await problem { _ = try await station.pair(created, wrong) } == .pairingInvalid)
        let right = try created.request(signedBy: tablet, and: phone, phoneID)
        #expect(await problem { _ = try await station.pair(created, right) } == .challengeExpired)
        #expect(
            try station.audit(created.view.credentialID) == [
                "created by trader-1", "pairing_failed by trader-1: the new key's signature does not verify",
            ]
        )
        #expect(try await station.pair(other, wrong).status == .active)
    }

    /// A stolen token alone, which can create credentials, must not activate one.
    @Test func `is authorized by none but an active one of its account`() async throws {
        let phoneID = try await station.enrol(phone)
        let thief = try P256PrivateKey()

        let byItself = try await station.create(thief)
        let ownWord = try byItself.request(signedBy: thief, and: thief, byItself.view.credentialID)
        #expect(await problem { _ = try await station.pair(byItself, ownWord) } == .pairingInvalid)

        let foreignID = try await station.enrol(thief, in: station.second)
        let byForeigner = try await station.create(thief)
        let foreign = try byForeigner.request(signedBy: thief, and: thief, foreignID)
        #expect(await problem { _ = try await station.pair(byForeigner, foreign, accounts: [station.first, station.second]) } == .pairingInvalid)

        let byWrongKey = try await station.create(thief)
        let forged = try byWrongKey.request(signedBy: thief, and: thief, phoneID)
        #expect(await problem { _ = try await station.pair(byWrongKey, forged) } == .pairingInvalid)
        #expect(try station.audit(byWrongKey.view.credentialID).last == "pairing_failed by trader-1: the signature of \(phoneID) does not verify")

        let withoutNewKey = try await station.create(tablet)
        let notItsOwn = try withoutNewKey.request(signedBy: phone, and: phone, phoneID)
        #expect(await problem { _ = try await station.pair(withoutNewKey, notItsOwn) } == .pairingInvalid)

        let byInvalidated = try await station.create(tablet)
        let tooLate = try byInvalidated.request(signedBy: tablet, and: phone, phoneID)
        _ = try await station.enrolment.invalidate(phoneID, accounts: [station.first], by: "trader-1", now: now)
        #expect(await problem { _ = try await station.pair(byInvalidated, tooLate) } == .pairingInvalid)

        #expect(try await station.enrolment.list(station.first).allSatisfy { $0.status != .active })
    }

    @Test func `of another account is as unknown as one that never was`() async throws {
        let phoneID = try await station.enrol(phone)
        let foreign = try await station.create(tablet, in: station.second)
        let request = try foreign.request(signedBy: tablet, and: phone, phoneID)
        let enrolment = station.enrolment
        var answers: [Problem] = []
        for id in [foreign.view.credentialID, "cred_none"] {
            for accounts in [[station.first], []] as [Set<AccountID>] {
                do {
                    _ = try await enrolment.pair(id, request, accounts: accounts, by: "trader-1", now: now)
                } catch {
                    answers.append(error)
                }
                do {
                    _ = try await enrolment.invalidate(id, accounts: accounts, by: "trader-1", now: now)
                } catch {
                    answers.append(error)
                }
            }
        }
        #expect(answers.count == 8)
        #expect(Set(answers).count == 1)
        #expect(answers.first?.code == .notFound)
        #expect(try station.audit(foreign.view.credentialID) == ["created by trader-1"])
        #expect(try await enrolment.list(station.second).first?.status == .pendingPairing)
    }

    @Test func `is refused beyond five active ones, and its challenge waits for room`() async throws {
        let phoneID = try await station.enrol(phone)
        var spare = ""
        for _ in 0..<4 { spare = try await station.enrol(try P256PrivateKey()) }
        #expect(await problem { _ = try await station.enrol(try P256PrivateKey()) } == .tooManyCredentials)
        let created = try await station.create(tablet)
        let request = try created.request(signedBy: tablet, and: phone, phoneID)
        #expect(await problem { _ = try await station.pair(created, request) } == .tooManyCredentials)
        _ = try await station.enrolment.invalidate(spare, accounts: [station.first], by: "trader-1", now: now)
        #expect(try await station.pair(created, request).status == .active)
        #expect(try await station.enrolment.list(station.first).count { $0.status == .active } == 5)
    }

    @Test func `is not made by the dozen without being paired`() async throws {
        for _ in 0..<10 { _ = try await station.create(tablet) }
        #expect(await problem { _ = try await station.create(tablet, now: now + 299_999) } == .tooManyCredentials)
        #expect(try await station.create(tablet, now: now + 300_000).view.status == .pendingPairing)
        #expect(try await station.create(tablet, in: station.second).view.status == .pendingPairing)
    }

    @Test func `needs a key on P-256 and an account that exists`() async throws {
        let foreignCurve = try OpenSSLDevice(curve: "secp384r1")
        #expect(await problem { _ = try await station.create(foreignCurve) } == .invalidField)
        #expect(await problem { _ = try await station.enrol(foreignCurve) } == .invalidField)
        var offCurve = phone.spki
        offCurve[90] ^= 1
        let request = CreateCredentialRequest(account: station.first, keyAlias: "phone", publicKey: offCurve)
        #expect(await problem { _ = try await station.enrolment.create(request, by: "t", now: now) } == .invalidField)
        let nobody = try #require(AccountID("acc_nobody"))
        #expect(await problem { _ = try await station.create(phone, in: nobody) } == .accountForbidden)
        #expect(
            await problem { _ = try await station.enrolment.enrol(station.first, alias: "two\nlines", spki: phone.spki, now: now) } == .invalidField
        )
        #expect(try station.texts("SELECT credential_id FROM credentials WHERE account_id = '\(station.first)'") == [])
        #expect(try station.texts("SELECT change FROM credential_audit WHERE account_id = '\(station.first)'") == [])
    }

    @Test func `is paired by one of two that race for the last place, through two routers`() async throws {
        let phoneID = try await station.enrol(phone)
        for _ in 0..<3 { _ = try await station.enrol(try P256PrivateKey()) }
        let other = try station.another()
        let created = [try await station.create(tablet), try await station.create(tablet)]
        let requests = try created.map { try $0.request(signedBy: tablet, and: phone, phoneID) }
        async let one = problem { _ = try await station.pair(created[0], requests[0]) }
        async let two = problem { _ = try await other.pair(created[1], requests[1]) }
        #expect(Set([await one, await two]) == [nil, .tooManyCredentials])
        #expect(try await station.enrolment.list(station.first).count { $0.status == .active } == 5)
    }

    @Test func `is activated once when the same pairing comes twice at the same time`() async throws {
        let phoneID = try await station.enrol(phone)
        let other = try station.another()
        let created = try await station.create(tablet)
        let request = try created.request(signedBy: tablet, and: phone, phoneID)
        async let one = problem { _ = try await station.pair(created, request) }
        async let two = problem { _ = try await other.pair(created, request) }
        #expect(Set([await one, await two]) == [nil, .credentialNotPending])
        #expect(try station.audit(created.view.credentialID).count == 2)
    }

    @Test(arguments: [PostgresProxy.Cut.beforeServer, .afterServer])
    func `is changed once although the connection breaks at the change`(_ cut: PostgresProxy.Cut) async throws {
        let proxy = try PostgresProxy(to: station.test.url)
        defer { proxy.stop() }
        let station = try station.another(url: proxy.url)
        let phoneID = try await station.enrol(phone)
        proxy.cut(cut, at: "insert_credential_audit")
        let created = try await station.create(tablet)
        let request = try created.request(signedBy: tablet, and: phone, phoneID)
        proxy.cut(cut, at: "insert_credential_audit")
        #expect(try await station.pair(created, request).status == .active)
        proxy.cut(cut, at: "insert_credential_audit")
        let invalid = try await station.enrolment.invalidate(created.view.credentialID, accounts: [station.first], by: "trader-1", now: now)
        #expect(invalid.status == .invalidated)
        let failing = try await station.create(tablet)
        proxy.cut(cut, at: "insert_credential_audit")
        #expect(await problem { _ = try await station.pair(failing, request) } == .pairingInvalid)
        #expect(proxy.cuts == 4)
        #expect(try station.audit(created.view.credentialID).map { $0.prefix { $0 != " " } } == ["created", "activated", "invalidated"])
        #expect(try station.audit(failing.view.credentialID).map { $0.prefix { $0 != " " } } == ["created", "pairing_failed"])
        #expect(await station.complaints().count == 4)
    }

    @Test func `cannot be dealt with while the database is away`() async throws {
        let station = try CredentialStation(alone: true)
        let phoneID = try await station.enrol(phone)
        try station.test.drop()
        let answer = await problem { _ = try await station.enrolment.invalidate(phoneID, accounts: [station.first], by: "trader-1", now: now) }
        #expect(answer == .internalError || answer == .busy)
        #expect(await station.complaints().isEmpty == false)
    }

    @Test func `leaves open orders alone when it goes and another comes`() async throws {
        let station = try CredentialStation(alone: true)
        let phoneID = try await station.enrol(phone)
        try station.test.connect().execute(
            """
            INSERT INTO orders (key, created_at, updated_at, quantity, limit_price, hold_price, held, route_by, client_timestamp,
                quote_reference, shard, side, order_type, time_in_force, status, account_id, order_id, symbol, credential_id)
            VALUES ('018e3d2a-7f12-7000-8000-123456789abc', \(now), \(now), 100, 10000, 10000, 1000000, \(now), \(now), \(now),
                \(station.first.shard), 1, 2, 0, 3, '\(station.first)', 'ord_20240314_aaaaaaaaaaaaaaaaaaaaaaaaaa', 'NVDA', '\(phoneID)')
            """
        )
        let tables = ["orders", "log", "executions", "balances", "ledger_entries", "idempotency_keys", "shards", "accounts"]
        func contents() throws -> [[String]] { try tables.map { try station.texts("SELECT row_to_json(t)::text FROM \($0) t ORDER BY 1") } }
        let before = try contents()
        #expect(before[0].count == 1)

        let created = try await station.create(tablet)
        _ = try await station.pair(created, try created.request(signedBy: tablet, and: phone, phoneID))
        _ = try await station.enrolment.invalidate(phoneID, accounts: [station.first], by: "trader-1", now: now)
        #expect(try contents() == before)
    }
}
