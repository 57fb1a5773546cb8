import HTTPServer

extension Setting {
    /// How streams are served.
    static let streams: [Setting] = [
        Setting(
            "stream-loops",
            .number(1...64),
            \.http.streamLoops,
            .value("1"),
            "Threads that write price streams and WebSockets.",
            why: "Apart from those that answer requests, so that prices never slow orders down; one serves some ten thousand clients."
        ),
        Setting(
            "price-window",
            .time(.milliseconds(100)...(.seconds(60))),
            \.priceWindow,
            .value("500ms"),
            "A client of prices is shown what has changed once in so long.",
            why: "What an eye can follow; a busy symbol changes a thousand times as often."
        ),
        Setting(
            "stream-heartbeat",
            .duration(.seconds(1)...(.seconds(300))),
            \.http.streamHeartbeat,
            .value("15s"),
            "A comment, or a WebSocket's ping, is sent on a stream that was silent for so long.",
            why: "The published contract says 15 s: below what proxies close."
        ),
        Setting(
            "stream-buffer-bytes",
            .number(65_536...16_777_216),
            \.http.streamBufferBytes,
            .value("65536"),
            "What a stream's client may be behind by, beyond its kernel's buffer and what it was sent at once, before it is cut off.",
            why: "A hundred order events, and no less than is sent of them at once; of prices it waits for no more than one window's."
        ),
    ]
}
