/// Writes whole frames: header in the order 8, 9, 35, 49, 56, 34, [43], [97], 52, [122], then the body, then CheckSum.
enum Frame {
    static let beginString = "FIX.4.4"
    private static let possResend = Array("97=Y\u{1}".utf8)

    struct Header {
        let type: MessageType
        let senderCompID: String
        let targetCompID: String
        let number: Int
        let sendingTime: Int64
        /// Set on a resent message: PossDupFlag=Y and this as OrigSendingTime.
        var origSendingTime: Int64?
    }

    /// A body that begins with PossResend=Y keeps it, moved to its place in the header.
    static func encode(_ header: Header, body: [UInt8]) -> [UInt8] {
        var rest: [UInt8] = []
        rest.reserveCapacity(body.count + 128)
        rest.appendField("35=", header.type.rawValue)
        rest.appendField("49=", header.senderCompID)
        rest.appendField("56=", header.targetCompID)
        rest.append(contentsOf: "34=".utf8)
        rest.appendDecimal(Int64(header.number))
        rest.append(FIXMessage.delimiter)
        if header.origSendingTime != nil { rest.appendField("43=", "Y") }
        let resend = body.starts(with: possResend)
        if resend { rest.append(contentsOf: possResend) }
        rest.append(contentsOf: "52=".utf8)
        FIXTime.append(header.sendingTime, to: &rest)
        rest.append(FIXMessage.delimiter)
        if let original = header.origSendingTime {
            rest.append(contentsOf: "122=".utf8)
            FIXTime.append(original, to: &rest)
            rest.append(FIXMessage.delimiter)
        }
        if resend { rest.append(contentsOf: body[possResend.count...]) } else { rest.append(contentsOf: body) }
        return close(rest)
    }

    /// Puts BeginString and BodyLength before and CheckSum after what is between them.
    static func close(_ rest: [UInt8], beginString: String = beginString) -> [UInt8] {
        var frame: [UInt8] = []
        frame.reserveCapacity(rest.count + 32)
        frame.appendField("8=", beginString)
        frame.append(contentsOf: "9=".utf8)
        frame.appendDecimal(Int64(rest.count))
        frame.append(FIXMessage.delimiter)
        frame.append(contentsOf: rest)
        let sum = checkSum(frame[...])
        frame.append(contentsOf: "10=".utf8)
        frame.append(0x30 + sum / 100)
        frame.append(0x30 + sum / 10 % 10)
        frame.append(0x30 + sum % 10)
        frame.append(FIXMessage.delimiter)
        return frame
    }

    /// The sum of all bytes before the CheckSum field, modulo 256.
    static func checkSum(_ bytes: ArraySlice<UInt8>) -> UInt8 {
        bytes.reduce(0) { $0 &+ $1 }
    }
}

extension [UInt8] {
    fileprivate mutating func appendField(_ prefix: String, _ value: String) {
        append(contentsOf: prefix.utf8)
        append(contentsOf: value.utf8)
        append(FIXMessage.delimiter)
    }
}
