import Cryptography
import Foundation
import HTTPServer
import OrderDesk
import Postgres
import Quotes
import Storage
import Synchronization
import Trading
import Wire

/// What no order can be cheaper than: each part of the work alone, on this machine.
enum Floor {
    /// P-256 verifications of OpenSSL, one after another on one thread.
    ///
    /// - Returns: microseconds of processor time for each.
    static func verification(seconds: Double) throws -> Double {
        let key = try P256PrivateKey()
        let form = [UInt8](repeating: 0x61, count: 400)
        let signature = try key.sign(form)
        let publicKey = try P256PublicKey(spki: key.publicKey.spki)
        let begun = ThreadClock.used
        var count = 0
        while Double(ThreadClock.used - begun) < seconds * 1e9 {
            for _ in 0..<100 where try !publicKey.verify(der: signature, message: form) { throw LoadFailure("a good signature does not verify") }
            count += 100
        }
        return Double(ThreadClock.used - begun) / 1e3 / Double(count)
    }
}

/// A server that answers every POST with nothing, in a process of its own so that its processor time can be told from ours.
extension Command {
    static let emptyPost = Command(
        "empty-post",
        "Serves empty answers, for bench: what the HTTP server alone costs.",
        flags: [Flag("port", "n", .required, "Where it listens, on 127.0.0.1.")]
    ) { arguments in
        var configuration = HTTPConfiguration()
        configuration.port = UInt16(try arguments.number("port", 1...65_535) ?? 0)
        try await HTTPListener(configuration, handler: EmptyHandler()).run()
        return .ok
    }

    private struct EmptyHandler: HTTPHandler {
        func respond(to request: HTTPRequest) async -> HTTPResponse { HTTPResponse(status: 200) }
    }
}

/// Drives the empty server: as many connections as a run of orders has, each with one request under way.
struct EmptyPosts: Sendable {
    struct Result: Codable, Sendable {
        let postsPerSecond: Double
        /// Microseconds of the server's processor time.
        let cpuPerPost: Double
        /// And of ours: what the generator's own loop costs.
        let loadPerPost: Double
    }

    private static let patience: Duration = .seconds(10)

    let connections: Int
    let folder: String

    func run(seconds: Double) async throws -> Result {
        let port = try BenchTown.freePort()
        let server = try Child("/proc/self/exe", ["empty-post", "--port", String(port)], log: folder + "/empty-post.log")
        let thread = DedicatedThread(name: "load")
        let result: Result
        do {
            let watched = WatchedProcess("router", server.id)
            try await untilOpen(port, server)
            result = try await thread.run { try drive(port, watched, seconds) }
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
        return result
    }

    private func untilOpen(_ port: UInt16, _ server: Child) async throws {
        let giveUpAt = ContinuousClock.now + Self.patience
        while (try? RouterClient(host: "127.0.0.1", port: port).get("/", token: nil)) == nil {
            guard ContinuousClock.now < giveUpAt, server.isRunning else { throw LoadFailure("the empty server does not start: \(server.log)") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func drive(_ port: UInt16, _ watched: WatchedProcess, _ seconds: Double) throws -> Result {
        let request = Array("POST / HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Length: 0\r\n\r\n".utf8)
        var readiness = try Readiness()
        var sockets: [Socket] = []
        for tag in 0..<connections {
            let socket = try Socket(host: "127.0.0.1", port: port)
            readiness.add(socket, tag: tag, writing: true)
            sockets.append(socket)
        }
        let (before, used, begun) = (try ProcessUse.now([watched]), ThreadClock.used, MonotonicClock.now)
        let end = begun + Int64(seconds * 1e9)
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var count = 0
        while MonotonicClock.now < end {
            for place in 0..<readiness.wait(nanoseconds: 100_000_000) {
                let ready = readiness.ready(place)
                let socket = sockets[ready.tag]
                if ready.isWritable {
                    readiness.change(socket, tag: ready.tag, writing: false)
                } else {
                    guard case .bytes(let received) = socket.receive(into: &buffer, from: 0),
                        case .head(let head) = ResponseReader.head(buffer, 0, received), head.status == 200
                    else { throw LoadFailure("the empty server answered something else") }
                    count += 1
                }
                guard socket.send(request, from: 0) == request.count else { throw LoadFailure("the empty server does not take a request") }
            }
        }
        let elapsed = Double(MonotonicClock.now - begun) / 1e9
        let cpu = (try ProcessUse.now([watched]).cpu["router"] ?? 0) - (before.cpu["router"] ?? 0)
        return Result(
            postsPerSecond: (Double(count) / elapsed).rounded(),
            cpuPerPost: (cpu * 1e7 / Double(count)).rounded() / 10,
            loadPerPost: (Double(ThreadClock.used - used) / 1e2 / Double(count)).rounded() / 10
        )
    }
}
