import Cryptography
import Postgres
import Storage
import Synchronization
import TestSupport
import Testing
import Trading
import Wire

@testable import Identity

private let now = CredentialStation.now
private let form = CredentialStation.form

private final class Counter: Sendable {
    private let value = Mutex(0)
    var count: Int { value.withLock { $0 } }
    func increment() { value.withLock { $0 += 1 } }
}

@Suite struct `A signature` {
    let station: CredentialStation
    let phone: P256PrivateKey
    let tablet: P256PrivateKey

    init() throws {
        station = try CredentialStation()
        phone = try P256PrivateKey()
        tablet = try P256PrivateKey()
    }

    @Test func `made by openssl verifies in DER and raw, with and without its credential named`() async throws {
        let phone = try OpenSSLDevice()
        let id = try await station.enrol(phone)
        for signature in [try phone.sign(form), try phone.signRaw(form)] {
            #expect(await station.verify(signature) == .verified(credentialID: id))
            #expect(await station.verify(signature, by: id) == .verified(credentialID: id))
        }
        #expect(await station.verify(try phone.sign(form + [0])) == .refused(.signatureInvalid))
        #expect(await station.verify([]) == .refused(.signatureInvalid))
        #expect(await station.complaints() == [])
    }

    @Test func `is tried with active credentials before invalidated ones, newest first`() async throws {
        // The same key under four credentials tells by the verdict which was tried first.
        var ids: [String] = []
        for age in 0..<4 as Range<Int64> { ids.append(try await station.enrol(phone, now: now + age)) }
        let signature = try phone.sign(form)
        for (invalidated, next) in [(3, 2), (1, 2), (2, 0), (0, 3)] {
            _ = try await station.enrolment.invalidate(ids[invalidated], accounts: [station.first], by: nil, now: now)
            #expect(await station.verify(signature) == .verified(credentialID: ids[next]))
        }
    }

    @Test func `of an invalidated credential still verifies`() async throws {
        let id = try await station.enrol(phone)
        _ = try await station.enrol(tablet)
        _ = try await station.enrolment.invalidate(id, accounts: [station.first], by: nil, now: now)
        #expect(await station.verify(try phone.sign(form)) == .verified(credentialID: id))
        #expect(await station.verify(try phone.sign(form), by: id) == .verified(credentialID: id))
    }

    @Test func `of a credential that was never paired verifies nothing, invalidated or not`() async throws {
        _ = try await station.enrol(phone)
        let id = try await station.create(tablet).view.credentialID
        let signature = try tablet.sign(form)
        #expect(await station.verify(signature, by: id) == .refused(.credentialUnknown))
        #expect(await station.verify(signature) == .refused(.signatureInvalid))
        _ = try await station.enrolment.invalidate(id, accounts: [station.first], by: nil, now: now)
        #expect(await station.verify(signature, by: id) == .refused(.credentialUnknown))
        #expect(await station.verify(signature) == .refused(.signatureInvalid))
    }

    @Test func `needs a credential of its own account`() async throws {
        let id = try await station.enrol(phone, in: station.second)
        let signature = try phone.sign(form)
        #expect(await station.verify(signature) == .refused(.credentialUnknown))
        #expect(await station.verify(signature, by: id) == .refused(.credentialUnknown))
        #expect(await station.verify(signature, of: station.second, by: id) == .verified(credentialID: id))
        let nobody = try #require(AccountID("acc_nobody"))
        #expect(await station.verify(signature, of: nobody, by: id) == .refused(.credentialUnknown))
    }

    @Test func `must be by the credential that is named`() async throws {
        let phoneID = try await station.enrol(phone)
        let tabletID = try await station.enrol(tablet)
        #expect(await station.verify(try phone.sign(form), by: tabletID) == .refused(.signatureInvalid))
        #expect(await station.verify(try phone.sign(form), by: phoneID) == .verified(credentialID: phoneID))
    }

