import Foundation
import Testing

/// The rules of this repository that a machine can check, each as one test.
@Suite struct `The repository` {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let manifest: String
    let declared: [(name: String, dependencies: Set<String>)]
    let sources: [(target: String, file: String, lines: [String])]

    init() throws {
        manifest = try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
        let pattern = /\.(?:systemLibrary|target|executableTarget|testTarget)\(\s*name: "(\w+)"(?:,\s*dependencies: \[([^\]]*)\])?/
        declared = manifest.matches(of: pattern).map { match in
            let names = (match.2 ?? "").matches(of: /"(\w+)"/).map { String($0.1) }
            return (String(match.1), Set(names))
        }
        var found: [(String, String, [String])] = []
        let base = root.appending(path: "Sources").path + "/"
        for case let path as String in FileManager.default.enumerator(atPath: base)! where path.hasSuffix(".swift") {
            let text = try String(contentsOfFile: base + path, encoding: .utf8)
            found.append((String(path.prefix { $0 != "/" }), path, text.components(separatedBy: "\n")))
        }
        sources = found
    }

    @Test func `lists each target below everything it imports`() {
        var seen: Set<String> = []
        for target in declared {
            #expect(target.dependencies.isSubset(of: seen), "\(target.name) depends on a target below it")
            seen.insert(target.name)
        }
    }

    @Test func `keeps the stations strangers to one another`() {
        let stations: Set = ["Identity", "OrderDesk", "Venue", "MarketData", "Watch"]
        for target in declared where stations.contains(target.name) {
            #expect(target.dependencies.isDisjoint(with: stations), "\(target.name) imports another station")
        }
    }

    @Test func `imports only what a target declares`() {
        let targets = Dictionary(uniqueKeysWithValues: declared.map { ($0.name, $0.dependencies) })
        for source in sources {
            for line in source.lines {
                guard let match = line.firstMatch(of: /^(?:@\w+ )?(?:(?:public|package|internal) )?import (\w+)/) else { continue }
                let imported = String(match.1)
                guard targets[imported] != nil else { continue }
                #expect(targets[source.target]?.contains(imported) == true, "\(source.file) imports \(imported)")
            }
        }
    }

    @Test(arguments: ["Trading", "Quotes", "Wire"])
    func `keeps the rules free of waiting`(_ target: String) {
        for source in sources where source.target == target {
            #expect(!source.lines.contains { $0.contains(" async") || $0.contains("await ") }, "\(source.file) waits")
        }
    }

    @Test func `keeps functions within 70 lines and files within 400`() {
        for source in sources {
            #expect(source.lines.count <= 400, "\(source.file) has \(source.lines.count) lines")
            for (start, line) in source.lines.enumerated() where line.contains(/^\s*[\w@() ]*\b(?:func |init[(?<])/) {
                let indent = line.prefix { $0 == " " }
                let end = source.lines[start...].firstIndex { $0.hasPrefix(indent + "}") } ?? start
                #expect(end - start < 70, "\(source.file):\(start + 1) is \(end - start + 1) lines long")
            }
        }
    }

    @Test func `names every SQL file in exactly one statement`() throws {
        let code = sources.filter { $0.target == "Storage" }.flatMap(\.lines).joined(separator: "\n")
        let files = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Sources/Storage/SQL").path)
        #expect(!files.isEmpty)
        for file in files {
            let name = file.replacingOccurrences(of: ".sql", with: "")
            #expect(code.components(separatedBy: "Statement(\"\(name)\")").count == 2, "\(file)")
        }
    }
}
