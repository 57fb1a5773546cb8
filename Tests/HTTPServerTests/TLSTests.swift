import Foundation
import HTTPServer
import Testing

/// Gives `body` a certificate for localhost and its key, made by the openssl program.
func withCertificate(_ body: (HTTPConfiguration.TLSFiles) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "http-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let files = HTTPConfiguration.TLSFiles(
        certificateChain: directory.appending(path: "cert.pem").path,
        privateKey: directory.appending(path: "key.pem").path
    )
    let output = try await execute(
        "/usr/bin/openssl",
        [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", files.privateKey, "-out", files.certificateChain,
        ]
    )
    guard output.status == 0 else { throw ClientFailure(description: output.text) }
    try await body(files)
}

/// Runs a program to its end.
func execute(
    _ program: String,
    _ arguments: [String],
    input: String = "",
    environment: [String: String] = [:]
) async throws -> (status: Int32, text: String) {
    let (status, output) = try await execute(program, arguments, bytes: Array(input.utf8), environment: environment)
    return (status, String(decoding: output, as: UTF8.self))
}

/// The same for programs that do not speak in text.
func execute(
    _ program: String,
    _ arguments: [String],
    bytes: [UInt8],
    environment: [String: String] = [:]
) async throws -> (status: Int32, output: [UInt8]) {
    try await blocking {
        let process = Process()
        let (output, stdin) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = output
        process.standardInput = stdin
        try process.run()
        // The program's output is read at the same time, or both could wait for each other.
        let writing = Thread {
            try? stdin.fileHandleForWriting.write(contentsOf: bytes)
            try? stdin.fileHandleForWriting.close()
        }
        writing.start()
        let written = Array(output.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        return (process.terminationStatus, written)
    }
}

@Suite struct `Over TLS` {
    @Test func `curl gets answers, and a large body by and by`() async throws {
        try await withCertificate { files in
            let handler = Answering { request in
                if request.path == "/large" { return HTTPResponse(status: 200, body: .bytes([UInt8](repeating: 0x61, count: 3 << 20))) }
                return await Answering.echo.respond(to: request)
            }
            try await withServer(
                handler,
                configure: { $0.tls = files },
                { server in
                    let base = "https://localhost:\(server.port)"
                    let common = ["-sS", "--max-time", "20", "--cacert", files.certificateChain]
                    let post = try await execute("/usr/bin/curl", common + ["-i", "-d", "hello", "\(base)/a?b=c", "\(base)/second"])
                    #expect(post.status == 0)
                    #expect(post.text.contains("HTTP/1.1 200 OK"))
                    #expect(post.text.contains("POST /a [b=c] hello"))
                    #expect(post.text.contains("POST /second [] hello"))
                    #expect(server.counters.connectionsAccepted == 1)
                    let large = try await execute("/usr/bin/curl", common + ["-o", "/dev/null", "-w", "%{size_download}", "\(base)/large"])
                    #expect(large.text == String(3 << 20))
                }
            )
        }
    }

    @Test func `an event stream arrives and ends cleanly`() async throws {
        try await withCertificate { files in
            let handler = Answering { _ in
                .eventStream { writer in
                    for number in 0..<3 {
                        try? writer.send(Array("data: \(number)\n\n".utf8))
                        try? await writer.drained()
                    }
                }
            }
            try await withServer(
                handler,
                configure: { $0.tls = files },
                { server in
                    let result = try await execute(
                        "/usr/bin/curl",
                        ["-sSN", "--max-time", "20", "--cacert", files.certificateChain, "https://localhost:\(server.port)/"]
                    )
                    #expect(result.status == 0)
                    #expect(result.text == "data: 0\n\ndata: 1\n\ndata: 2\n\n")
                }
            )
        }
    }

    @Test(arguments: [("-tls1_1", false), ("-tls1_2", true), ("-tls1_3", true)])
    func `only 1.2 and later are spoken`(_ version: String, _ isSpoken: Bool) async throws {
        try await withCertificate { files in
            try await withServer(
                configure: { $0.tls = files },
                { server in
                    let result = try await execute(
                        "/usr/bin/openssl",
                        ["s_client", version, "-cipher", "DEFAULT:@SECLEVEL=0", "-quiet", "-ign_eof", "-connect", "127.0.0.1:\(server.port)"],
                        input: "GET /x HTTP/1.0\r\n\r\n"
                    )
                    #expect(result.text.contains("GET /x []") == isSpoken, "\(result.text)")
                }
            )
        }
    }

    @Test func `more pipelined requests than are read ahead are all answered`() async throws {
        let handler = Answering { request in
            await Task.yield()
            return await Answering.echo.respond(to: request)
        }
        try await withCertificate { files in
            try await withServer(
                handler,
                configure: {
                    $0.tls = files
                    $0.maximumReadAheadBytes = 4096
                },
                { server in
                    let many = (0..<3000).map { "GET /\($0) HTTP/1.1\r\nHost: localhost\r\n\r\n" }.joined()
                    let result = try await execute(
                        "/usr/bin/openssl",
                        ["s_client", "-quiet", "-ign_eof", "-connect", "127.0.0.1:\(server.port)"],
                        input: many + "GET /end HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                    )
                    #expect(result.text.contains("GET /2999 [] "))
                    #expect(result.text.contains("GET /end [] "))
                    #expect(server.counters.requests == 3001)
                }
            )
        }
    }

    @Test func `a refusal can be read`() async throws {
        try await withCertificate { files in
            try await withServer(
                configure: { $0.tls = files },
                { server in
                    let result = try await execute(
                        "/usr/bin/curl",
                        [
                            "-sS", "--max-time", "20", "--cacert", files.certificateChain, "-H", "Expect:", "--data-binary", "@-",
                            "https://localhost:\(server.port)/",
                        ],
                        input: String(repeating: "a", count: 300_000)
                    )
                    #expect(result.text.contains("\"status\":413"), "\(result.text)")
                }
            )
        }
    }

    @Test func `a client that speaks plainly is dropped, and one that is silent too`() async throws {
        try await withCertificate { files in
            try await withServer(
                configure: {
                    $0.tls = files
                    $0.requestTimeout = .milliseconds(50)
                    $0.sweepInterval = .milliseconds(10)
                },
                { server in
                    try await blocking {
                        let plain = try RawClient(server)
                        try plain.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                        // An alert and the end, or a reset.
                        let words = (try? plain.readToEnd()) ?? []
                        #expect(!String(decoding: words, as: UTF8.self).contains("HTTP/1.1"))
                        #expect(try RawClient(server).readToEnd().isEmpty)
                    }
                    #expect(server.counters.requests == 0)
                    try await eventually { server.counters.connectionsOpen == 0 }
                }
            )
        }
    }

    @Test func `a file that cannot be used is named at start`() async throws {
        try await withCertificate { one in
            try await withCertificate { other in
                func message(_ certificate: String, _ key: String) -> String {
                    var configuration = HTTPConfiguration()
                    configuration.tls = HTTPConfiguration.TLSFiles(certificateChain: certificate, privateKey: key)
                    do {
                        _ = try HTTPListener(configuration, handler: Answering.echo)
                        return "nothing"
                    } catch {
                        #expect(error.code == .tls)
                        return error.message
                    }
                }
                #expect(message("/no/cert.pem", one.privateKey).contains("/no/cert.pem"))
                #expect(message(one.certificateChain, "/no/key.pem").contains("/no/key.pem"))
                #expect(message(one.privateKey, one.privateKey).contains(one.privateKey))
                #expect(message(one.certificateChain, other.privateKey).contains(other.privateKey))
            }
        }
    }
}