    @Test func `is tried with a bounded number of invalidated credentials unless one is named`() async throws {
        var settings = CredentialBook.Settings()
        settings.invalidatedTried = 1
        let station = try station.another(settings: settings)
        let oldest = try await station.enrol(phone, now: now)
        let newer = try await station.enrol(tablet, now: now + 1)
        _ = try await station.enrol(try P256PrivateKey(), now: now + 2)
        for id in [oldest, newer] { _ = try await station.enrolment.invalidate(id, accounts: [station.first], by: nil, now: now) }
        #expect(await station.verify(try tablet.sign(form)) == .verified(credentialID: newer))
        #expect(await station.verify(try phone.sign(form)) == .refused(.signatureInvalid))
        #expect(await station.verify(try phone.sign(form), by: oldest) == .verified(credentialID: oldest))
    }

    @Test func `has the problem to answer in its verdict`() {
        #expect(SignatureVerdict.verified(credentialID: "c").problem == nil)
        #expect(SignatureVerdict.refused(.signatureInvalid).problem?.code == .signatureInvalid)
        #expect(SignatureVerdict.refused(.credentialUnknown).problem?.code == .credentialUnknown)
        #expect(SignatureVerdict.unavailable.problem?.code == .busy)
        #expect(SignatureVerdict.unavailable.problem?.outcome == .unknown)
    }
}

@Suite struct `The book of credentials` {
    let station: CredentialStation
    /// Another router.
    let other: CredentialStation
    let phone: P256PrivateKey
    let tablet: P256PrivateKey

    init() throws {
        station = try CredentialStation()
        other = try station.another()
        phone = try P256PrivateKey()
        tablet = try P256PrivateKey()
    }

    @Test func `finds a credential enrolled through another router at once, but reads again once a second at most`() async throws {
        let phoneID = try await other.enrol(phone)
        #expect(await station.verify(try phone.sign(form)) == .verified(credentialID: phoneID))
        let id = try await other.enrol(tablet)
        let signature = try tablet.sign(form)
        #expect(await station.verify(signature, now: now + 999) == .refused(.signatureInvalid))
        #expect(await station.verify(signature, by: id, now: now + 999) == .refused(.credentialUnknown))
        #expect(await station.verify(signature, by: id, now: now + 1_000) == .verified(credentialID: id))
        #expect(await station.verify(signature, now: now + 1_001) == .verified(credentialID: id))
    }

    @Test func `finds the first credential of an account that had none`() async throws {
        let signature = try phone.sign(form)
        #expect(await station.verify(signature) == .refused(.credentialUnknown))
        let id = try await other.enrol(phone)
        #expect(await station.verify(signature, now: now + 1_000) == .verified(credentialID: id))
    }

    @Test func `does not read for a bad signature of a credential that it knows`() async throws {
        let station = try CredentialStation(alone: true)
        let id = try await station.enrol(phone)
        #expect(await station.verify(try phone.sign(form)) == .verified(credentialID: id))
        try station.test.drop()
        #expect(await station.verify(try tablet.sign(form), by: id, now: now + 2_000) == .refused(.signatureInvalid))
        #expect(await station.complaints() == [])
    }

    @Test func `reads again what is old, also when the clock was set back`() async throws {
        let old = try await other.enrol(phone, now: now)
        let new = try await other.enrol(phone, now: now + 1)
        let signature = try phone.sign(form)
        #expect(await station.verify(signature) == .verified(credentialID: new))
        _ = try await other.enrolment.invalidate(new, accounts: [station.first], by: nil, now: now)
        #expect(await station.verify(signature, now: now + 29_999) == .verified(credentialID: new))
        #expect(await station.verify(signature, now: now + 30_000) == .verified(credentialID: old))
        _ = try await other.enrolment.invalidate(old, accounts: [station.first], by: nil, now: now)
        #expect(await station.verify(signature, now: now + 29_999) == .verified(credentialID: new))
    }

    @Test func `sees changes of its own router at once`() async throws {
        let phoneID = try await station.enrol(phone)
        #expect(await station.verify(try tablet.sign(form)) == .refused(.signatureInvalid))
        let created = try await station.create(tablet)
        _ = try await station.pair(created, try created.request(signedBy: tablet, and: phone, phoneID))
        #expect(await station.verify(try tablet.sign(form)) == .verified(credentialID: created.view.credentialID))
    }

