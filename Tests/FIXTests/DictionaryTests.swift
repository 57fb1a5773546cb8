import Foundation
import Testing

@testable import FIX

@Suite struct `The FIX 4.4 dictionary` {
    let dictionary = FIXDictionary.fix44

    @Test func `has every field and message type`() {
        #expect(dictionary.formats.compactMap(\.self).count == 912)
        #expect(dictionary.values.compactMap(\.self).count == 245)
        #expect(dictionary.messageTypes.count == 93)
    }

    private static let source = ProcessInfo.processInfo.environment["ORDER_ROUTER_TEST_FIX_DICTIONARY"]

    /// The dictionary itself is not part of this repository.
    @Test(.enabled(if: source != nil, "ORDER_ROUTER_TEST_FIX_DICTIONARY names no FIX44.xml")) func `is what it was written from`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let process = Process()
        process.executableURL = root.appending(path: "scripts/fix-dictionary")
        process.arguments = ["--check", try #require(Self.source)]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test func `knows what an order needs`() throws {
        let order = try #require(dictionary.structure(of: "D"))
        #expect(order.required.sorted { $0.rawValue < $1.rawValue } == [11, 40, 54, 60])
        #expect(order.allowed.contains(.orderQty) && order.allowed.contains(.price) && !order.allowed.contains(.execID))
        #expect(order.groups.contains { $0.count == 453 })
    }

    @Test func `knows groups within groups`() throws {
        let report = try #require(dictionary.structure(of: "8"))
        let parties = try #require(report.entry(countedBy: 453))
        #expect(parties.order == [448, 447, 452, 802])
        let sub = try #require(parties.entry(countedBy: 802))
        #expect(sub.order == [523, 803])
    }

    @Test func `requires of an optional component nothing, of a group's entries what they need`() throws {
        let request = try #require(dictionary.structure(of: "V"))
        #expect(request.required == [262, 263, 264, 267, 146])
        #expect(request.entry(countedBy: 267)?.required == [269])
        #expect(request.entry(countedBy: 146)?.order.first == .symbol)
    }

