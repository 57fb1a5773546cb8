import Foundation
import Testing

@testable import FIX

private let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Scripts").path
private let scripts = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(".fix") }.sorted()

/// Each script is one clause of the session protocol in its own words; the lines that there are stand at `Play.perform`.
@Suite struct `The session protocol` {
    @Test func `has its scripts`() {
        #expect(scripts.count >= 160)
    }

    @Test(arguments: scripts, [SessionSettings.Role.acceptor, .initiator])
    func `holds for both roles`(_ script: String, _ role: SessionSettings.Role) throws {
        let text = try String(contentsOfFile: folder + "/" + script, encoding: .utf8)
        var play = Play(role: role)
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            try play.perform(String(line))
        }
        #expect(play.written.isEmpty, "\(script): not expected: \(play.written)")
        #expect(play.deliveries.isEmpty || !text.contains("= deliver"), "\(script): not expected: \(play.deliveries)")
    }
}

/// One session under test, its store, and what it has said so far.
struct Play {
    let role: SessionSettings.Role
    var settings: SessionSettings
    var session: SessionState
    var decoder = FrameDecoder()
    /// A Monday, 14:13:20.
    var time = SessionTime(wall: 1_790_000_000_000, monotonic: 0)
    var began: Int64?
    var written: [FIXMessage] = []
    var ownLogon: FIXMessage?
    var deliveries: [Delivery] = []
    var refused: [Delivery] = []
    var events: [SessionEvent] = []
    var sent: [Int: StoredMessage] = [:]
    /// What was asked for again; served at once, or piece by piece in a script that holds it back.
    var replays = ReplayQueue()
    var holds = false
    var isBytewise = false
    var disconnected: String?

    init(role: SessionSettings.Role) {
        self.role = role
        settings = SessionSettings(role: role, senderCompID: "US", targetCompID: "THEM")
        session = SessionState(settings, numbers: SessionNumbers())
    }

