import Foundation

/// A certificate authority of the tests, made by the `openssl` program, and what it signs: files in a folder of its own.
package final class CertificateAuthority: Sendable {
    private let folder: URL

    package init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "order-router-ca-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try openssl(
            ["req", "-x509"] + Self.newKey + ["-days", "2", "-subj", "/CN=an authority of the tests", "-keyout", "ca.key", "-out", "ca.pem"]
        )
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

    /// Its own certificate.
    package var file: String { path("ca.pem") }

    /// Signs a certificate for a new key.
    ///
    /// - Parameters:
    ///   - names: as openssl writes a subjectAltName, such as `DNS:localhost,IP:127.0.0.1`.
    ///   - days: how long it holds; below zero it ended so long ago.
    /// - Returns: paths of the certificate and of its key, in PEM.
    package func sign(_ names: String = "DNS:localhost,IP:127.0.0.1", days: Int = 2) throws -> (certificate: String, key: String) {
        let name = UUID().uuidString
        try openssl(
            ["req"] + Self.newKey + [
                "-subj", "/CN=of the tests", "-addext", "subjectAltName=\(names)", "-keyout", name + ".key", "-out", name + ".csr",
            ]
        )
        try openssl(
            ["x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-copy_extensions", "copy"]
                + ["-days", String(days), "-out", name + ".pem"]
        )
        return (path(name + ".pem"), path(name + ".key"))
    }

    /// The same key, behind a pass phrase.
    package func encrypted(_ key: String) throws -> String {
        try openssl(["pkey", "-in", key, "-aes128", "-passout", "pass:secret", "-out", "encrypted.key"])
        return path("encrypted.key")
    }

    private func path(_ name: String) -> String { folder.appending(path: name).path }

    private func openssl(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.currentDirectoryURL = folder
        let output = Pipe()
        (process.standardOutput, process.standardError, process.standardInput) = (output, output, FileHandle.nullDevice)
        try process.run()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(arguments: arguments, said: said) }
    }

    private struct Failed: Error {
        let arguments: [String]
        let said: String
    }
}
