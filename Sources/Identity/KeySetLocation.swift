import Foundation

/// Where an issuer publishes its JWK Set: a file, or an http or https URL.
package struct KeySetLocation: Sendable, CustomStringConvertible {
    private enum Place {
        case file(String)
        case url(URL)
    }

    private let place: Place
    package let description: String

    /// A set of a hundred large RSA keys has about 50 KB: twenty times that is no key set.
    package static let maximumBytes = 1_048_576

    /// - Parameter text: an `http://` or `https://` URL; anything without a scheme is a path.
    /// - Throws: `invalidLocation`.
    package init(_ text: String) throws(IdentityError) {
        description = text
        guard text.contains("://") else {
            guard !text.isEmpty else { throw IdentityError(.invalidLocation, "read key set", "the place of the key set is empty") }
            place = .file(text)
            return
        }
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme), url.host?.isEmpty == false
        else { throw IdentityError(.invalidLocation, "read key set", "the place of the key set is neither a path nor an http or https URL") }
        place = .url(url)
    }

    /// The bytes published there now. Runs off the caller's executor, since reading a file blocks.
    ///
    /// - Throws: `unreachable`.
    @concurrent
    func read(timeout: Duration) async throws(IdentityError) -> [UInt8] {
        switch place {
        case .file(let path): try Self.read(path: path)
        case .url(let url): try await Self.read(url: url, timeout: timeout)
        }
    }

    private static func read(path: String) throws(IdentityError) -> [UInt8] {
        guard let file = FileHandle(forReadingAtPath: path) else { throw unreachable("the file cannot be opened") }
        let data: Data
        do {
            data = try file.read(upToCount: maximumBytes + 1) ?? Data()
            try file.close()
        } catch {
            throw unreachable("the file cannot be read: \(error.localizedDescription)")
        }
        guard data.count <= maximumBytes else { throw unreachable("the file is too large") }
        return [UInt8](data)
    }

    private static func read(url: URL, timeout: Duration) async throws(IdentityError) -> [UInt8] {
        do {
            return [UInt8](try await Download.data(from: url, limitBytes: maximumBytes, timeout: timeout))
        } catch let refusal as Download.Refusal {
            throw unreachable(refusal.rawValue)
        } catch {
            throw unreachable("the server cannot be asked: \(error.localizedDescription)")
        }
    }

    private static func unreachable(_ message: String) -> IdentityError { IdentityError(.unreachable, "read key set", message) }
}