    /// A line: `>` the counterparty sends, `<` the session must answer, `=` what must hold, and what else happens.
    mutating func perform(_ line: String) throws {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = words.count > 1 ? words[1] : ""
        switch words[0] {
        case "set", "numbers", "began": try prepare(words[0], rest)
        case "connect": connect()
        // The line is lost, or is closed after a goodbye.
        case "lose": lose()
        case "logon":
            receive("35=A|34=1|98=0|108=30")
            if role == .acceptor { try expect("35=A|34=1|98=0|108=30", line) }
        case ">": receive(rest)
        case "garbled": receive(rest, sumOff: 1)
        case "length":
            let parts = rest.split(separator: " ", maxSplits: 1).map(String.init)
            receive(parts[1], lengthOff: try #require(Int(parts[0])))
        case "frame": decode(encode(fields(rest).map { "\($0)=\($1)\u{1}" }.joined()))
        case "raw": decode(Array(rest.replacing("|", with: "\u{1}").utf8))
        case "bytewise": isBytewise = true
        case "<": try expect(rest, line)
        // What an initiator's own Logon, its first word in every script, must say.
        case "own": try match(rest, try #require(ownLogon, "\(line)"), line)
        case "on":
            let parts = rest.split(separator: " ", maxSplits: 2).map(String.init)
            if (parts[0] == "acceptor") == (role == .acceptor) { try perform(parts[1] + " " + parts[2]) }
        case "tick":
            let step = try #require(Int64(rest))
            time.wall += step
            time.monotonic += step
            take(session.tick(at: time))
        case "send": try send(rest)
        case "expire": try expire(rest)
        case "hold": holds = true
        case "serve": retransmitNext(try #require(Int(rest)))
        case "logout": take(session.logout(rest, at: time))
        case "=": try hold(rest, line)
        default: Issue.record("not a line of a script: \(line)")
        }
    }

    private mutating func prepare(_ what: String, _ text: String) throws {
        let words = text.split(separator: " ").map(String.init)
        switch what {
        case "numbers": return begin(SessionNumbers(nextOut: try #require(Int(words[0])), nextIn: try #require(Int(words[1]))))
        case "began":
            let before: Int64 = try #require(Int64(text))
            began = time.wall - before
        default: try set(words)
        }
        begin(session.numbers)
    }

    private mutating func set(_ words: [String]) throws {
        switch words[0] {
        case "resetOnLogon": settings.resetOnLogon = true
        case "resetOnLogout": settings.resetOnLogout = true
        case "resetOnDisconnect": settings.resetOnDisconnect = true
        case "test": settings.isTest = true
        case "nextExpected": settings.announcesNextExpected = true
        case "infinity": settings.asksToInfinity = true
        case "portion": settings.resendPortion = try #require(Int(words[1]))
        case "interval": settings.heartbeatSeconds = try #require(Int(words[1]))
        case "heartbeat": settings.heartbeatBounds = try #require(Int64(words[1]))...(try #require(Int64(words[2])))
        case "tolerance":
            let tolerance: Int64 = try #require(Int64(words[1]))
            settings.sendingTimeTolerance = tolerance
        case "hours":
            let schedule: SessionSchedule = try #require(SessionSchedule(words[1]))
            settings.schedule = schedule
        case "supported": settings.supportedTypes = Set(words.dropFirst().map { MessageType(rawValue: $0) })
        case "rules": settings.rules = words[1] == "strict" ? .strict : .lenient
        case "noUserFields": settings.rules?.allowsUserDefinedFields = false
        default: Issue.record("not a setting: \(words)")
        }
    }

    private mutating func begin(_ numbers: SessionNumbers) { session = SessionState(settings, numbers: numbers, began: began) }

    // MARK: What happens

    private mutating func connect() {
        disconnected = nil
        decoder = FrameDecoder()
        take(session.connected(at: time))
        guard role == .initiator else { return }
        // Scripts speak of the numbers of an acceptor, whose Logon is the answer: ours has taken the same number.
        ownLogon = written.removeFirst()
    }

    private mutating func lose() {
        take(session.disconnected("the line is lost", at: time))
        if let step = session.beginAgain() { take(step) }
        if session.numbers.nextOut == 1 { sent = [:] }
    }

    private mutating func send(_ text: String) throws {
        let fields = fields(text)
        var message = FIXMessage(MessageType(rawValue: try #require(fields.first { $0.0 == "35" }).1))
        for (tag, value) in fields where tag != "35" { message.append(FIXTag(rawValue: try #require(Int32(tag))), value) }
        let numbered = session.send(message, at: time.wall)
        sent[numbered.number] = StoredMessage(numbered)
        written.append(try #require(FIXMessage(frame: numbered.frame)))
    }

    private mutating func expire(_ text: String) throws {
        let message = try #require(Int(text).flatMap { sent[$0] })
        sent[message.number] = StoredMessage(
            number: message.number,
            type: message.type,
            sendingTime: message.sendingTime,
            body: message.body,
            isExpired: true
        )
    }

    private mutating func take(_ step: SessionStep) {
        written += step.frames.compactMap { FIXMessage(frame: $0) }
        deliveries += step.deliveries
        refused += step.refused
        events += step.events
        disconnected = disconnected ?? step.disconnect
        for range in step.replays { replays.add(range) }
        while !holds, replays.first != nil { retransmitNext(2) }
    }

    /// So many numbers at most.
    private mutating func retransmitNext(_ count: Int) {
        guard let range = replays.first else { return }
        let part = ReplayRange(from: range.from, through: min(range.through, range.from + count - 1))
        replays.removeFirst(through: part.through)
        take(session.retransmit(sent.values.sorted { $0.number < $1.number }, of: part, at: time))
    }

    // MARK: What the counterparty sends

    /// `@` is the time now, `@+5` and `@-5` milliseconds from it.
    private func fields(_ text: String) -> [(String, String)] {
        text.split(separator: "|").map { field in
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts[1].hasPrefix("@") else { return (parts[0], parts[1]) }
            return (parts[0], FIXTime.text(time.wall + (Int64(parts[1].dropFirst()) ?? 0)))
        }
    }

    /// Sends fields to the session, with the header that is not spelt out: `-` leaves a field out.
    private mutating func receive(_ text: String, sumOff: Int = 0, lengthOff: Int = 0) {
        var given = fields(text)
        func taken(_ tag: String, _ standard: String) -> String {
            guard let index = given.firstIndex(where: { $0.0 == tag }) else { return tag + "=" + standard + "\u{1}" }
            let value = given.remove(at: index).1
            return value == "-" ? "" : tag + "=" + value + "\u{1}"
        }
        let version = taken("8", "FIX.4.4")
        var body = taken("35", "0") + taken("34", "1") + taken("49", "THEM") + taken("56", "US") + taken("52", FIXTime.text(time.wall))
        for (tag, value) in given { body += tag + "=" + value + "\u{1}" }
        decode(encode(body, version: version, sumOff: sumOff, lengthOff: lengthOff))
    }

    private func encode(_ body: String, version: String = "8=FIX.4.4\u{1}", sumOff: Int = 0, lengthOff: Int = 0) -> [UInt8] {
        let front = version + "9=\(body.utf8.count + lengthOff)\u{1}" + body
        let sum = front.utf8.reduce(sumOff) { ($0 + Int($1)) % 256 }
        let digits = String(sum)
        return Array((front + "10=" + String(repeating: "0", count: 3 - digits.count) + digits + "\u{1}").utf8)
    }

    private mutating func decode(_ bytes: [UInt8]) {
        for part in isBytewise ? bytes.map({ [$0] }) : [bytes] {
            decoder.append(part)
            while let message = decoder.next() { take(session.received(message, at: time)) }
        }
    }

    // MARK: What must be so

    private mutating func expect(_ text: String, _ line: String) throws {
        switch text {
        case "nothing": #expect(written.isEmpty, "\(line): \(written)")
        case "disconnect":
            #expect(written.isEmpty, "\(line): \(written)")
            #expect(disconnected != nil && !session.isConnected, "\(line)")
        default:
            let message = try #require(written.first, "\(line): nothing was sent")
            written.removeFirst()
            try match(text, message, line)
        }
    }

    /// `*` is any value, `-` none.
    private func match(_ text: String, _ message: FIXMessage, _ line: String) throws {
        for field in text.split(separator: "|") {
            let parts = field.split(separator: "=", maxSplits: 1).map(String.init)
            let found = message.string(FIXTag(rawValue: try #require(Int32(parts[0]))))
            #expect(parts[1] == "*" ? found != nil : found == (parts[1] == "-" ? nil : parts[1]), "\(line): got \(message)")
        }
        // What the session itself says is beyond reproach; what is in an order is the script's.
        #expect(message.type == .newOrderSingle || message.defect(under: .strict) == nil, "\(line): not by the dictionary: \(message)")
    }

    private mutating func hold(_ text: String, _ line: String) throws {
        let words = text.split(separator: " ").map(String.init)
        switch words[0] {
        case "loggedOn": #expect(session.isLoggedOn && events.contains(.loggedOn), "\(line)")
        case "connected": #expect(session.isConnected, "\(line)")
        case "mute": #expect(session.isConnected && !session.isLoggedOn, "\(line)")
        case "test": #expect(session.counterpartyIsTest, "\(line)")
        case "nextIn": #expect(session.numbers.nextIn == Int(words[1]), "\(line): \(session.numbers)")
        case "nextOut": #expect(session.numbers.nextOut == Int(words[1]), "\(line): \(session.numbers)")
        case "generation": #expect(session.numbers.generation == Int64(words[1]), "\(line): \(session.numbers)")
        case "skipped":
            let from = try #require(Int(words[1]))
            let through = try #require(Int(words[2]))
            #expect(events.contains(.inboundSkipped(from: from, through: through)), "\(line): \(events)")
        case "lost":
            let expected = try #require(Int(words[1]))
            let received = try #require(Int(words[2]))
            #expect(events.contains(.numbersLost(expected: expected, received: received)), "\(line): \(events)")
        case "nothing": #expect(deliveries.isEmpty, "\(line): \(deliveries)")
        case "refused": #expect(refused.map(\.number).contains(try #require(Int(words[1]))), "\(line): \(refused.map(\.number))")
        case "deliver":
            let delivery = try #require(deliveries.first, "\(line): nothing was delivered")
            deliveries.removeFirst()
            #expect(delivery.number == Int(words[1]), "\(line)")
            #expect(delivery.isPossResend == (words.count > 2), "\(line)")
        default: Issue.record("not a line of a script: \(line)")
        }
    }
}
