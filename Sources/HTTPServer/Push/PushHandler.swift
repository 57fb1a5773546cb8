/// One client of a push stream or a WebSocket.
///
/// All calls come on the stream loop's thread, one at a time and never from inside a call to the connection: `opened` once, then any of the
/// others, `closed` last, exactly once. None may block: every client of the loop would wait.
package protocol PushHandler: Sendable {
    func opened(_ connection: PushConnection)
    /// A whole text message of a WebSocket's client, valid UTF-8. (Binary messages are refused with 1003.)
    func received(_ text: [UInt8], on connection: PushConnection)
    /// The kernel has taken everything that was sent; called only after it had not.
    func drained(_ connection: PushConnection)
    /// Nothing can be sent any more: the client has gone, was cut, or the end was said.
    func closed(_ connection: PushConnection)
}

extension PushHandler {
    package func received(_ text: [UInt8], on connection: PushConnection) {}
    package func drained(_ connection: PushConnection) {}
}
