/// What goes wrong with the line when one report is sent, once for each report.
package enum LineFault: Int64, CaseIterable, Sendable {
    /// The line breaks before a byte of it is written; its number is not taken.
    case breaksBefore = 1
    /// The line breaks when half of it is written.
    case breaksInside = 2
    /// The line breaks right after it.
    case breaksAfter = 3
    /// It is written with a wrong CheckSum: garbled, as if it had never come.
    case badCheckSum = 4
    /// Its number is taken and nothing is written.
    case isLost = 5
    /// It is written byte by byte.
    case isSplit = 6
    /// It is written again, with PossDupFlag=Y.
    case isRepeated = 7
    /// Logout comes before it.
    case logsOutBefore = 8
    /// ResendRequest for the last message that was received comes after it.
    case asksAgainAfter = 9
}

/// Changes to a whole frame.
enum SpoiledFrame {
    private static let delimiter: UInt8 = 1

    /// Another last digit of the CheckSum.
    static func badCheckSum(_ frame: [UInt8]) -> [UInt8] {
        var frame = frame
        let last = frame.count - 2
        frame[last] = frame[last] == 0x39 ? 0x30 : frame[last] + 1
        return frame
    }

    /// The same message once more: PossDupFlag=Y, and OrigSendingTime as it was.
    static func repeated(_ frame: [UInt8]) -> [UInt8] {
        // BeginString and BodyLength in front and CheckSum behind are made anew.
        var fields = frame.split(separator: delimiter).map { Array($0) }
        fields.removeFirst(2)
        fields.removeLast()
        var rest: [UInt8] = []
        for field in fields {
            rest += field + [delimiter]
            if field.starts(with: "34=".utf8) { rest += Array("43=Y".utf8) + [delimiter] }
            if field.starts(with: "52=".utf8) { rest += Array("122=".utf8) + field.dropFirst(3) + [delimiter] }
        }
        var whole = Array("8=FIX.4.4\u{1}9=\(rest.count)\u{1}".utf8) + rest
        let sum = String(whole.reduce(UInt8(0)) { $0 &+ $1 })
        whole += Array("10=\(String(repeating: "0", count: 3 - sum.count))\(sum)\u{1}".utf8)
        return whole
    }
}
