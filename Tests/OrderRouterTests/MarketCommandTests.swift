import Foundation
import Quotes
import Storage
import TestSupport
import Testing
import Trading

@testable import OrderRouter

@Suite struct `A file of comma-separated values` {
    private func rows(_ text: String) throws -> [[String]] {
        try CommaSeparated("a,b\n" + text, name: "file", heading: ["a", "b"]).rows.map(\.fields)
    }

    @Test func `has fields with and without quotation marks, of one line or several`() throws {
        let given = "1,2\r\n\"a, b\",\"say \"\"no\"\"\"\n\n,\"\"\n\"two\nlines\",x"
        #expect(try rows(given) == [["1", "2"], ["a, b", "say \"no\""], ["", ""], ["two\nlines", "x"]])
        #expect(try CommaSeparated("a,b\n\"x\ny\",1\nz,2", name: "file", heading: ["a", "b"]).rows.map(\.line) == [2, 4])
        #expect(try rows("") == [])
    }

    @Test(arguments: [
        ("1", "line 2: has 1 fields"), ("1,2\n1,2,3", "line 3: has 3 fields"), ("1,a\"b", "line 2: a quotation mark"),
        ("\"a\"b,2", "line 2: a quotation mark"),
        ("1,2\n\"a,2\n", "line 3: a quoted field has no end"),
    ])
    func `is refused by its line`(_ text: String, _ words: String) {
        #expect { try rows(text) } throws: { "\($0)".contains(words) }
    }

    @Test func `begins with the heading that is expected`() {
        #expect { try CommaSeparated("b,a\n", name: "file", heading: ["a", "b"]) } throws: {
            "\($0)".contains("file, line 1: expected is the heading a,b")
        }
        #expect { try CommaSeparated("", name: "file", heading: ["a", "b"]) } throws: { "\($0)".contains("line 1") }
    }
}

@Suite struct `A file of instruments or candles` {
    @Test(arguments: [
        ("nvda,NVIDIA,XNYS", "line 2: 'nvda' is not a symbol"), ("NVDA,,XNYS", "line 2: the name"), ("NVDA,NVIDIA,", "line 2: '' is not an exchange"),
        ("NVDA,NVIDIA,XNYS\nNVDA,Again,XNYS", "line 3: NVDA stands in line 2"),
    ])
    func `names the line of an instrument that is none`(_ rows: String, _ words: String) {
        #expect { try InstrumentFile(text: "symbol,name,exchange\n" + rows, name: "file") } throws: { "\($0)".contains(words) }
    }

    @Test(arguments: [
        ("x,2026-09-16,1,1,1,1,1", "line 2: 'x' is not a symbol"), ("X,2026-09-31,1,1,1,1,1", "line 2: '2026-09-31' is not a time"),
        ("X,2026-09-16T24:00Z,1,1,1,1,1", "line 2: '2026-09-16T24:00Z'"), ("X,2026-09-16T10:00,1,1,1,1,1", "is not a time"),
        ("X,2026-09-16,1.00001,1,1,1,1", "four prices"), ("X,2026-09-16,1,1,1,1,1.5", "four prices"),
        ("X,2026-09-16,2,1,1,1,1", "do not lie in this order"),
        ("X,2026-09-16,1,1,1,1,-1", "do not lie"), ("X,2026-09-16,1,1,1,1,1\nX,2026-09-16,1,1,1,1,1", "line 3: X at 2026-09-16 stands in line 2"),
    ])
    func `names the line of a candle that is none`(_ rows: String, _ words: String) {
        #expect { try CandleFile(text: "symbol,time,open,high,low,close,volume\n" + rows, name: "file") } throws: { "\($0)".contains(words) }
    }

    @Test func `has days and minutes`() throws {
        let file = try CandleFile(
            text: "symbol,time,open,high,low,close,volume\nX,2026-09-16,1.5,2,1,1,7\nX,2026-09-16T13:30Z,1,1,1,1,1\nY,2026-09-17,1,1,1,1,1",
            name: "file"
        )
        #expect(file.days.map(\.number) == [20_712, 20_713] && file.minutes.map(\.number) == [20_712 * 1_440 + 810] && file.symbols == 2)
        #expect(file.days[0].bar == Bar(at: 0, open: 15_000, high: 20_000, low: 10_000, close: 10_000, volume: 7))
    }

    @Test func `of the demo names every symbol of the simulator`() throws {
        let listed = try InstrumentFile(text: DemoHistory.instruments, name: "demo").instruments
        #expect(listed.count == 40 && listed.allSatisfy { $0.exchange?.text == "SIM" && $0.name != $0.symbol.text })
    }
}

extension `The command order-router` {
    @Test func `loads and lists what symbols stand for, all of a file or nothing`() async throws {
        let database = try TestDatabase()
        func run(_ words: String...) async throws -> BuiltProgram.Outcome {
            try await BuiltProgram.run(words, ["ORDER_ROUTER_DATABASE_URL": database.url])
        }
        let folder = try TemporaryFolder()
        let file = folder.url("instruments.csv")
        try Data("symbol,name,exchange\nF,\"Ford Motor Company\",XNYS\nT,AT&T Inc.,XNYS\n".utf8).write(to: file)
        let loaded = try await run("instruments", "load", file.path, "--by", "ann")
        #expect(loaded.status == 0 && loaded.output == "2 instruments: 2 are new or changed.\n", "\(loaded.errors)")
        #expect(try await run("instruments", "list").output.contains("F       XNYS      Ford Motor Company\n"))
        try Data("symbol,name,exchange\nF,Changed,XNYS\nt,wrong,XNYS\n".utf8).write(to: file)
        let refused = try await run("instruments", "load", file.path)
        #expect(refused.status == 1 && refused.errors.contains("line 3: 't' is not a symbol"), "\(refused.errors)")
        #expect(try await !run("instruments", "list").output.contains("Changed"))
        #expect(try await run("instruments", "load", folder.path + "/none.csv").errors.contains("cannot be read"))
        #expect(try await run("candles", "load", file.path, "--source", "feed").status == 2)
    }

    @Test func `does not start on calendars that are wrong, and says in which line`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url("calendars.txt")
        try Data("exchange XNYS America/New_York\nhours OPEN 9:30-16:00\n".utf8).write(to: file)
        let issuer = folder.url("jwks.json")
        try Data(#"{"keys":[]}"#.utf8).write(to: issuer)
        let database = try TestDatabase()
        let outcome = try await BuiltProgram.run(
            [
                "serve", "--calendars", file.path, "--jwks", issuer.path, "--issuer", "i", "--audience", "a", "--venue", "127.0.0.1:9", "--listen",
                "127.0.0.1:0",
                "--migrations", TestDatabase.migrations,
            ],
            ["ORDER_ROUTER_DATABASE_URL": database.url]
        )
        #expect(outcome.status == 2 && outcome.errors.contains("line 2: '9:30-16:00' is not a time of the day"), "\(outcome.errors)")
    }
}
