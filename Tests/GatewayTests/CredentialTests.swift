import Cryptography
import Foundation
import Identity
import JourneySupport
import Postgres
import Storage
import Testing

/// A device whose key lives in files of the `openssl` program.
private struct Device {
    let folder: ScratchFolder

    init() async throws {
        folder = try ScratchFolder()
        _ = try await Program.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "key.pem"], in: folder.url)
    }

    /// SubjectPublicKeyInfo in base64.
    func spki() async throws -> String {
        let spki = try await Program.run(["sh", "-c", "openssl pkey -in key.pem -pubout -outform DER | base64 -w0"], in: folder.url).text
        Secrets.keep(spki)
        return spki
    }

    func sign(_ text: String) async throws -> String {
        _ = try folder.write(text, to: "text")
        let signature = try await Program.run(["sh", "-c", "openssl dgst -sha256 -sign key.pem text | base64 -w0"], in: folder.url).text
        Secrets.keep(signature)
        return signature
    }

    func phone(_ client: Client, _ credential: String) throws -> Client {
        let pem = try String(contentsOf: folder.url.appending(path: "key.pem"), encoding: .utf8)
        let phone = Phone(account: client.phone.account, token: client.phone.token, key: try P256PrivateKey(pem: pem), credentialID: credential)
        return Client(phone: phone, port: client.port)
    }
}

extension `The HTTP contract` {
    @Suite struct `A credential` {
        let served: Served

        init() throws { served = try Served.router() }

        private func create(_ client: Client, _ device: Device, alias: String = "new phone") async throws -> Phone.Answer {
            try await client.post(
                "/v1/credentials",
                #"{"account_id":"\#(client.account)","key_alias":"\#(alias)","public_key_spki":"\#(try await device.spki())"}"#
            )
        }

        private func form(_ client: Client, _ created: Phone.Answer) throws -> String {
            "CREDENTIAL-PAIR-V1\naccount_id=\(client.account)\ncredential_id=\(try #require(created["credential_id"]))\nchallenge=\(try #require(created["challenge"]))"
        }

        private func signed(_ client: Client, _ text: String) throws -> String {
            let signature = Data(try client.phone.key.sign(Array(text.utf8))).base64EncodedString()
            Secrets.keep(signature)
            return signature
        }

        private func pair(
            _ client: Client,
            _ created: Phone.Answer,
            _ device: Device,
            authorizedBy client2: Client? = nil
        ) async throws -> Phone.Answer {
            let form = try form(client, created)
            let authorizing = client2 ?? client
            return try await client.post(
                "/v1/credentials/\(try #require(created["credential_id"]))/pair",
                #"{"signature":"\#(try await device.sign(form))","authorizing_credential":"\#(try #require(authorizing.phone.credentialID))","#
                    + #""authorizing_signature":"\#(try signed(authorizing, form))"}"#
            )
        }

        private func audit(_ id: String) async throws -> [String] {
            try await served.texts("SELECT change FROM credential_audit WHERE credential_id = '\(id)' ORDER BY audit_id")
        }

