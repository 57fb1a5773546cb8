import Foundation
import HTTPServer
import Testing

/// Python's websockets at the other end: a mistake of ours about frames or closing would have to be one of theirs too.
@Suite struct `Another WebSocket client` {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Scripts/websocket_client.py").path
    /// Where `scripts/install-packages tests` puts it.
    private static let packages = root.appending(path: ".build/python").path
    private static let isWanted =
        FileManager.default.fileExists(atPath: packages + "/websockets") || ProcessInfo.processInfo.environment["CI"] != nil

    @Test(.enabled(if: isWanted, "Python's websockets is missing: scripts/install-packages tests"))
    func `understands ours, and is understood`() async throws {
        let publisher = Publisher(received: { text, connection in
            if text == Array("end".utf8) {
                connection.end(WebSocketCloseCode(rawValue: 4000), reason: "as you wish")
            } else {
                connection.send(frames: WebSocketFrame.text(text))
            }
        })
        try await withServer(publisher.routes) { server in
            let ran = try await execute(
                "/usr/bin/env",
                ["python3", Self.script, "ws://127.0.0.1:\(server.port)/socket"],
                environment: ["PYTHONPATH": Self.packages]
            )
            #expect(ran.status == 0, "\(ran.text.suffix(2_000))")
            #expect(
                ran.text.split(separator: "\n").map(String.init) == [
                    "handshake", "text", "fragments", "ping", "close by the server", "close by the client", "1009", "1003",
                ]
            )
            try await eventually { publisher.closed == 4 && server.counters.connectionsOpen == 0 }
        }
    }
}
