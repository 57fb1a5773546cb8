import Foundation
import JourneySupport
import Testing

extension `The HTTP contract` {
    /// One after another: they are many, and each is over at once.
    @Suite(.serialized) struct `Bad input` {
        let served: Served

        init() throws { served = try Served.router() }

        /// A body in which one member is replaced, and the field that the answer names; nil: the body as a whole cannot be read.
        static let bodies: [(String, String?)] = [
            (#"{"account_id":"A","symbol":"NVDA","symbol":"NVDA""#, nil), (#""quantity":10,"quantity":10"#, nil),
            (#""quantity":10,"note":"x""#, "note"),
            (#""quantity":10,"Quantity":10"#, "Quantity"), (#""quantity":10,"":1"#, ""), (#""quantity":1e400"#, "quantity"),
            (#""quantity":NaN"#, nil),
            (#""quantity":Infinity"#, nil), (#""quantity":-10"#, "quantity"), (#""quantity":0"#, "quantity"), (#""quantity":10.0"#, "quantity"),
            (#""quantity":1e1"#, "quantity"), (#""quantity":1000000001"#, "quantity"), (#""quantity":99999999999999999999999"#, "quantity"),
            (#""quantity":"10""#, "quantity"), (#""quantity":null"#, "quantity"), (#""quantity":[10]"#, "quantity"), (#""quantity":010"#, nil),
            (#""quantity":+10"#, nil), (#""quantity":10,"#, nil), (#""quantity":true"#, "quantity"), (#""limit_price":1e400"#, "limit_price"),
            (#""limit_price":1e2"#, "limit_price"), (#""limit_price":NaN"#, nil), (#""limit_price":0.00001"#, "limit_price"),
            (#""limit_price":100.00000"#, "limit_price"), (#""limit_price":-100.00"#, "limit_price"), (#""limit_price":-0"#, "limit_price"),
            (#""limit_price":0"#, "limit_price"), (#""limit_price":"""#, "limit_price"), (#""limit_price":" 100""#, "limit_price"),
            (#""limit_price":"0x64""#, "limit_price"), (#""limit_price":"1,00""#, "limit_price"), (#""limit_price":"٣""#, "limit_price"),
            (#""limit_price":922337203685477.5807"#, "quantity"), (#""limit_price":922337203685477.5808"#, "limit_price"),
            (#""limit_price":99999999999999999999"#, "limit_price"), (#""limit_price":null"#, "limit_price"), (#""limit_price":.5"#, nil),
            (#""limit_price":100."#, nil), (#""limit_price":{}"#, "limit_price"), (#""symbol":"nvda""#, "symbol"), (#""symbol":"""#, "symbol"),
            (#""symbol":"NVDA\n""#, "symbol"), (#""symbol":"NVDA\u0000""#, "symbol"), (#""symbol":"ABCDEFGHIJKLMNOPQ""#, "symbol"),
            (#""symbol":"ＮＶＤＡ""#, "symbol"), (#""symbol":"\ud800""#, nil), (#""symbol":7"#, "symbol"), (#""side":"buy""#, "side"),
            (#""side":"SHORT""#, "side"), (#""order_type":"ICEBERG""#, "order_type"), (#""order_type":"MARKET""#, "limit_price"),
            (#""order_type":"STOP_LIMIT""#, "stop_price"), (#""time_in_force":"GTD""#, "time_in_force"), (#""time_in_force":null"#, "time_in_force"),
            (#""account_id":"acc/../x""#, "account_id"), (#""account_id":"""#, "account_id"),
            (#""estimated_total_usd":999.99"#, "estimated_total_usd"), (#""estimated_total_usd":"a lot""#, "estimated_total_usd"),
        ]

        @Test(arguments: bodies) func `in the body is named and writes nothing`(_ replacement: String, _ field: String?) async throws {
            let client = try await served.client()
            let name = replacement.drop { $0 == "{" }.dropFirst().prefix { $0 != "\"" }
            let right = client.draft { $0.total = "1000.00" }
            let body =
                replacement.hasPrefix("{")
                ? replacement + ",\"side\":\"BUY\"}" : right.body.replacing(try Regex("\"\(name)\":(\"[^\"]*\"|[0-9.]+)"), with: replacement)
            #expect(body != right.body)
            let answer = try await client.place(right, body: body)
            expect(answer, isProblem: field == nil ? "malformed_request" : "invalid_field", 400, outcome: "unknown")
            #expect(answer["field"] == field, "\(answer.text)")
            #expect(try await served.written(client) == 0)
            // The service keeps serving, and the key is not burnt.
            #expect(try await client.place(right.again).status == 201)
        }

        @Test(arguments: ["", "null", "[]", "7", "\"x\"", "{}x", "{\"a\":", String(repeating: "[", count: 10_000), "\u{FEFF}{}"])
        func `instead of a JSON object is refused`(_ body: String) async throws {
            let client = try await served.client()
            let answer = try await client.place(client.draft(), body: body)
            expect(answer, isProblem: "malformed_request", 400, outcome: "unknown")
        }

        @Test func `of invalid UTF-8 is refused`() async throws {
            let client = try await served.client()
            let draft = client.draft()
            for bytes: [UInt8] in [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80]] {
                let body = Array(#"{"account_id":""#.utf8) + bytes + Array(#""}"#.utf8)
                let answer = try await client.phone.send("POST", "/v1/trading/orders", port: served.port, headers: client.headers(draft), body: body)
                expect(answer, isProblem: "malformed_request", 400, outcome: "unknown")
            }
        }

        @Test(arguments: ["chunked", "length"]) func `of a megabyte is refused with an answer that curl can read`(_ framing: String) async throws {
            let client = try await served.client()
            let folder = try ScratchFolder()
            let file = try folder.write(#"{"account_id":""# + String(repeating: "a", count: 1_048_576) + #""}"#, to: "body")
            for expectation in ["Expect: 100-continue", "Expect:"] {
                var arguments = [
                    "http://127.0.0.1:\(served.port)/v1/trading/orders", "-H", "Authorization: Bearer \(client.phone.token)", "-H",
                    "Content-Type: application/json", "-H", expectation, "--data-binary", "@\(file)",
                ]
                if framing == "chunked" { arguments += ["-H", "Transfer-Encoding: chunked"] }
                let answer = try await Program.curl(arguments)
                #expect(answer.status == 413, "\(answer.head)")
                #expect(answer.head.contains("application/problem+json"))
                let problem = Phone.Answer(
                    status: answer.status,
                    headers: ["Content-Type": "application/problem+json"],
                    body: Array(answer.body.utf8)
                )
                expect(problem, isProblem: "payload_too_large", 413, outcome: "unknown")
            }
            #expect(try await client.get("/healthz").status == 200)
        }

        @Test(arguments: [
            "123e4567-e89b-42d3-a456-426614174000", "018e3d2a-7f12-7000-c000-123456789abc", "018e3d2a7f1270008000123456789abc",
            "018e3d2a-7f12-7000-8000-123456789ab", "018e3d2a-7f12-7000-8000-123456789abg", "{018e3d2a-7f12-7000-8000-123456789abc}",
            "\"018e3d2a-7f12-7000-8000-123456789abc", "00000000-0000-0000-0000-000000000000", "key", "\"\"",
        ]) func `as a key is refused`(_ key: String) async throws {
            let client = try await served.client()
            let answer = try await client.place(client.draft(), headers: ["Idempotency-Key": key])
            expect(answer, isProblem: "invalid_field", 400, outcome: "unknown")
            #expect(answer["field"] == "Idempotency-Key")
        }

        @Test(arguments: [
            "not base64", "QUFB\u{E4}", "AA", "AA=A", "AAAA====", "-_-_", String(repeating: "A", count: 4_000),
        ]) func `as a signature's text is refused`(_ signature: String) async throws {
            let client = try await served.client()
            let answer = try await client.place(client.draft(), headers: ["X-Biometric-Signature": signature])
            expect(answer, isProblem: "invalid_field", 400, outcome: "unknown")
            #expect(answer["field"] == "X-Biometric-Signature")
        }

        @Test(arguments: [
            "3000", "3006020100020100", "3006020101020100", "3006020100020101", "30080202000102020001", "30800201010201010000",
            "3046022100FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551022100FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551",
            "3007020101020101FF", "020101", "3006020181020181", "00", "30060201010201",
        ]) func `as a signature's bytes is refused`(_ hex: String) async throws {
            let client = try await served.client()
            let digits = hex.compactMap(\.hexDigitValue)
            let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
            let answer = try await client.place(client.draft(), headers: ["X-Biometric-Signature": Data(bytes).base64EncodedString()])
            expect(answer, isProblem: "signature_invalid", 403, outcome: "unknown")
        }

        @Test func `is not a signature of raw 64 bytes, but 63 or 65 of them are`() async throws {
            let client = try await served.client()
            let draft = client.draft()
            let raw = try Self.raw(Data(base64Encoded: try #require(try client.headers(draft)["X-Biometric-Signature"]))!)
            for bytes in [Array(raw.dropLast()), raw + [0], Array(raw[32...] + raw[..<32]), Array(repeating: 0, count: 32) + raw[32...]] {
                let answer = try await client.place(draft, headers: ["X-Biometric-Signature": Data(bytes).base64EncodedString()])
                expect(answer, isProblem: "signature_invalid", 403, outcome: "unknown")
            }
            let answer = try await client.place(draft, headers: ["X-Biometric-Signature": Data(raw).base64EncodedString()])
            #expect(answer.status == 201, "\(answer.text)")
        }

        /// r and s of a DER signature, 32 bytes each.
        private static func raw(_ der: Data) throws -> [UInt8] {
            let bytes = Array(der)
            let rLength = Int(bytes[3])
            let sLength = Int(bytes[5 + rLength])
            func whole(_ number: ArraySlice<UInt8>) -> [UInt8] {
                let significant = Array(number.drop { $0 == 0 })
                return Array(repeating: 0, count: 32 - significant.count) + significant
            }
            return whole(bytes[4..<4 + rLength]) + whole(bytes[(6 + rLength)..<(6 + rLength + sLength)])
        }

        @Test(arguments: ["X-Client-Timestamp", "X-Quote-Reference-Timestamp"])
        func `as a time is refused`(_ name: String) async throws {
            let client = try await served.client()
            for value in ["now", "-1", "1.5", "1e12", "99999999999999999999", "0x10", "2026-01-01T00:00:00Z"] {
                let answer = try await client.place(client.draft(), headers: [name: value])
                expect(answer, isProblem: "invalid_field", 400, outcome: "unknown")
                #expect(answer["field"] == name)
            }
        }

        @Test(arguments: ["Idempotency-Key", "X-Biometric-Signature", "X-Client-Timestamp", "Authorization", "Content-Type"])
        func `of a header that stands twice is refused`(_ name: String) async throws {
            let client = try await served.client()
            let draft = client.draft()
            let headers = try client.headers(draft)
            var arguments = ["http://127.0.0.1:\(served.port)/v1/trading/orders", "-d", draft.body]
            for (name, value) in headers { arguments += ["-H", "\(name): \(value)"] }
            arguments += ["-H", "\(name): \(try #require(headers[name]))"]
            let answer = try await Program.curl(arguments)
            #expect([400, 401, 415].contains(answer.status), "\(answer.head)")
            #expect(answer.body.contains("\"outcome\":\"unknown\""))
            #expect(try await served.written(client) == 0)
        }

        @Test func `in paths and queries is refused`() async throws {
            let client = try await served.client()
            let orders = "/v1/trading/orders"
            let bad: [(String, String, Int, String, String)] = [
                ("GET", "\(orders)/by-key/123e4567-e89b-42d3-a456-426614174000", 400, "invalid_field", "unknown"),
                ("POST", "\(orders)/by-key/nokey/fence", 400, "invalid_field", "unknown"),
                ("GET", "\(orders)?limit=0", 400, "invalid_field", "not_applicable"),
                ("GET", "\(orders)?limit=501", 400, "invalid_field", "not_applicable"),
                ("GET", "\(orders)?limit=ten", 400, "invalid_field", "not_applicable"),
                ("GET", "\(orders)?status=open", 400, "invalid_field", "not_applicable"),
                ("GET", "\(orders)?after=yesterday", 400, "invalid_field", "not_applicable"),
                ("GET", "\(orders)?order=asc", 400, "invalid_field", "not_applicable"),
                ("GET", "\(orders)?limit=1&limit=1", 400, "invalid_field", "not_applicable"),
                ("GET", "\(orders)?symbol=nvda", 400, "invalid_field", "not_applicable"),
                ("GET", "\(orders)?page=0", 400, "invalid_field", "not_applicable"),
                ("GET", "\(orders)?account_id=other", 403, "account_forbidden", "not_applicable"),
                ("GET", "\(orders)/ord_20260101_aaaaaaaaaaaaaaaaaaaaaaaaaa", 404, "not_found", "not_applicable"),
                ("GET", "\(orders)/ord_x", 404, "not_found", "not_applicable"), ("GET", "/v1/nothing", 404, "not_found", "not_applicable"),
                ("GET", "/", 404, "not_found", "not_applicable"), ("PUT", orders, 405, "method_not_allowed", "not_applicable"),
                ("PUT", "\(orders)/ord_x", 405, "method_not_allowed", "not_applicable"),
                ("PATCH", orders, 405, "method_not_allowed", "not_applicable"),
                ("DELETE", "/healthz", 405, "method_not_allowed", "not_applicable"),
            ]
            for (method, path, status, code, outcome) in bad {
                let answer = try await client.phone.send(method, path, port: served.port)
                expect(answer, isProblem: code, status, outcome: outcome)
                if status == 405 { #expect(answer.header("Allow")?.isEmpty == false) }
            }
        }
    }
}