        @Test func `is created, paired by two keys, signs orders, and is invalidated`() async throws {
            let client = try await served.client()
            let device = try await Device()
            let created = try await create(client, device)
            #expect(created.status == 201, "\(created.text)")
            #expect(created["status"] == "PENDING_PAIRING")
            let id = try #require(created["credential_id"])
            let challenge = try #require(created["challenge"])
            Secrets.keep(challenge)
            #expect(challenge.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil)
            let lifetime = (created["challenge_expires_at"].flatMap { Int64($0) } ?? 0) - Town.now()
            #expect((240_000...301_000).contains(lifetime))
            let phone = try device.phone(client, id)
            expect(try await phone.place(phone.draft()), isProblem: "credential_unknown", 403, outcome: "unknown")
            let paired = try await pair(client, created, device)
            #expect(paired.status == 200, "\(paired.text)")
            #expect(paired["status"] == "ACTIVE" && paired["credential_id"] == id)
            #expect(try await phone.place(phone.draft()).status == 201)
            // Without naming it, it is found.
            #expect(try await phone.anonymous.place(phone.draft()).status == 201)
            let list = try await client.get("/v1/credentials")
            #expect(list.count("credentials") == 2)
            #expect(list["credentials.0.credential_id"] == id && list["credentials.0.key_alias"] == "new phone")
            #expect(!list.text.contains("spki") && !list.text.contains(challenge))
            for _ in 0..<2 {
                let gone = try await client.delete("/v1/credentials/\(id)")
                #expect(gone.status == 200 && gone["status"] == "INVALIDATED", "\(gone.text)")
            }
            expect(try await phone.place(phone.draft()), isProblem: "credential_invalidated", 403, outcome: "unknown")
            #expect(try await client.place(client.draft()).status == 201)
            expect(try await pair(client, created, device), isProblem: "credential_not_pending", 409, outcome: "not_applicable")
            #expect(try await audit(id) == ["created", "activated", "invalidated"])
            #expect(try await served.texts("SELECT DISTINCT by_whom FROM credential_audit WHERE credential_id = '\(id)'").count == 1)
        }

        @Test func `is not paired by a stolen token, and a challenge is good for one attempt`() async throws {
            let client = try await served.client()
            let other = try await served.client()
            let device = try await Device()
            // Each attempt with one thing wrong uses the challenge up.
            let attempts: [(Phone.Answer, String) async throws -> (String, String, String)] = [
                { created, form in (try await device.sign(form), created["credential_id"]!, try await device.sign(form)) },
                { _, form in (try await device.sign(form), other.phone.credentialID!, try signed(other, form)) },
                { _, form in (try await device.sign(form), client.phone.credentialID!, try await device.sign(form)) },
                { _, form in (try await device.sign(form + "\n"), client.phone.credentialID!, try signed(client, form)) },
                { _, form in (try signed(client, form), client.phone.credentialID!, try signed(client, form)) },
            ]
            for attempt in attempts {
                let created = try await create(client, device)
                let id = try #require(created["credential_id"])
                let (signature, authorizing, authorization) = try await attempt(created, try form(client, created))
                let answer = try await client.post(
                    "/v1/credentials/\(id)/pair",
                    #"{"signature":"\#(signature)","authorizing_credential":"\#(authorizing)","authorizing_signature":"\#(authorization)"}"#
                )
                expect(answer, isProblem: "pairing_invalid", 403, outcome: "not_applicable")
                expect(try await pair(client, created, device), isProblem: "challenge_expired", 409, outcome: "not_applicable")
                #expect(try await audit(id).contains("pairing_failed"))
            }
            #expect(try await client.get("/v1/credentials").text.contains("\"ACTIVE\""))
            let active = try await served.number("SELECT count(*) FROM credentials WHERE account_id = '\(client.account)' AND state = 2")
            #expect(active == 1)
        }

        @Test func `has a challenge that ends`() async throws {
            let client = try await served.client()
            let device = try await Device()
            let created = try await create(client, device)
            _ = try await served.town.readers.read { database in
                try database.connection().execute(
                    "UPDATE credentials SET challenge_expires_at = 1 WHERE credential_id = '\(created["credential_id"]!)'"
                )
            }
            expect(try await pair(client, created, device), isProblem: "challenge_expired", 409, outcome: "not_applicable")
        }