    @Test func `answers from what it knew while the database is away, and else that it cannot`() async throws {
        let station = try CredentialStation(alone: true)
        let id = try await station.enrol(phone)
        let signature = try phone.sign(form)
        #expect(await station.verify(signature) == .verified(credentialID: id))
        try station.test.drop()
        #expect(await station.verify(signature, now: now + 40_000) == .verified(credentialID: id))
        #expect(await station.verify(try tablet.sign(form), now: now + 40_000) == .unavailable)
        #expect(await station.verify(signature, of: station.second) == .unavailable)
        #expect(await station.complaints().isEmpty == false)
    }

    @Test func `passes over a stored key that is none, and says so`() async throws {
        let id = try await station.enrol(phone)
        let broken = try await station.enrol(tablet)
        try station.test.connect().execute("UPDATE credentials SET public_key_spki = '\\x30' WHERE credential_id = '\(broken)'")
        #expect(await station.verify(try phone.sign(form)) == .verified(credentialID: id))
        #expect(await station.verify(try tablet.sign(form), by: broken) == .refused(.credentialUnknown))
        #expect(await station.complaints().first?.contains(broken) == true)
    }

    @MainActor
    @Test func `reads on its own thread, wherever the caller lives`() async throws {
        let id = try await station.enrol(phone)
        #expect(await station.verify(try phone.sign(form)) == .verified(credentialID: id))
        #expect(try await station.enrolment.list(station.first).map(\.credentialID) == [id])
    }

    @Test func `keeps no more accounts than it may`() async throws {
        var settings = CredentialBook.Settings()
        settings.cachedAccounts = 2
        let station = try station.another(settings: settings)
        let ids = [try await station.enrol(phone), try await station.enrol(phone, in: station.second)]
        let signature = try phone.sign(form)
        for _ in 0..<3 {
            #expect(await station.verify(signature, of: station.first) == .verified(credentialID: ids[0]))
            #expect(await station.verify(signature, of: station.second) == .verified(credentialID: ids[1]))
        }
    }

    /// With room for one read at a time, all requests can be answered only if they share it; and another account is told to come again.
    @Test(.timeLimit(.minutes(1)))
    func `shares one read among all requests for an account, and refuses what does not fit`() async throws {
        var settings = CredentialBook.Settings()
        settings.waitingAccounts = 1
        settings.readDeadline = .seconds(30)
        let other = try CredentialStation(alone: true)
        let station = try other.another(settings: settings)
        let id = try await other.enrol(phone)
        let signature = try phone.sign(form)
        // Until this transaction ends nobody reads credentials.
        let blocker = try station.test.connect()
        try blocker.execute("BEGIN; LOCK TABLE credentials IN ACCESS EXCLUSIVE MODE")
        let begun = Counter()
        let verdicts = try await withThrowingTaskGroup(of: SignatureVerdict.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    begun.increment()
                    return await station.verify(signature)
                }
            }
            let blocked = "SELECT count(*) FROM pg_locks WHERE relation = 'credentials'::regclass AND NOT granted"
            while try begun.count < 20 || blocker.query(blocked).int64(0, 0) < 1 { await Task.yield() }
            #expect(await station.verify(signature, of: station.second) == .unavailable)
            try blocker.execute("COMMIT")
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(verdicts == Array(repeating: .verified(credentialID: id), count: 20))
    }

    /// What is being read while the credentials change may be from before: it is not kept.
    @Test(.timeLimit(.minutes(1)))
    func `does not keep what was read while it had to forget`() async throws {
        let other = try CredentialStation(alone: true)
        let station = try other.another()
        let id = try await other.enrol(phone)
        let signature = try phone.sign(form)
        let tabletSignature = try tablet.sign(form)
        let blocker = try station.test.connect()
        try blocker.execute("BEGIN; LOCK TABLE credentials IN ACCESS EXCLUSIVE MODE")
        async let reading = station.verify(signature)
        let blocked = "SELECT count(*) FROM pg_locks WHERE relation = 'credentials'::regclass AND NOT granted"
        while try blocker.query(blocked).int64(0, 0) < 1 { await Task.yield() }
        station.book.forget(station.first)
        try blocker.execute("COMMIT")
        #expect(await reading == .verified(credentialID: id))
        let tabletID = try await other.enrol(tablet)
        #expect(await station.verify(tabletSignature) == .verified(credentialID: tabletID))
    }
}
