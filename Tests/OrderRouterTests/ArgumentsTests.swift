import Testing

@testable import OrderRouter

@Suite struct `The words of a command` {
    static let command = Command(
        "try it",
        "Tries it.",
        operands: [.init("thing", "What is tried."), .init("other", isRequired: false, "What else.")],
        flags: [
            .init("name", "text", .required, "Its name."), .init("tag", "text", .repeated, "A tag."), .init("quick", .mark, "At once."),
            .init("size", "n", .optional, "How large."),
        ],
        settings: Setting.named("lanes")
    ) { _ in .ok }

    func read(_ words: String) throws(UsageError) -> Arguments {
        try Arguments(words.split(separator: " ").map { String($0) }, of: Self.command, environment: ["ORDER_ROUTER_LANES": "7"])
    }

    @Test func `are taken in any order, with the value behind a space or a sign`() throws {
        let arguments = try read("--tag a one --name=n=m --quick --tag=b two")
        #expect(arguments.operands == ["one", "two"])
        #expect(arguments.value("name") == "n=m")
        #expect(arguments.all("tag") == ["a", "b"])
        #expect(arguments.has("quick") && !arguments.has("size"))
        #expect(try arguments.setting("lanes", \.lanes) == 7)
        #expect(try read("one --name n --lanes 3").setting("lanes", \.lanes) == 3)
    }

    @Test func `are operands after two dashes`() throws {
        #expect(try read("--name n -- --odd").operands == ["--odd"])
    }

    @Test(arguments: [
        ("one", "--name is missing"), ("--name n", "<thing> is missing"), ("one two three --name n", "'three' has no place"),
        ("one --name n --name m", "--name is given twice"), ("one --name", "--name needs a value"), ("one --name --quick", "--name needs a value"),
        ("one --name n --quick=yes", "--quick takes no value"), ("one --name n --sice 3", "Is --size meant?"), ("one -n n", "begin with two dashes"),
        ("one --name n --database-url x", "has no flag --database-url"),
    ])
    func `are refused with what is wrong`(_ words: String, _ complaint: String) {
        do {
            _ = try read(words)
            Issue.record("\(words) was taken")
        } catch {
            #expect(error.message.contains(complaint), "\(error.message)")
        }
    }

    @Test func `name the flag whose value is wrong`() throws {
        let arguments = try read("one --name n --size big")
        #expect(throws: UsageError("--size is 'big': expected is a number.")) { try arguments.parsed("size", "a number", Int.init(_:)) }
        #expect(try arguments.parsed("tag", "a number", Int.init(_:)) == nil)
    }

    @Test(
        arguments: [
            ("serv", "serve"), ("migrte", "migrate"), ("verify-leger", "verify-ledger"), ("acount", nil), ("account create", "account create"),
            ("xyzzy", nil),
        ] as [(String, String?)]
    )
    func `are compared with what exists`(_ word: String, _ meant: String?) {
        #expect(nearest(to: word, among: OrderRouterCommand.all.map(\.name)) == meant)
    }

    @Test func `of every command are distinct and explained`() {
        let names = OrderRouterCommand.all.map(\.name)
        #expect(Set(names).count == names.count)
        for command in OrderRouterCommand.all {
            let help = Help.text(command)
            #expect(command.summary.hasSuffix("."), "\(command.name)")
            for flag in command.flags { #expect(help.contains("--\(flag.name)") && flag.meaning.hasSuffix("."), "\(command.name) \(flag.name)") }
            #expect(help.split(separator: "\n").allSatisfy { $0.count <= 160 }, "\(command.name)")
            #expect(ExitCode.allCases.allSatisfy { help.contains("  \($0.rawValue)  \($0.meaning)") })
        }
    }
}
