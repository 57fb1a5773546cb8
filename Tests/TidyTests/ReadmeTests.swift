import Foundation
import Testing

/// What the README says of the repository.
@Suite struct `The README` {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let text: String

    init() throws { text = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8) }

    @Test func `shows every room, in the order of the manifest`() throws {
        let manifest = try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
        let targets = manifest.matches(of: /\.(?:systemLibrary|target|executableTarget)\(\s*name: "(\w+)"/).map { String($0.1) }
        let rooms = text.split(separator: "\n").filter { $0.hasPrefix("| `") && !$0.hasPrefix("| `--") && !$0.hasPrefix("| `order_router_") }
            .flatMap { $0.split(separator: "|")[0].matches(of: /`(\w+)`/).map { String($0.1) } }
        #expect(rooms.filter(targets.contains) == targets.filter { !$0.hasSuffix("Support") })
    }

    @Test func `names files that exist`() {
        let paths = text.matches(of: /`((?:Sources|scripts|migrations)\/[A-Za-z0-9+\/._-]+\.?[a-z]*)`/).map { String($0.1) }
        #expect(paths.count >= 15)
        for path in paths where !path.contains("verb_noun") && !path.contains("….") {
            #expect(FileManager.default.fileExists(atPath: root.appending(path: path).path), "\(path)")
        }
    }
}