        @Test func `is one of five at most`() async throws {
            let client = try await served.client()
            var last: (Phone.Answer, Device)?
            for number in 2...6 {
                let device = try await Device()
                let created = try await create(client, device, alias: "phone \(number)")
                last = (created, device)
                if number < 6 { #expect(try await pair(client, created, device)["status"] == "ACTIVE") }
            }
            let (created, device) = try #require(last)
            expect(try await pair(client, created, device), isProblem: "too_many_credentials", 409, outcome: "not_applicable")
            let list = try await client.get("/v1/credentials?account_id=\(client.account)")
            let oldest = try #require(list["credentials.1.credential_id"])
            #expect(try await client.delete("/v1/credentials/\(oldest)")["status"] == "INVALIDATED")
            #expect(try await pair(client, created, device)["status"] == "ACTIVE")
        }

        @Test func `can be exchanged while orders are open`() async throws {
            let client = try await served.client()
            let draft = client.draft()
            let id = try #require(try await client.place(draft)["order_id"])
            try await served.reached("WORKING", client, id)
            let device = try await Device()
            let created = try await create(client, device)
            #expect(try await pair(client, created, device)["status"] == "ACTIVE")
            _ = try await client.delete("/v1/credentials/\(try #require(client.phone.credentialID))")
            let phone = try device.phone(client, try #require(created["credential_id"]))
            #expect(try await phone.get("/v1/trading/orders/\(id)")["status"] == "WORKING")
            #expect(try await phone.get("/v1/trading/orders/\(id)")["reserved_funds_usd"] == "1000")
            // The new phone may retry what the old one signed.
            let again = try await phone.place(draft.again)
            #expect(again.status == 201 && again.header("Idempotency-Replayed") == "true")
            #expect(try await phone.delete("/v1/trading/orders/\(id)").status == 202)
            try await served.reached("CANCELLED", phone, id)
        }

        @Test func `is not made of what is no key, nor without the scope`() async throws {
            let client = try await served.client()
            let other = try await served.client()
            let right = Data(try P256PrivateKey().publicKey.spki).base64EncodedString()
            let bodies: [(String, String, String?)] = [
                ("{}", "invalid_field", "account_id"), (#"{"account_id":"\#(client.account)","key_alias":"x"}"#, "invalid_field", "public_key_spki"),
                (#"{"account_id":"\#(client.account)","key_alias":"","public_key_spki":"\#(right)"}"#, "invalid_field", "key_alias"),
                (#"{"account_id":"\#(client.account)","key_alias":"x","public_key_spki":"AAAA"}"#, "invalid_field", "public_key_spki"),
                (#"{"account_id":"\#(client.account)","key_alias":"x","public_key_spki":"%"}"#, "invalid_field", "public_key_spki"),
                (#"{"account_id":"\#(client.account)","key_alias":"x","public_key_spki":"\#(right)","state":"ACTIVE"}"#, "invalid_field", "state"),
                ("[", "malformed_request", nil),
            ]
            for (body, code, field) in bodies {
                let answer = try await client.post("/v1/credentials", body)
                expect(answer, isProblem: code, 400, outcome: "not_applicable")
                #expect(answer["field"] == field, "\(answer.text)")
            }
            for curve in ["secp384r1", "secp256k1"] {
                let key = try await Program.run(
                    ["sh", "-c", "openssl ecparam -name \(curve) -genkey -noout | openssl pkey -pubout -outform DER | base64 -w0"]
                ).text
                let body = #"{"account_id":"\#(client.account)","key_alias":"x","public_key_spki":"\#(key)"}"#
                expect(try await client.post("/v1/credentials", body), isProblem: "invalid_field", 400, outcome: "not_applicable")
            }
            let body = #"{"account_id":"\#(other.account)","key_alias":"x","public_key_spki":"\#(right)"}"#
            expect(try await client.post("/v1/credentials", body), isProblem: "account_forbidden", 403, outcome: "not_applicable")
            let foreign = try await client.delete("/v1/credentials/\(try #require(other.phone.credentialID))")
            expect(foreign, isProblem: "not_found", 404, outcome: "not_applicable")
            let token = try served.town.issuer.issue(
                subject: "person",
                accounts: [client.phone.account],
                scopes: [.ordersRead, .ordersWrite],
                lifetime: .seconds(600),
                now: Town.now()
            )
            let trader = client.with(token: token)
            expect(try await trader.get("/v1/credentials"), isProblem: "scope_missing", 403, outcome: "not_applicable")
            expect(try await trader.delete("/v1/credentials/x"), isProblem: "scope_missing", 403, outcome: "not_applicable")
            let own = #"{"account_id":"\#(client.account)","key_alias":"x","public_key_spki":"\#(right)"}"#
            expect(try await trader.post("/v1/credentials", own), isProblem: "scope_missing", 403, outcome: "not_applicable")
        }
    }
}
