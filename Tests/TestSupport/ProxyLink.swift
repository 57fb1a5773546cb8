import Foundation
import Synchronization

/// One client's connection through the proxy, driven by a thread of its own.
///
/// Unchecked: `client` and `server` never change and are closed only under `isOpen`, which `shutDown` also takes; all else belongs to the
/// thread that calls `run`.
final class ProxyLink: @unchecked Sendable {
    private let client: Int32
    private let server: Int32
    private let plan: @Sendable (ArraySlice<UInt8>) -> PostgresProxy.Cut?
    private let isOpen = Mutex(true)

    private var fromClient: [UInt8] = []
    private var hasStarted = false
    /// Set once the planned message was met: how to end.
    private var ending: PostgresProxy.Cut?
    private var hasForwardedSync = false
    /// ReadyForQuery messages that the server owes: one for its greeting and for each Sync and simple query.
    private var owedReady = 1
    /// Where in the stream of the server's messages we are: the head of one, then so many bytes of its body.
    private var serverHead: [UInt8] = []
    private var serverBody = 0

    init(client: Int32, server: Int32, plan: @escaping @Sendable (ArraySlice<UInt8>) -> PostgresProxy.Cut?) {
        self.client = client
        self.server = server
        self.plan = plan
    }

    /// Breaks both connections from any thread.
    func shutDown() {
        isOpen.withLock { isOpen in
            guard isOpen else { return }
            shutdown(client, Int32(SHUT_RDWR))
            shutdown(server, Int32(SHUT_RDWR))
        }
    }

    func run() {
        var block = [UInt8](repeating: 0, count: 65_536)
        while true {
            var entries = [pollfd(fd: client, events: Int16(POLLIN), revents: 0), pollfd(fd: server, events: Int16(POLLIN), revents: 0)]
            // After a cut to silence only the client's end is awaited.
            if ending == .silenceAfterServer, isDone { entries[1].fd = -1 }
            guard unsafe poll(&entries, 2, -1) > 0 || errno == EINTR else { break }
            if entries[0].revents != 0 {
                let count = unsafe read(client, &block, block.count)
                guard count > 0, takeFromClient(block[..<count]) else { break }
            }
            if entries[1].revents != 0 {
                let count = unsafe read(server, &block, block.count)
                guard count > 0, takeFromServer(block[..<count]) else { break }
            }
        }
        isOpen.withLock { isOpen in
            isOpen = false
            close(client)
            close(server)
        }
    }

    /// Passes on whole messages; false: the connection ends here.
    private func takeFromClient(_ bytes: ArraySlice<UInt8>) -> Bool {
        fromClient += bytes
        while let message = nextMessage(of: &fromClient, hasType: hasStarted) {
            if !hasStarted {
                // Protocol 3.0; what else comes first (a wish for encryption) is answered and followed by this.
                hasStarted = message.dropFirst(4).prefix(4).elementsEqual([0, 3, 0, 0])
            } else if ending == nil, [UInt8(ascii: "B"), UInt8(ascii: "Q")].contains(message[0]) {
                ending = plan(message[...])
                if ending == .beforeServer { return false }
            }
            // Behind the end of the pipeline that is to be cut nothing goes on.
            if ending != nil && hasForwardedSync { continue }
            guard send(message, to: server) else { return false }
            if hasStarted, [UInt8(ascii: "S"), UInt8(ascii: "Q")].contains(message[0]) {
                owedReady += 1
                hasForwardedSync = ending != nil
            }
        }
        return true
    }

    private func takeFromServer(_ bytes: ArraySlice<UInt8>) -> Bool {
        countReady(bytes)
        guard ending != nil else { return send(Array(bytes), to: client) }
        return !(ending == .afterServer && isDone)
    }

    /// Whether the server has done all that it was asked, the planned message and the rest of its pipeline included.
    private var isDone: Bool { hasForwardedSync && owedReady == 0 }

    private func countReady(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while !rest.isEmpty {
            if serverBody > 0 {
                let step = min(serverBody, rest.count)
                rest = rest.dropFirst(step)
                serverBody -= step
                continue
            }
            serverHead.append(rest.removeFirst())
            guard serverHead.count == 5 else { continue }
            serverBody = serverHead[1...].reduce(0) { $0 << 8 | Int($1) } - 4
            if serverHead[0] == UInt8(ascii: "Z") { owedReady -= 1 }
            serverHead = []
        }
    }

    private func nextMessage(of buffer: inout [UInt8], hasType: Bool) -> [UInt8]? {
        let head = hasType ? 1 : 0
        guard buffer.count >= head + 4 else { return nil }
        let length = buffer[head..<(head + 4)].reduce(0) { $0 << 8 | Int($1) } + head
        guard buffer.count >= length else { return nil }
        defer { buffer.removeFirst(length) }
        return Array(buffer[..<length])
    }

    private func send(_ bytes: [UInt8], to socket: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes { unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}
