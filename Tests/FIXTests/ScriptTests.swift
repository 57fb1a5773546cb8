import FIX
import Foundation
import Testing

private let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Scripts").path
private let scripts = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(".fix") }.sorted()

/// Each script is one clause of the session protocol in its own words: `> ` the counterparty sends, `< ` the session must answer, `= ` what
/// must hold, `#` why.
@Suite struct `The session protocol` {
    @Test func `has its scripts`() {
        #expect(scripts.count >= 40)
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
private struct Play {
    let role: SessionSettings.Role
    var session: SessionState
    var decoder = FrameDecoder()
    var time = SessionTime(wall: 1_790_000_000_000, monotonic: 0)
    var written: [FIXMessage] = []
    var deliveries: [Delivery] = []
    var events: [SessionEvent] = []
    var sent: [Int: StoredMessage] = [:]
    var disconnected: String?

    init(role: SessionSettings.Role) {
        self.role = role
        session = SessionState(SessionSettings(role: role, senderCompID: "US", targetCompID: "THEM"), numbers: SessionNumbers())
    }

    mutating func perform(_ line: String) throws {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = words.count > 1 ? words[1] : ""
        switch words[0] {
        case "connect": connect()
        case "numbers":
            let numbers = rest.split(separator: " ").compactMap { Int($0) }
            session = SessionState(session.settings, numbers: SessionNumbers(nextOut: numbers[0], nextIn: numbers[1]))
        case "logon":
            receive("35=A|34=1|98=0|108=30")
            if role == .acceptor { try expect("35=A|34=1|98=0|108=30", line) }
        case ">": receive(rest)
        case "garbled": receive(rest, garbled: true)
        case "<": try expect(rest, line)
        case "on":
            let parts = rest.split(separator: " ", maxSplits: 2).map(String.init)
            if (parts[0] == "acceptor") == (role == .acceptor) { try perform(parts[1] + " " + parts[2]) }
        case "tick":
            let step = try #require(Int64(rest))
            time.wall += step
            time.monotonic += step
            take(session.tick(at: time))
        case "send":
            let message = session.send(try #require(fields(rest)), at: time.wall)
            sent[message.number] = StoredMessage(message)
            written.append(try #require(FIXMessage(frame: message.frame)))
        case "expire":
            let message = try #require(Int(rest).flatMap { sent[$0] })
            sent[message.number] = StoredMessage(
                number: message.number,
                type: message.type,
                sendingTime: message.sendingTime,
                body: message.body,
                isExpired: true
            )
        case "logout": take(session.logout(rest, at: time))
        case "=": try hold(rest, line)
        default: Issue.record("not a line of a script: \(line)")
        }
    }

    /// An initiator's own Logon is its first word in every script.
    private mutating func connect() {
        take(session.connected(at: time))
        guard role == .initiator else { return }
        #expect(written.first?.type == .logon)
        written = Array(written.dropFirst())
        // Scripts speak of the numbers of an acceptor, whose Logon is the answer: ours has taken the same number.
    }

    private mutating func take(_ step: SessionStep) {
        written += step.frames.compactMap { FIXMessage(frame: $0) }
        deliveries += step.deliveries
        events += step.events
        disconnected = disconnected ?? step.disconnect
        for range in step.replays {
            take(session.retransmit(sent.values.sorted { $0.number < $1.number }, of: range, at: time))
        }
    }

    /// Sends fields to the session, with the header that is not spelt out: `-` leaves a field out, `@` is the time now.
    private mutating func receive(_ text: String, garbled: Bool = false) {
        var given: [(String, String)] = text.split(separator: "|").map { field in
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return (parts[0], parts[1] == "@" ? FIXTime.text(time.wall) : parts[1])
        }
        func taken(_ tag: String, _ standard: String) -> String {
            guard let index = given.firstIndex(where: { $0.0 == tag }) else { return tag + "=" + standard + "\u{1}" }
            let value = given.remove(at: index).1
            return value == "-" ? "" : tag + "=" + value + "\u{1}"
        }
        let begin = taken("8", "FIX.4.4")
        var body = taken("35", "0") + taken("34", "1") + taken("49", "THEM") + taken("56", "US") + taken("52", FIXTime.text(time.wall))
        for (tag, value) in given { body += tag + "=" + value + "\u{1}" }
        let front = begin + "9=\(body.utf8.count)\u{1}" + body
        let sum = front.utf8.reduce(0) { ($0 + Int($1)) % 256 }
        let digits = String((garbled ? sum + 1 : sum) % 256)
        decoder.append(Array((front + "10=" + String(repeating: "0", count: 3 - digits.count) + digits + "\u{1}").utf8))
        while let message = decoder.next() { take(session.received(message, at: time)) }
    }

    private func fields(_ text: String) -> FIXMessage? {
        var message: FIXMessage?
        for field in text.split(separator: "|") {
            let parts = field.split(separator: "=", maxSplits: 1).map(String.init)
            if parts[0] == "35" {
                message = FIXMessage(MessageType(rawValue: parts[1]))
            } else if let tag = Int32(parts[0]) {
                message?.append(FIXTag(rawValue: tag), parts[1])
            }
        }
        return message
    }

    private mutating func expect(_ text: String, _ line: String) throws {
        switch text {
        case "nothing": #expect(written.isEmpty, "\(line): \(written)")
        case "disconnect":
            #expect(written.isEmpty, "\(line): \(written)")
            #expect(disconnected != nil && !session.isConnected, "\(line)")
        default:
            let message = try #require(written.first, "\(line): nothing was sent")
            written.removeFirst()
            for field in text.split(separator: "|") {
                let parts = field.split(separator: "=", maxSplits: 1).map(String.init)
                let tag = FIXTag(rawValue: try #require(Int32(parts[0])))
                let found = message.string(tag)
                #expect(parts[1] == "*" ? found != nil : found == parts[1], "\(line): got \(message)")
            }
        }
    }

    private mutating func hold(_ text: String, _ line: String) throws {
        let words = text.split(separator: " ").map(String.init)
        switch words[0] {
        case "loggedOn": #expect(session.isLoggedOn && events.contains(.loggedOn), "\(line)")
        case "connected": #expect(session.isConnected, "\(line)")
        case "nextIn": #expect(session.numbers.nextIn == Int(words[1]), "\(line): \(session.numbers)")
        case "nextOut": #expect(session.numbers.nextOut == Int(words[1]), "\(line): \(session.numbers)")
        case "generation": #expect(session.numbers.generation == Int64(words[1]), "\(line): \(session.numbers)")
        case "skipped":
            let from = try #require(Int(words[1]))
            let through = try #require(Int(words[2]))
            #expect(events.contains(.inboundSkipped(from: from, through: through)), "\(line): \(events)")
        case "nothing": #expect(deliveries.isEmpty, "\(line): \(deliveries)")
        case "deliver":
            let delivery = try #require(deliveries.first, "\(line): nothing was delivered")
            deliveries.removeFirst()
            #expect(delivery.number == Int(words[1]), "\(line)")
            #expect(delivery.isPossResend == (words.count > 2), "\(line)")
        default: Issue.record("not a line of a script: \(line)")
        }
    }
}