    @Test func `agrees with the header and the data fields that the codec knows`() {
        for tag in Int32(1)..<TagSet.limit {
            let tag = FIXTag(rawValue: tag)
            #expect(dictionary.header.order.contains(tag) || tag.isHop == tag.isHeader, "\(tag)")
            #expect((dictionary.format(of: tag) == .data) == (tag.lengthOfData != nil), "\(tag)")
        }
        for tag in dictionary.header.order { #expect(tag.isHeader, "\(tag)") }
        #expect(dictionary.trailer.order == [93, 89, 10])
    }

    private static let values: [(FieldFormat, [String], [String])] = [
        (.int, ["0", "-5", "007", "23"], ["-", "1.0", "+1", "1e3", " 1", "99999999999999999999"]),
        (.sequenceNumber, ["0", "12"], ["-1", "x"]), (.length, ["5"], ["-5"]), (.numberInGroup, ["0", "2"], ["-1", "two"]),
        (.price, ["1", "1.50", "-0.25", ".5", "5.", "002000.00"], [".", "-", "1.2.3", "1,5", "1e5", "--1"]),
        (.quantity, ["100", "0.5"], ["ten"]), (.boolean, ["Y", "N"], ["y", "T", "YN"]), (.character, ["a", "7"], ["ab"]),
        (.country, ["US"], ["USA", "U1"]), (.currency, ["USD"], ["US", "U$D"]), (.string, ["any thing"], []),
        (.utcTimestamp, ["20260316-08:00:00", "20260316-08:00:00.123"], ["20260316", "20260316-8:00:00", "20261316-08:00:00"]),
        (.utcTime, ["08:00:00", "23:59:60", "08:00:00.5"], ["24:00:00", "8:00", "08:00:00."]),
        (.utcDate, ["20260228"], ["20260229", "2026-02-28", "202602"]), (.localMarketDate, ["20240229"], ["0"]),
        (.monthYear, ["202603", "20260331", "202603w2"], ["202613", "202603w6", "2026", "20260332"]),
    ]

    @Test(arguments: values.indices) func `tells values of each type from others`(_ index: Int) {
        let (format, good, bad) = Self.values[index]
        for text in good { #expect(format.accepts(Array("x\(text)y".utf8), 1..<(1 + text.utf8.count)), "\(format): \(text)") }
        for text in bad { #expect(!format.accepts(Array("x\(text)y".utf8), 1..<(1 + text.utf8.count)), "\(format): \(text)") }
    }

    @Test func `survives any message`() {
        var generator = SeededGenerator(seed: 44)
        let tags: [Int32] = [
            8, 9, 35, 49, 56, 34, 52, 10, 453, 448, 447, 452, 802, 523, 803, 268, 269, 270, 55, 54, 354, 355, 93, 89, 999, 5_000, 1_023,
        ]
        for _ in 0..<3_000 {
            var message = FIXMessage(["8", "D", "W", "V", "A", "U1"].randomElement(using: &generator) ?? "8")
            for _ in 0..<Int.random(in: 1...20, using: &generator) {
                message.append(
                    FIXTag(rawValue: tags.randomElement(using: &generator) ?? 1),
                    ["0", "1", "2", "x"].randomElement(using: &generator) ?? ""
                )
            }
            // None has all that a header needs.
            #expect(message.defect(under: .strict) != nil)
            _ = message.defect(under: .lenient)
        }
    }
}

@Suite struct `A session's schedule` {
    private func wall(_ text: String) throws -> Int64 { try #require(FIXTime.milliseconds(Array(text.utf8))) }

    @Test func `opens and closes by day and hour`() throws {
        let schedule = try #require(SessionSchedule("13:30-20:00/mon-fri"))
        // 2026-09-21 is a Monday.
        #expect(schedule.opening(at: try wall("20260921-13:29:59.999")) == nil)
        #expect(schedule.opening(at: try wall("20260921-13:30:00")) == (try wall("20260921-13:30:00")))
        #expect(schedule.opening(at: try wall("20260921-19:59:59.999")) != nil)
        #expect(schedule.opening(at: try wall("20260921-20:00:00")) == nil)
        #expect(schedule.opening(at: try wall("20260926-15:00:00")) == nil)
    }

    @Test func `passes midnight with the day on which it opened`() throws {
        let schedule = try #require(SessionSchedule("22:00-21:00/sun-thu"))
        #expect(schedule.opening(at: try wall("20260921-03:00:00")) == (try wall("20260920-22:00:00")))
        #expect(schedule.opening(at: try wall("20260921-21:30:00")) == nil)
        #expect(schedule.opening(at: try wall("20260925-20:59:59")) == (try wall("20260924-22:00:00")))
        #expect(schedule.opening(at: try wall("20260925-22:30:00")) == nil)
        #expect(schedule.opening(at: -1) != nil)
    }

    @Test func `lasts a day when it closes as it opens`() throws {
        let schedule = try #require(SessionSchedule("17:00-17:00"))
        #expect(schedule.opening(at: try wall("20260921-16:59:59.999")) == (try wall("20260920-17:00:00")))
        #expect(schedule.opening(at: try wall("20260921-17:00:00")) == (try wall("20260921-17:00:00")))
    }

    @Test(arguments: [
        "", "8:00-17:00", "08:00", "08:00-24:00", "08:00-17:60", "08:00-17:00/", "08:00-17:00/mo", "08:00-17:00/mon-tue-wed", "08:00-17:00/mon/tue",
    ])
    func `is not read from anything else`(_ text: String) {
        #expect(SessionSchedule(text) == nil)
    }

    @Test func `takes days as a list and across the week's end`() {
        #expect(SessionSchedule("08:00-09:00/mon,wed,fri")?.days == [0, 2, 4])
        #expect(SessionSchedule("08:00-09:00/fri-mon")?.days == [4, 5, 6, 0])
        #expect(SessionSchedule("08:00-09:00")?.days == Set(0...6))
    }
}

@Suite struct `What is to be resent` {
    @Test func `stays bounded whatever is asked for, and holds all of it`() {
        var queue = ReplayQueue()
        for number in stride(from: 2, through: 20_000, by: 2) { queue.add(ReplayRange(from: number, through: number)) }
        var parts = 0
        var sent: Set<Int> = []
        while let range = queue.first {
            // Half of it, and the rest.
            let half = (range.from + range.through) / 2
            queue.removeFirst(through: half)
            if half < range.through {
                #expect(queue.first == ReplayRange(from: half + 1, through: range.through))
                queue.removeFirst(through: range.through)
            }
            parts += 1
            sent.formUnion(range.from...range.through)
        }
        #expect(parts == ReplayQueue.capacity)
        #expect(stride(from: 2, through: 20_000, by: 2).allSatisfy { sent.contains($0) })
    }
}
