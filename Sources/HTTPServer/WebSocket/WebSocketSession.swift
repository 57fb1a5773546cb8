import CWslay

/// One client's side of the protocol after the handshake: bytes in, whole text messages out, and the control frames that are due.
///
/// wslay reads frames: masks, reserved bits, UTF-8, control frames, close codes. Here stand its memory's bounds: a message is gathered in one
/// buffer however many fragments it has, control frames leave in the order of their causes, and wslay's context, of 9 KB, lives only while a frame or
/// message is under way: most clients say a word at the beginning and then listen. Knows no socket. Owns wslay's context.
@safe final class WebSocketSession {
    private var context: wslay_event_context_ptr?
    private let maximumMessageBytes: Int

    /// What is being read; only inside `take`.
    private var input: UnsafeRawBufferPointer?
    private var message: [UInt8] = []
    private var isInControlFrame = false
    private var texts: [[UInt8]] = []
    private var output: [UInt8] = []

    /// Bytes given to wslay that are not a whole frame yet.
    private var unfinishedBytes = 0
    private var frameBytes = 0
    private var isInMessage = false

    init(maximumMessageBytes: Int) {
        self.maximumMessageBytes = maximumMessageBytes
    }

    /// False when memory is short.
    private func open() -> Bool {
        if unsafe context != nil { return true }
        var callbacks = wslay_event_callbacks()
        unsafe callbacks.recv_callback = { context, buffer, length, _, session in
            unsafe WebSocketSession.of(session).give(context, buffer, length)
        }
        unsafe callbacks.send_callback = { _, bytes, length, _, session in
            unsafe WebSocketSession.of(session).output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: length))
            return length
        }
        unsafe callbacks.on_frame_recv_start_callback = { _, frame, session in
            guard let frame = unsafe frame?.pointee else { return }
            unsafe WebSocketSession.of(session).begin(opcode: UInt32(frame.opcode), length: frame.payload_length, isFinal: frame.fin != 0)
        }
        unsafe callbacks.on_frame_recv_end_callback = { _, session in
            let session = unsafe WebSocketSession.of(session)
            session.unfinishedBytes -= session.frameBytes
        }
        unsafe callbacks.on_frame_recv_chunk_callback = { _, chunk, session in
            guard let chunk = unsafe chunk?.pointee else { return }
            unsafe WebSocketSession.of(session).gather(UnsafeBufferPointer(start: chunk.data, count: chunk.data_length))
        }
        unsafe callbacks.on_msg_recv_callback = { _, message, session in
            guard let message = unsafe message?.pointee else { return }
            unsafe WebSocketSession.of(session).end(opcode: UInt32(message.opcode))
        }
        let user = unsafe Unmanaged.passUnretained(self).toOpaque()
        guard unsafe wslay_event_context_server_init(&context, &callbacks, user) == 0 else { return false }
        // wslay would keep each fragment by itself: a message of empty or tiny ones would take many times its length.
        unsafe wslay_event_config_set_no_buffering(context, 1)
        return true
    }

    /// Between messages nothing has to be remembered.
    private func closeIfIdle() {
        guard unfinishedBytes == 0, !isInMessage, isReading, !isClosing else { return }
        unsafe wslay_event_context_free(context)
        unsafe context = nil
    }

    deinit {
        if let context = unsafe context { unsafe wslay_event_context_free(context) }
    }

    private static func of(_ session: UnsafeMutableRawPointer?) -> WebSocketSession {
        guard let session = unsafe session else { preconditionFailure("A callback has lost its session.") }
        return unsafe Unmanaged<WebSocketSession>.fromOpaque(session).takeUnretainedValue()
    }

    // MARK: In

    /// Takes all the bytes and returns the text messages that they end; nil when memory is short, and nothing more can be read.
    func take(_ bytes: UnsafeRawBufferPointer) -> [[UInt8]]? {
        guard open() else { return nil }
        unsafe input = unsafe bytes
        defer {
            unsafe input = nil
            texts = []
        }
        let code = unsafe wslay_event_recv(context)
        if code == WSLAY_ERR_NOMEM.rawValue { return nil }
        if code != 0 {
            isUnreadable = true
            isFaultSaid = isFaultSaid || isClosing
            isClosing = true
        }
        return texts
    }

    /// The client has sent what is not even a frame: a control frame in pieces, or a long one. wslay would close without a code then, so the
    /// close frame is made here.
    private var isUnreadable = false
    private var isFaultSaid = false

    /// False once the client has closed, or has broken a rule: what it says then is not for anybody.
    var isReading: Bool { unsafe context == nil || wslay_event_get_read_enabled(context) != 0 }

    /// A close frame of ours was queued or sent.
    private(set) var isClosing = false

    private func give(_ context: wslay_event_context_ptr?, _ buffer: UnsafeMutablePointer<UInt8>?, _ length: Int) -> Int {
        guard let bytes = unsafe input, let buffer = unsafe buffer, unsafe !bytes.isEmpty else {
            unsafe wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK.rawValue)
            return -1
        }
        let count = min(length, bytes.count)
        unsafe UnsafeMutableRawBufferPointer(start: buffer, count: count).copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        unsafe input = UnsafeRawBufferPointer(rebasing: bytes[count...])
        unfinishedBytes += count
        return count
    }

    private func begin(opcode: UInt32, length: UInt64, isFinal: Bool) {
        isInControlFrame = opcode & 8 != 0
        if opcode == WSLAY_CONNECTION_CLOSE.rawValue, length == 1 { return refuse(.protocolError) }
        if length > UInt64(maximumMessageBytes) { return refuse(.messageTooBig) }
        frameBytes = 2 + (length < 126 ? 0 : length < 65_536 ? 2 : 8) + 4 + Int(length)
        if isInControlFrame { return }
        isInMessage = !isFinal
        if opcode == WSLAY_BINARY_FRAME.rawValue { return refuse(.unsupportedData) }
        if length > UInt64(maximumMessageBytes - message.count) { refuse(.messageTooBig) }
    }

    private func gather(_ bytes: UnsafeBufferPointer<UInt8>) {
        if isInControlFrame || !isReading { return }
        unsafe message.append(contentsOf: bytes)
    }

    private func end(opcode: UInt32) {
        guard opcode == WSLAY_TEXT_FRAME.rawValue, isReading else { return }
        texts.append(message)
        message = []
    }

    private func refuse(_ code: WebSocketCloseCode) {
        close(code)
        message = []
        unsafe wslay_event_shutdown_read(context)
    }

    // MARK: Out

    /// False when memory is short.
    func ping() -> Bool {
        guard open() else { return false }
        var ping = unsafe wslay_event_msg(opcode: UInt8(WSLAY_PING.rawValue), msg: nil, msg_length: 0)
        // Refused only when a close frame is on its way, and then nothing has to be asked any more.
        unsafe _ = wslay_event_queue_msg(context, &ping)
        return true
    }

    /// Says goodbye, unless that was said already. Of the reason 122 bytes are sent (RFC 6455 section 5.5). False when memory is short.
    @discardableResult
    func close(_ code: WebSocketCloseCode, reason: String = "") -> Bool {
        if isClosing { return true }
        guard open() else { return false }
        isClosing = true
        var bytes = Array(reason.utf8.prefix(122))
        while String(validating: bytes, as: UTF8.self) == nil { bytes.removeLast() }
        // Refused only where the answer to the client's own close frame is queued: that one ends the session as well.
        unsafe _ = wslay_event_queue_close(context, code.rawValue, bytes, bytes.count)
        return true
    }

    /// The control frames that are due, whole: pongs, a ping, a close frame. Nil when memory is short.
    func takeOutput() -> [UInt8]? {
        if isUnreadable {
            defer { isFaultSaid = true }
            return isFaultSaid ? [] : [0x88, 2, 0x03, 0xEA]
        }
        if unsafe context == nil { return [] }
        if unsafe wslay_event_want_write(context) != 0, unsafe wslay_event_send(context) != 0 { return nil }
        closeIfIdle()
        defer { output = [] }
        return output
    }

    /// Both have closed, or the client broke a rule and was told so: nothing follows in either direction.
    var isOver: Bool {
        if isUnreadable { return isFaultSaid }
        return unsafe !isReading && wslay_event_get_close_sent(context) != 0
    }

    /// True when no message of ours may follow what is queued.
    var isEnding: Bool { isClosing || !isReading }
}
