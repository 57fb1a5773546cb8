import Foundation
import TestSupport
import Testing

/// The simulator's lines as their users switch TLS on.
@Suite(.timeLimit(.minutes(5))) struct `The simulator's TLS` {
    @Test(arguments: [["simulate"], ["simulate", "--echo"]]) func `shows its certificate to openssl and wants one in return`(
        _ words: [String]
    ) async throws {
        let authority = try CertificateAuthority()
        let (server, client) = (try authority.sign(), try authority.sign("DNS:orders"))
        let venue = try BuiltProgram.Running(
            words + ["--listen", "127.0.0.1:0", "--tls-certificate", server.certificate, "--tls-key", server.key, "--tls-client-ca", authority.file]
        )
        defer { venue.send(SIGKILL) }
        let port = try await Self.port(of: venue)
        let common = [
            "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", authority.file, "-verify_return_error", "-verify_ip", "127.0.0.1", "-tls1_2",
        ]
        let known = try await Self.openssl(common + ["-cert", client.certificate, "-key", client.key])
        #expect(known.contains("Verify return code: 0 (ok)") && known.contains("an authority of the tests"), "\(known)")
        let unknown = try await Self.openssl(common)
        #expect(unknown.contains("alert handshake failure"), "\(unknown)")
    }

    @Test func `stops with the name of a file that cannot be used`() async throws {
        let outcome = try await BuiltProgram.run(["simulate", "--listen", "127.0.0.1:0", "--tls-certificate", "/no/c.pem", "--tls-key", "/no/k.pem"])
        #expect(outcome.status == 1 && outcome.errors.contains("/no/c.pem cannot be used"), "\(outcome)")
    }

    private static func port(of venue: BuiltProgram.Running) async throws -> UInt16 {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            if let match = venue.output.firstMatch(of: /listens on 127\.0\.0\.1:(\d+)\./), let port = UInt16(match.1) { return port }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw BuiltProgram.Failure(what: "the venue does not listen: \(venue.output)\(venue.errors)")
    }

    /// What the program says; its input ends at once, so does it.
    private static func openssl(_ arguments: [String]) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let process = Process()
                        process.executableURL = URL(filePath: "/usr/bin/env")
                        process.arguments = ["openssl"] + arguments
                        let output = Pipe()
                        (process.standardInput, process.standardOutput, process.standardError) = (FileHandle.nullDevice, output, output)
                        try process.run()
                        let said = output.fileHandleForReading.readDataToEndOfFile()
                        process.waitUntilExit()
                        return String(decoding: said, as: UTF8.self)
                    }
                )
            }
        }
    }
}
