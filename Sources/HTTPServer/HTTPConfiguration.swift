/// Where the server listens, and each of its limits with the reason for its number.
package struct HTTPConfiguration: Sendable {
    /// Files in PEM form. Both are read once, at start.
    package struct TLSFiles: Sendable {
        package var certificateChain: String
        package var privateKey: String

        package init(certificateChain: String, privateKey: String) {
            self.certificateChain = certificateChain
            self.privateKey = privateKey
        }
    }

    /// An IPv4 or IPv6 address, or a name that resolves to one. Loopback by default: to be reachable is a decision.
    package var host = "127.0.0.1"

    /// 0 takes any free port; `HTTPListener.port` says which.
    package var port: UInt16 = 0

    /// Absent: plain TCP, for a proxy in front or for local use.
    package var tls: TLSFiles?

    /// Threads that serve. More than one: each has its own listening socket (SO_REUSEPORT). A request costs about 20 µs of a thread.
    package var loops = 1

    /// Threads that write pushed streams and WebSockets, so that a burst to thousands of clients delays no request. One writes some 100,000
    /// messages a second.
    package var streamLoops = 1

    /// Connections that the kernel completes while the loop is busy. A reconnect storm of a thousand clients fits.
    package var backlog: Int32 = 1024

    /// Connections in all. Below the usual hard limit of 20,000 descriptors, with room for databases and venues. Beyond it new ones wait in the backlog.
    package var maximumConnections = 16_000

    /// Connections of one address. An office behind one address fits; one host cannot take all. Beyond it: 503 and closed.
    package var maximumConnectionsPerAddress = 1024

    /// The request target. Cursors and filters need some hundred bytes; 8,000 is what RFC 9110 section 4.1 asks everyone to take. Beyond it: 414.
    package var maximumTargetBytes = 8192

    /// All header lines together. A bearer token with many accounts has 4 KB. At most `RequestParser.hardHeaderLimitBytes`. Beyond it: 431.
    package var maximumHeaderBytes = 16_384

    /// Header lines. Browsers and proxies send 20 to 40. Beyond it: 431.
    package var maximumHeaderCount = 100

    /// The body. An order has 300 bytes; a batch of some hundred of anything fits. Beyond it: 413.
    package var maximumBodyBytes = 65_536

    /// Bytes read ahead while an answer is due. Requests of one connection are handled one after another, so this bounds pipelining:
    /// the rest stays in the kernel and slows the sender down.
    package var maximumReadAheadBytes = 65_536

    /// From the first byte of a request to its last, and from the connection to the first byte. Far above a poor mobile line, and what a slow sender may hold. Then: 408.
    package var requestTimeout: Duration = .seconds(10)

    /// Between two requests. Above the 60 s after which common proxies give up, so that they close first and no request is lost in between.
    package var idleTimeout: Duration = .seconds(75)

    /// Without any progress while output waits. A client that takes nothing for so long has gone.
    package var writeTimeout: Duration = .seconds(10)

    /// After our last byte, for the client to read it and close. Closing at once could reset the connection before the answer is read.
    package var lingerTimeout: Duration = .seconds(2)

    /// How often deadlines are looked at: their precision. A pass over 10,000 connections costs less than a millisecond.
    package var sweepInterval: Duration = .seconds(1)

    /// After accept failed for want of descriptors or memory. Long enough for some connection to close, short enough not to be noticed.
    package var acceptBackOff: Duration = .milliseconds(100)

    /// Output of an event stream that the client has not taken yet, beyond what the kernel holds. A slow reader is cut, and resumes by its last event id.
    package var streamBufferBytes = 65_536

    /// The kernel's send buffer of an event stream. It would grow to megabytes, and a slow reader would be shown minutes-old prices.
    package var streamSocketBytes: Int32 = 65_536

    /// What the kernel may hold of a pushed stream without having sent it (TCP_NOTSENT_LOWAT): two windows of fifty symbols. More would be prices that are old
    /// before they leave; beyond it the client counts as behind.
    package var pushUnsentBytes: Int32 = 16_384

    /// A comment line is sent on a stream that was silent for so long, so that proxies keep it and dead clients are noticed.
    package var streamHeartbeat: Duration = .seconds(15)

    /// A text message of a WebSocket's client. A list of some thousand symbols fits. Beyond it: close code 1009.
    package var maximumMessageBytes = 65_536

    /// How long a cancelled `run()` lets pending requests finish. Below the 30 s after which orchestrators kill.
    package var stopWithin: Duration = .seconds(10)

    /// Renders an answer that the server itself must give: the status, and a sentence on why.
    ///
    /// Called on a loop's thread; must not block. By default a problem of RFC 9457 with `code` `malformed_request`
    /// (`busy` for 503, `internal_error` for 500).
    package var problem: @Sendable (_ status: Int, _ detail: String) -> HTTPResponse = HTTPResponse.problem

    package init() {}

    /// Throws `configuration` for numbers that cannot work.
    func validate() throws(HTTPError) {
        func demand(_ condition: Bool, _ message: String) throws(HTTPError) {
            guard condition else { throw HTTPError(code: .configuration, operation: "configure HTTP", message: message) }
        }
        try demand((1...64).contains(loops), "loops must be 1 to 64")
        try demand((1...64).contains(streamLoops), "stream loops must be 1 to 64")
        try demand(maximumMessageBytes > 0, "the limit of a message must be positive")
        try demand(maximumConnections > 0 && maximumConnectionsPerAddress > 0, "at least one connection must be allowed")
        try demand(maximumTargetBytes > 0 && maximumHeaderCount > 0 && maximumBodyBytes >= 0, "request limits must be positive")
        try demand(maximumHeaderBytes > 0, "the header limit must be positive")
        try demand(
            maximumHeaderBytes + maximumTargetBytes <= RequestParser.hardHeaderLimitBytes,
            "target and headers may have at most \(RequestParser.hardHeaderLimitBytes) bytes"
        )
        try demand(maximumReadAheadBytes > 0 && streamBufferBytes > 0 && streamSocketBytes > 0 && pushUnsentBytes > 0, "buffers must be positive")
        let spans = [requestTimeout, idleTimeout, writeTimeout, lingerTimeout, sweepInterval, acceptBackOff, streamHeartbeat]
        try demand(spans.allSatisfy { $0 > .zero }, "time-outs must be positive")
    }
}

extension Duration {
    /// Whole nanoseconds; what does not fit is as good as never.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 1 << 33 else { return UInt64.max / 4 }
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
}
