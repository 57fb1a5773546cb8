import Cryptography
import Foundation
import Glibc
import Synchronization
import Trading

@testable import Identity

/// A folder of the test's own, removed at its end.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "order-router-identity-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: url.appending(path: name), options: .atomic)
    }
}

/// A key with its name, and the tokens that it signs.
struct TestKey: Sendable {
    let id: String
    let key: P256PrivateKey

    init(_ id: String) throws {
        self.id = id
        key = try P256PrivateKey()
    }

    static let issuer = "https://issuer.example"
    static let audience = "order-router"
    /// 2026-03-16, in seconds.
    static let now: Int64 = 1_773_648_000

    /// A token that is good for an hour, but for the changes and the claims left out.
    func token(_ changes: [String: JOSEValue] = [:], without absent: Set<String> = []) throws -> String {
        var claims: [String: JOSEValue] = [
            "iss": .string(Self.issuer), "aud": .string(Self.audience), "sub": .string("trader-1"),
            "exp": .number(String(Self.now + 3_600)), "accounts": .array([.string("acc_1"), .string("acc_2")]),
            "scope": .string("orders:read orders:write"),
        ]
        claims.merge(changes) { $1 }
        for name in absent { claims[name] = nil }
        return try JSONWebToken.sign(claims: claims, key: key, keyID: id)
    }

    static func keySet(_ keys: [TestKey]) throws -> String {
        let members = try keys.map { key in
            let set = try JOSEValue(parsing: Array(JSONWebKeySet.json(publishing: key.key.publicKey, keyID: key.id).utf8))
            return set.object!["keys"]!.array![0]
        }
        return JOSEValue.object(["keys": .array(members)]).json
    }
}

/// Time that moves only when a test moves it.
final class ManualTime: Sendable {
    private struct Sleeper {
        let id: UUID
        let until: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var elapsed = Duration.zero
        var sleepers: [Sleeper] = []
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let start = ContinuousClock.now
    private let state = Mutex(State())

    func now() -> ContinuousClock.Instant { start + state.withLock { $0.elapsed } }

    func sleep(_ duration: Duration) async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let watchers = state.withLock { state in
                    state.sleepers.append(Sleeper(id: id, until: state.elapsed + duration, continuation: continuation))
                    defer { state.watchers = [] }
                    return state.watchers
                }
                for watcher in watchers { watcher.resume() }
                if Task.isCancelled {
                    wake {
                        $0.id == id
                    } throwing: {
                        CancellationError()
                    }
                }
            }
        } onCancel: {
            wake {
                $0.id == id
            } throwing: {
                CancellationError()
            }
        }
    }

    /// Waits until somebody sleeps; gives for how long from now.
    func sleeperAppears() async -> Duration {
        while true {
            if let sleeper = state.withLock({ state in state.sleepers.first.map { $0.until - state.elapsed } }) { return sleeper }
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    guard state.sleepers.isEmpty else { return true }
                    state.watchers.append(continuation)
                    return false
                }
                if isThere { continuation.resume() }
            }
        }
    }

    func advance(by duration: Duration) {
        let now = state.withLock { state in
            state.elapsed += duration
            return state.elapsed
        }
        wake {
            $0.until <= now
        } throwing: {
            nil
        }
    }

    private func wake(where isMeant: (Sleeper) -> Bool, throwing error: () -> (any Error)?) {
        let woken = state.withLock { state in
            let woken = state.sleepers.filter(isMeant)
            state.sleepers.removeAll(where: isMeant)
            return woken
        }
        for sleeper in woken {
            if let error = error() { sleeper.continuation.resume(throwing: error) } else { sleeper.continuation.resume() }
        }
    }
}

/// A source on manual time whose reports the test reads one by one.
final class SourceUnderTest: Sendable {
    let source: KeySetSource
    let time = ManualTime()
    private let reports: AsyncStream<KeySetSource.Report>

    init(_ place: String, settings: KeySetSource.Settings = KeySetSource.Settings()) throws {
        let (reports, continuation) = AsyncStream.makeStream(of: KeySetSource.Report.self)
        self.reports = reports
        let time = time
        source = KeySetSource(
            location: try KeySetLocation(place),
            settings: settings,
            report: { continuation.yield($0) },
            now: { time.now() },
            sleep: { try await time.sleep($0) }
        )
    }

    func nextReport() async -> KeySetSource.Report? {
        await reports.first { _ in true }
    }

    /// Runs the source beside the work, and ends it.
    func running(_ work: () async throws -> Void) async throws {
        let running = Task { [source] in try await source.run() }
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await work())
        } catch {
            outcome = .failure(error)
        }
        running.cancel()
        _ = await running.result
        try outcome.get()
    }
}

/// A small HTTP server on a port of its own: one thread, one connection at a time, one answer for all requests.
final class TinyServer: Sendable {
    enum Answer: Sendable {
        case text(status: Int, headers: String = "", body: String)
        /// Takes the request and never answers.
        case silence
    }

    let port: UInt16
    private let listener: Int32
    private let state: Mutex<(answer: Answer, requests: Int, silent: [Int32])>

    struct CannotListen: Error {}

    init(_ answer: Answer) throws {
        state = Mutex((answer, 0, []))
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let done = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, length) == 0 && listen(listener, 8) == 0 && getsockname(listener, address, &length) == 0
            }
        }
        guard done else { throw CannotListen() }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0, let self else {
                    // Closed here and not by deinit: else the number could by now be another server's listener.
                    if connection >= 0 { close(connection) }
                    close(listener)
                    return
                }
                self.answer(connection)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        for connection in state.withLock({ $0.silent }) { close(connection) }
    }

    var url: String { "http://127.0.0.1:\(port)/jwks.json" }
    var requests: Int { state.withLock { $0.requests } }

    func willAnswer(_ answer: Answer) { state.withLock { $0.answer = answer } }

    private func answer(_ connection: Int32) {
        var request: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while !request.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            let count = unsafe recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            request += buffer[..<count]
        }
        let answer = state.withLock { state in
            state.requests += 1
            if case .silence = state.answer { state.silent.append(connection) }
            return state.answer
        }
        guard case .text(let status, let headers, let body) = answer else { return }
        let text = Array("HTTP/1.1 \(status) X\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\(headers)\r\n\(body)".utf8)
        _ = unsafe send(connection, text, text.count, Int32(MSG_NOSIGNAL))
        close(connection)
    }
}
