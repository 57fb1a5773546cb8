/// Watches the raw bytes of a request head, because http-parser may be built without its strict checks (Debian's is).
///
/// The request line has exactly two spaces and a version; lines end in CR LF; no line continues the one before
/// (RFC 9112 sections 2.2, 3 and 5.2). Begins after the method and its space.
struct HeadLines {
    private var previous: UInt8 = 0x20
    private var isRequestLine = true
    private var hasTarget = false
    private var hasSpace = false
    private var version: [UInt8] = []

    /// Looks at bytes in the order they come.
    mutating func check(_ bytes: UnsafeRawBufferPointer) throws(RequestFault) {
        var rest = unsafe bytes
        if isRequestLine {
            let line = unsafe (bytes.firstIndex(of: 0x0A) ?? bytes.count - 1) + 1
            unsafe try checkEach(UnsafeRawBufferPointer(rebasing: bytes[..<line]))
            unsafe rest = UnsafeRawBufferPointer(rebasing: bytes[line...])
        }
        guard let last = unsafe rest.last else { return }
        if unsafe Self.isSound(rest, after: previous) { previous = last } else { try unsafe checkEach(rest) }
    }

    /// Whether header lines have no fault, without saying which: a loop that looks at all bytes alike is done in a few wide instructions.
    private static func isSound(_ bytes: UnsafeRawBufferPointer, after previous: UInt8) -> Bool {
        func isSound(_ byte: UInt8, after last: UInt8) -> Bool {
            ((byte == 0x0A) == (last == 0x0D)) && !((last == 0x0A) && ((byte == 0x20) || (byte == 0x09)))
        }
        var areSound = isSound(unsafe bytes[0], after: previous)
        for index in 1..<bytes.count { areSound = unsafe isSound(bytes[index], after: bytes[index - 1]) && areSound }
        return areSound
    }

    private mutating func checkEach(_ bytes: UnsafeRawBufferPointer) throws(RequestFault) {
        var last = previous
        for index in 0..<bytes.count {
            let byte = unsafe bytes[index]
            if (byte == 0x0A) != (last == 0x0D) { throw .malformed("A line does not end in CR LF.") }
            if isRequestLine {
                try checkRequestLine(byte)
            } else if last == 0x0A, byte == 0x20 || byte == 0x09 {
                throw .malformed("A header line is folded.")
            }
            last = byte
        }
        previous = last
    }

    private mutating func checkRequestLine(_ byte: UInt8) throws(RequestFault) {
        switch byte {
        case 0x0A:
            isRequestLine = false
            try checkVersion()
        case 0x0D: break
        case 0x20:
            guard hasTarget, !hasSpace else { throw .malformed("The request line has a space too many.") }
            hasSpace = true
        default:
            hasTarget = true
            if hasSpace {
                version.append(byte)
                if version.count > 16 { throw .malformed("The request line does not end in a version.") }
            }
        }
    }

    private func checkVersion() throws(RequestFault) {
        let isHTTP = version.starts(with: "HTTP/".utf8)
        guard isHTTP || version.isEmpty else { throw .malformed("The request line does not end in a version.") }
        // Absent in HTTP/0.9.
        guard isHTTP, version.count == 8, version[5] == UInt8(ascii: "1"), version[6] == UInt8(ascii: "."), Self.isDigit(version[7]) else {
            throw .version
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}
