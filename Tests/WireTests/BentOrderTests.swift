import Testing
import Trading
import Wire

/// The example of the contract, bent at every place: whatever comes out is a problem of the contract or an order that means what it says.
@Suite struct `A bent order` {
    private let body = Array(Example.body.utf8)
    private let formCodes: Set<ErrorCode> = [.malformedRequest, .missingHeader, .invalidField]

    private enum Result {
        case read(PlaceOrderRequest)
        case refused(Problem)
    }

    private func read(_ body: [UInt8], _ headers: PlaceOrderHeaders = Example.headers) -> Result {
        do throws(Problem) {
            return .read(try PlaceOrderRequest.read(body: body, headers: headers))
        } catch {
            return .refused(error)
        }
    }

    @Test func `cut off anywhere is malformed`() {
        for length in 0..<body.count {
            guard case .refused(let problem) = read(Array(body.prefix(length))) else {
                Issue.record("Cut at \(length) was read")
                continue
            }
            #expect(problem.code == .malformedRequest)
        }
    }

    @Test(arguments: Array("0159aZ_-.eE+\"\\,:{}[] \n\u{0}".utf8) + [0x80, 0xC3, 0xFF])
    func `with another byte anywhere is refused or means what it says`(_ byte: UInt8) throws {
        let original = try PlaceOrderRequest.read(body: body, headers: Example.headers)
        for index in body.indices where body[index] != byte {
            var bent = body
            bent[index] = byte
            switch read(bent) {
            case .read(let request):
                #expect(try PlaceOrderRequest.read(body: request.body, headers: request.headers) == request)
                let sameText = SignedForm.fingerprintText(request) == SignedForm.fingerprintText(original)
                #expect(sameText == (request == original), "byte \(byte) at \(index)")
            case .refused(let problem):
                #expect(formCodes.contains(problem.code), "byte \(byte) at \(index)")
                #expect(problem.outcome == .unknown)
                #expect(!problem.isFinal)
            }
        }
    }

    @Test func `with a byte left out or doubled is refused or means what it says`() throws {
        let original = try PlaceOrderRequest.read(body: body, headers: Example.headers)
        for index in body.indices {
            var shorter = body
            shorter.remove(at: index)
            var longer = body
            longer.insert(body[index], at: index)
            for bent in [shorter, longer] {
                guard case .read(let request) = read(bent) else { continue }
                let sameText = SignedForm.fingerprintText(request) == SignedForm.fingerprintText(original)
                #expect(sameText == (request == original), "index \(index)")
            }
        }
    }

    @Test func `with a field twice is malformed, wherever the second stands`() {
        let fields = [
            #""account_id":"acc_998124a87""#,
            #""symbol":"NVDA""#,
            #""side":"BUY""#,
            #""order_type":"LIMIT""#,
            #""limit_price":125.50"#,
            #""quantity":100"#,
            #""time_in_force":"DAY""#,
            #""estimated_total_usd":12550.00"#,
        ]
        for doubled in fields {
            for place in 0...fields.count {
                var all = fields
                all.insert(doubled, at: place)
                guard case .refused(let problem) = read(Array("{\(all.joined(separator: ","))}".utf8)) else {
                    Issue.record("Read with \(doubled) at \(place)")
                    continue
                }
                #expect(problem.code == .malformedRequest)
                #expect(problem.detail.contains("twice"))
            }
        }
    }

    @Test func `says the same in every order of its fields and with any white space`() throws {
        let original = try PlaceOrderRequest.read(body: body, headers: Example.headers)
        var fields = [
            #""account_id" : "acc_998124a87""#,
            "\"symbol\":\t\"NVDA\"",
            #""side":"BUY""#,
            #""order_type":"LIMIT""#,
            #""limit_price":"125.5""#,
            #""quantity":100"#,
            #""time_in_force":"DAY""#,
            #""estimated_total_usd":12550"#,
        ]
        for _ in fields.indices {
            fields.append(fields.removeFirst())
            let request = try PlaceOrderRequest.read(body: Array(" {\(fields.joined(separator: " ,\r\n"))}\t".utf8), headers: Example.headers)
            #expect(request == original)
        }
    }

    @Test(arguments: ["Idempotency-Key", "X-Biometric-Signature", "X-Client-Timestamp", "X-Quote-Reference-Timestamp"])
    func `with a header bent anywhere is refused or means what it says`(_ name: String) throws {
        let value: [String: String?] = [
            "Idempotency-Key": Example.headers.idempotencyKey,
            "X-Biometric-Signature": Example.headers.signature,
            "X-Client-Timestamp": Example.headers.clientTimestamp,
            "X-Quote-Reference-Timestamp": Example.headers.quoteReferenceTimestamp,
        ]
        let bytes = Array(try #require(value[name] ?? nil).utf8)
        for index in bytes.indices {
            for byte in Array("0a-,= \"".utf8) where byte != bytes[index] {
                var bent = bytes
                bent[index] = byte
                var headers = Example.headers
                switch name {
                case PlaceOrderHeaders.Name.idempotencyKey: headers.idempotencyKey = text(bent)
                case PlaceOrderHeaders.Name.signature: headers.signature = text(bent)
                case PlaceOrderHeaders.Name.clientTimestamp: headers.clientTimestamp = text(bent)
                default: headers.quoteReferenceTimestamp = text(bent)
                }
                switch read(body, headers) {
                case .read(let request): #expect(request.headers == headers, "byte \(byte) at \(index)")
                case .refused(let problem): #expect(problem.extras == field(name), "byte \(byte) at \(index)")
                }
            }
        }
    }

    @Test func `with two values of one header is refused`() {
        var headers = Example.headers
        headers.idempotencyKey = "\(Example.keyText), \(Example.keyText)"
        guard case .refused(let problem) = read(body, headers) else {
            Issue.record("Read with two keys")
            return
        }
        #expect(problem.code == .invalidField)
        #expect(problem.extras == field("Idempotency-Key"))
    }

    @Test func `of great length is refused by its length`() {
        let padded = body + Array(repeating: UInt8(ascii: " "), count: JSONLimits.request.bytes - body.count)
        guard case .read = read(padded), case .refused(let problem) = read(padded + [UInt8(ascii: " ")]) else {
            Issue.record("The limit is elsewhere")
            return
        }
        #expect(problem.code == .payloadTooLarge && problem.status == 413)
        #expect(problem.detail.contains("\(JSONLimits.request.bytes)"))
    }
}
