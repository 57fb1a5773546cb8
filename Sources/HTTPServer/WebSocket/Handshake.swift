import COpenSSL

/// What a request says of the opening handshake of a WebSocket (RFC 6455 section 4.2.1).
package enum WebSocketHandshake: Sendable, Equatable {
    /// A proper one. `accept` is what the answer's Sec-WebSocket-Accept must be.
    case proper(accept: String)
    /// None that can be answered with 101: 426 where another protocol or version is spoken, 400 where a field is malformed.
    case refused(status: Int, detail: String)
}

extension HTTPRequest {
    /// Whether this request may be answered with `HTTPResponse.webSocket`, and why not.
    package var webSocketHandshake: WebSocketHandshake {
        guard !isVersion10, headers.tokens("upgrade").contains(where: { $0.lowercased() == "websocket" }) else {
            return .refused(status: 426, detail: "This is a WebSocket: Upgrade must name websocket.")
        }
        guard headers.tokens("connection").contains(where: { $0.lowercased() == "upgrade" }) else {
            return .refused(status: 400, detail: "Connection must name Upgrade.")
        }
        guard method == .get, body.isEmpty else {
            return .refused(status: 400, detail: "The opening handshake is a GET without a body.")
        }
        let version = headers.single("sec-websocket-version")
        guard version.count == 1, version.value.elementsEqual("13".utf8) else {
            return .refused(status: 426, detail: "Sec-WebSocket-Version must be 13.")
        }
        let key = headers.single("sec-websocket-key")
        guard key.count == 1, Self.isKey(key.value) else {
            return .refused(status: 400, detail: "Sec-WebSocket-Key must be 16 bytes in base64, once.")
        }
        return .proper(accept: Self.accept(key.value))
    }

    /// 16 bytes in base64: 22 characters and two signs of padding.
    private static func isKey(_ key: ArraySlice<UInt8>) -> Bool {
        guard key.count == 24, key.suffix(2).elementsEqual("==".utf8) else { return false }
        return key.dropLast(2).allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2F: true
            default: false
            }
        }
    }

    /// Base64 of SHA-1 of the key and the fixed text of RFC 6455 section 4.2.2. SHA-1 protects nothing here: it shows that the key was understood.
    private static func accept(_ key: ArraySlice<UInt8>) -> String {
        let text = Array(key) + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        let code = unsafe EVP_Digest(text, text.count, &digest, nil, EVP_sha1(), nil)
        precondition(code == 1, "SHA-1 is a part of every OpenSSL.")
        var coded = [UInt8](repeating: 0, count: 29)  // 28 characters and a NUL.
        let count = unsafe EVP_EncodeBlock(&coded, digest, Int32(digest.count))
        return String(decoding: coded.prefix(Int(count)), as: UTF8.self)
    }
}

extension HTTPHeaders {
    /// The members of a comma-separated list, over all fields of this name, without the empty ones (RFC 9110 section 5.6.1).
    package func tokens(_ name: String) -> [String] {
        all(name).flatMap { value in
            value.split(separator: ",").map { part in
                let kept = part.utf8.drop { $0 == 0x20 || $0 == 0x09 }
                let end = kept.lastIndex { $0 != 0x20 && $0 != 0x09 }
                return end.map { String(kept[...$0]) ?? "" } ?? ""
            }
        }
        .filter { !$0.isEmpty }
    }
}

extension HTTPResponse {
    /// The answer of RFC 6455 section 4.2.2, after which `push` has the connection. Where the request is no proper handshake the client is
    /// told so instead, and `push` is not used. `subprotocol` must be one that the client has offered in Sec-WebSocket-Protocol.
    package static func webSocket(_ push: any PushHandler, subprotocol: String? = nil) -> HTTPResponse {
        HTTPResponse(status: 101, headers: subprotocol.map { [("Sec-WebSocket-Protocol", $0)] } ?? [], body: .webSocket(push))
    }

    /// Server-sent events that `push` writes from a stream loop.
    package static func pushed(_ push: any PushHandler) -> HTTPResponse {
        HTTPResponse(status: 200, body: .pushed(push))
    }
}
