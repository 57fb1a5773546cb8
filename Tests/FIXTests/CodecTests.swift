import Foundation
import Testing

@testable import FIX

/// Frames go to Python's simplefix and back: a mistake of ours about lengths, sums or raw data would have to be one of theirs too.
@Suite struct `Another codec` {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Scripts/other_codec.py").path
    private static let isInstalled = (try? python(["-c", "import simplefix"], input: ""))?.status == 0

    /// Runs Python with the packages that `scripts/install-packages tests` has put beside the build.
    private static func python(_ arguments: [String], input: String) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONPATH": root.appending(path: ".build/python").path]) { $1 }
        // A file and no pipe: nobody has to read while the other writes.
        let folder = FileManager.default.temporaryDirectory.appending(path: "other-codec-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = (input: folder.appending(path: "in"), output: folder.appending(path: "out"))
        try input.write(to: files.input, atomically: false, encoding: .utf8)
        try Data().write(to: files.output)
        process.standardInput = try FileHandle(forReadingFrom: files.input)
        let output = try FileHandle(forWritingTo: files.output)
        process.standardOutput = output
        process.standardError = output
        try process.run()
        process.waitUntilExit()
        return (process.terminationStatus, try String(contentsOf: files.output, encoding: .utf8))
    }

    private static let isWanted = isInstalled || ProcessInfo.processInfo.environment["CI"] != nil

    @Test(.enabled(if: isWanted, "Python's simplefix is missing: scripts/install-packages tests"))
    func `reads and writes messages of every type as ours does`() throws {
        var maker = MessageMaker(seed: 6)
        let frames = FIXDictionary.fix44.messageTypes.flatMap { type in (1...4).map { maker.frame(MessageType(rawValue: type), number: $0) } }
        let ran = try Self.python([Self.script], input: frames.map { Self.hex($0) + "\n" }.joined())
        try #require(ran.status == 0, "\(ran.output.suffix(2_000))")
        let lines = ran.output.split(separator: "\n")
        try #require(lines.count == frames.count && frames.count == 93 * 4)
        for (frame, line) in zip(frames, lines) {
            let sides = line.split(separator: "|").map { $0.split(separator: " ") }
            #expect(sides[1].map(String.init) == [Self.hex(frame)])
            var decoder = FrameDecoder()
            decoder.append(frame)
            let read = decoder.next()
            let message = try #require(read)
            let fields = (0..<message.fieldCount).map { index in
                let field = message.field(at: index)
                return "\(field.tag)=\(Self.hex(Array(field.value)))"
            }
            #expect(sides[0].map(String.init) == fields)
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}

/// Made messages keep the dictionary, so that each type's structure is walked from both sides.
@Suite struct `A message made by the dictionary` {
    @Test(arguments: UInt64(1)...20) func `is sound under its rules, and is not without a required field`(_ seed: UInt64) throws {
        var maker = MessageMaker(seed: seed)
        for type in FIXDictionary.fix44.messageTypes {
            let message = try #require(FIXMessage(frame: maker.frame(MessageType(rawValue: type), number: 1)))
            #expect(message.defect == nil && message.defect(under: .strict) == nil, "SEED=\(seed): \(message)")
            #expect(message.defect(under: .lenient) == nil)
            for tag in FIXDictionary.fix44.structure(of: message.type)?.required ?? [] where message.has(tag) {
                let defect = message.without(tag).defect(under: .strict)
                #expect(defect != nil, "SEED=\(seed): \(message) without \(tag)")
            }
        }
    }
}

extension FIXMessage {
    /// The message without the first field of that tag; its lengths and sums are not looked at any more.
    fileprivate func without(_ tag: FIXTag) -> FIXMessage {
        var body: [UInt8] = []
        var isGone = false
        for index in 0..<fieldCount {
            let field = field(at: index)
            if field.tag == tag, !isGone {
                isGone = true
                continue
            }
            body += Array("\(field.tag)=".utf8) + field.value + [1]
        }
        return FIXMessage(type, body: body)
    }
}

/// Messages with all that their type requires and some of what it allows, from a seed.
struct MessageMaker {
    private var generator: SeededGenerator
    private let dictionary = FIXDictionary.fix44

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func frame(_ type: MessageType, number: Int) -> [UInt8] {
        var body = FIXMessage(type)
        if let structure = dictionary.structure(of: type) { append(structure, to: &body, depth: 0) }
        let wall = Int64.random(in: 0..<4_000_000_000_000, using: &generator)
        var header = Frame.Header(type: type, senderCompID: "US", targetCompID: "THEM", number: number, sendingTime: wall)
        if number % 2 == 0 { header.origSendingTime = wall - 1 }
        return Frame.encode(header, body: body.bytes)
    }

    private mutating func append(_ structure: FIXDictionary.Structure, to body: inout FIXMessage, depth: Int) {
        var seen: Set<FIXTag> = []
        for (place, tag) in structure.order.enumerated() where !seen.contains(tag) {
            let isNeeded = structure.required.contains(tag) || (depth > 0 && place == 0)
            guard isNeeded || Int.random(in: 0..<100, using: &generator) < (depth == 0 ? 25 : 15), let format = dictionary.format(of: tag) else {
                continue
            }
            seen.insert(tag)
            if let entry = structure.entry(countedBy: tag) {
                // A field in the group that may stand behind it too belongs to the group for whoever reads: fewer entries make no difference.
                let count = depth > 2 ? 0 : Int.random(in: isNeeded ? 1...2 : 0...2, using: &generator)
                let fits = count == 0 || dictionary.values[Int(tag.rawValue)] == nil
                body.append(tag, fits ? count : 1)
                for _ in 0..<(fits ? count : 1) { append(entry, to: &body, depth: depth + 1) }
            } else if format == .length, let data = structure.order.first(where: { $0.lengthOfData == tag }) {
                let bytes = (0..<Int.random(in: 1...12, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
                body.append(tag, bytes.count)
                body.append(data, bytes: bytes)
                seen.insert(data)
            } else if format != .data {
                body.append(tag, value(of: tag, format))
            }
        }
    }

    private mutating func value(of tag: FIXTag, _ format: FieldFormat) -> String {
        if let values = Self.values[tag.rawValue] { return values.randomElement(using: &generator) ?? "" }
        let number = Int.random(in: 1...9_999, using: &generator)
        switch format {
        case .amount, .float, .percentage, .price, .priceOffset, .quantity: return "\(number).\(number)"
        case .boolean: return number % 2 == 0 ? "Y" : "N"
        case .character: return "c"
        case .country: return "US"
        case .currency: return "USD"
        case .localMarketDate, .utcDate: return FIXTime.dateText(Int64(number) * 86_400_000)
        case .monthYear: return "202603w\(number % 5 + 1)"
        case .utcTime: return "23:59:59.\(100 + number % 900)"
        case .utcTimestamp: return FIXTime.text(Int64(number) * 86_399_999)
        case .int, .length, .numberInGroup, .sequenceNumber: return "\(number)"
        case .string, .multipleValues, .exchange, .data: return "text \(number)"
        }
    }

    /// The lists of values as the table has them.
    private static let values: [Int32: [String]] = {
        var values: [Int32: [String]] = [:]
        var tag: Int32?
        for word in FIXDictionary.fix44Fields.split(whereSeparator: \.isWhitespace) {
            if word.last == ":" {
                tag = Int32(word.dropLast())
            } else if let tag {
                values[tag, default: []].append(String(word))
            }
        }
        return values
    }()
}
