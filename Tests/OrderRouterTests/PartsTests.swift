import Foundation
import OrderDesk
import TestSupport
import Testing
import Trading
import Venue

@testable import OrderRouter

@Suite struct `The wish to end` {
    @Test func `lets everybody go who waits, now and later`() async {
        let ending = EndingSignal()
        await withTaskGroup { group in
            for _ in 0..<3 { group.addTask { await ending.wait() } }
            #expect(!ending.hasCome)
            ending.come()
            await group.waitForAll()
        }
        await ending.wait()
        ending.come()
        #expect(ending.hasCome)
    }

    @Test func `lets go who is cancelled`() async {
        let ending = EndingSignal()
        let waiting = Task { await ending.wait() }
        waiting.cancel()
        await waiting.value
        #expect(!ending.hasCome)
    }
}

@Suite struct `The folder of migrations` {
    @Test func `is the one given, else here, else above the program`() throws {
        let folder = try TemporaryFolder()
        let (here, above) = (folder.path + "/here", folder.path + "/opt/app")
        for path in [here, above + "/bin/deep"] { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        let program = above + "/bin/deep/order-router"
        try Data().write(to: URL(filePath: program))
        #expect(try Migrations.folder("given", program: program, here: here) == "given")
        #expect(throws: UsageError.self) { try Migrations.folder(nil, program: program, here: here) }
        for expected in [above + "/migrations", here + "/migrations"] {
            try FileManager.default.createDirectory(atPath: expected, withIntermediateDirectories: true)
            #expect(try Migrations.folder(nil, program: program, here: here) == expected)
        }
    }
}

@Suite struct `A table of text` {
    @Test func `lines its columns up and ends no line with spaces`() {
        var table = TextTable(["asset", "amount", "note"], rightAligned: 1...1)
        table.add(["USD", "5", ""])
        table.add(["NVDA", "12345678", "x"])
        #expect(table.text == "asset    amount  note\nUSD           5\nNVDA   12345678  x\n")
    }
}

@Suite struct `A new idempotency key` {
    @Test(arguments: [0, 1_773_648_000_120, (1 << 48) - 1] as [Int64]) func `carries its time, and random bits`(_ now: Int64) {
        var random = SystemRandomNumberGenerator()
        let keys = (0..<100).map { _ in IdempotencyKey.new(at: now, using: &random) }
        #expect(keys.allSatisfy { $0.milliseconds == now })
        #expect(Set(keys).count == 100)
        let bits: UInt64 = keys.reduce(0) { $0 | $1.low }
        #expect(bits == 0xBFFF_FFFF_FFFF_FFFF)
    }
}

@Suite struct `A port` {
    @Test func `that is taken is told at once`() throws {
        // Any free one.
        try PortProbe.check("127.0.0.1", 0)
        #expect(throws: CommandFailure.self) { try PortProbe.check("localhost", 80) }
        #expect(throws: CommandFailure.self) { try PortProbe.check("203.0.113.1", 8_080) }
    }
}

@Suite struct `A crash point` {
    @Test func `is passed by whoever has none, and before its time`() {
        let none = CrashPoint(nil)
        none.at(.acceptClaimed)
        #expect(none.description == "never")
        let third = CrashPoint(.init(step: "accept-claimed", occurrence: 3))
        for _ in 0..<2 { third.at(.acceptClaimed) }
        for _ in 0..<5 { third.at(.sendCommitted) }
        #expect(third.description == "accept-claimed:3")
    }

    @Test func `ends the process at its time`() async {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            let point = CrashPoint(.init(step: "send-committed", occurrence: 2))
            for _ in 0..<2 { point.at(.sendCommitted) }
        }
    }
}
