/// Frames of a WebSocket as a server sends them (RFC 6455 section 5.2): not masked, so that one frame serves every client.
package enum WebSocketFrame {
    /// No header of ours is longer: two bytes, and eight for the length.
    static let maximumHeaderBytes = 10

    /// A text message in one frame. `text` must be UTF-8.
    package static func text(_ text: [UInt8]) -> [UInt8] {
        var frame: [UInt8] = []
        frame.reserveCapacity(text.count + maximumHeaderBytes)
        append(text: text, to: &frame)
        return frame
    }

    /// The same behind what `output` has already: several messages then leave in one write.
    package static func append(text: [UInt8], to output: inout [UInt8]) {
        appendHeader(length: text.count, to: &output)
        output.append(contentsOf: text)
    }

    /// A final text frame's header: FIN and opcode 1, then the length in its shortest form.
    static func appendHeader(length: Int, to output: inout [UInt8]) {
        output.append(0x81)
        switch length {
        case ..<126: output.append(UInt8(length))
        case ..<65_536:
            output.append(126)
            output.append(UInt8(length >> 8))
            output.append(UInt8(length & 0xFF))
        default:
            output.append(127)
            for shift in stride(from: 56, through: 0, by: -8) { output.append(UInt8(truncatingIfNeeded: length >> shift)) }
        }
    }
}

/// Why a WebSocket ends, as its close frame says (RFC 6455 section 7.4).
package struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let normal = Self(rawValue: 1000)
    /// The server stops; come back.
    package static let goingAway = Self(rawValue: 1001)
    package static let protocolError = Self(rawValue: 1002)
    package static let unsupportedData = Self(rawValue: 1003)
    package static let policyViolation = Self(rawValue: 1008)
    package static let messageTooBig = Self(rawValue: 1009)
    package static let internalError = Self(rawValue: 1011)
    package static let tryAgainLater = Self(rawValue: 1013)
}
