import FIX
import Trading

/// What a record of the journal tells; a record holds several, all or none of which happened.
enum JournalEntry: Equatable {
    case numbers(party: String, SessionNumbers)
    /// The party's numbers began again: what was sent before cannot be asked for any more.
    case generation(party: String)
    case order(ExchangeOrder)
    case seen(String)
    case double(String)
    case request(id: String, original: String)
    case counter(Int64)
    case queued(OutboxEntry)
    case sent(party: String, entry: Int64, number: Int, sendingTime: Int64)
    case released(party: String)
    case forgotten(String)

    static func encode(_ entries: [JournalEntry]) -> [UInt8] {
        var writer = JournalWriter()
        for entry in entries { entry.write(&writer) }
        return writer.bytes
    }

    /// Nil when the bytes are not entries: the file is of another version.
    static func decode(_ bytes: [UInt8]) -> [JournalEntry]? {
        var reader = JournalReader(bytes)
        var entries: [JournalEntry] = []
        while !reader.isAtEnd {
            guard let entry = read(&reader) else { return nil }
            entries.append(entry)
        }
        return entries
    }

    private func write(_ writer: inout JournalWriter) {
        switch self {
        case .numbers(let party, let numbers):
            writer.append(1, party)
            writer.append(numbers.generation)
            writer.append(Int64(numbers.nextOut))
            writer.append(Int64(numbers.nextIn))
        case .generation(let party): writer.append(2, party)
        case .order(let order):
            writer.append(3, order.party)
            order.write(&writer)
        case .seen(let id): writer.append(4, id)
        case .double(let id): writer.append(5, id)
        case .request(let id, let original):
            writer.append(6, id)
            writer.append(original)
        case .counter(let value):
            writer.append(7, "")
            writer.append(value)
        case .queued(let entry):
            writer.append(8, entry.party)
            writer.append(entry.id)
            writer.append(entry.due)
            writer.append(entry.fault?.rawValue ?? 0)
            writer.append(entry.message.type.rawValue)
            writer.append(entry.message.bytes)
        case .sent(let party, let entry, let number, let sendingTime):
            writer.append(9, party)
            writer.append(entry)
            writer.append(Int64(number))
            writer.append(sendingTime)
        case .released(let party): writer.append(10, party)
        case .forgotten(let id): writer.append(11, id)
        }
    }

    private static func read(_ reader: inout JournalReader) -> JournalEntry? {
        guard let kind = reader.byte(), let name = reader.text() else { return nil }
        switch kind {
        case 1:
            guard let generation = reader.number(), let nextOut = reader.number(), let nextIn = reader.number() else { return nil }
            return .numbers(party: name, SessionNumbers(generation: generation, nextOut: Int(nextOut), nextIn: Int(nextIn)))
        case 2: return .generation(party: name)
        case 3: return ExchangeOrder(party: name, &reader).map { .order($0) }
        case 4: return .seen(name)
        case 5: return .double(name)
        case 6: return reader.text().map { .request(id: name, original: $0) }
        case 7: return reader.number().map { .counter($0) }
        case 8:
            guard let id = reader.number(), let due = reader.number(), let fault = reader.number(), let type = reader.text(),
                let body = reader.block()
            else { return nil }
            let message = FIXMessage(MessageType(rawValue: type), body: body)
            return .queued(OutboxEntry(id: id, party: name, message: message, due: due, fault: LineFault(rawValue: fault)))
        case 9:
            guard let entry = reader.number(), let number = reader.number(), let time = reader.number() else { return nil }
            return .sent(party: name, entry: entry, number: Int(number), sendingTime: time)
        case 10: return .released(party: name)
        case 11: return .forgotten(name)
        default: return nil
        }
    }
}

extension ExchangeOrder {
    fileprivate func write(_ writer: inout JournalWriter) {
        for text in [clOrdID, orderID, account ?? "", symbol, String(status), replacedAs ?? "", replacedFrom ?? ""] { writer.append(text) }
        for number in [Int64(side.rawValue), Int64(type.rawValue), Int64(timeInForce.rawValue), quantity] { writer.append(number) }
        // A price is above zero: zero stands for none.
        for number in [limitPrice?.units ?? 0, stopPrice?.units ?? 0, receivedAt, cumQty, turnover.units] { writer.append(number) }
        writer.append(isTriggered ? 1 : 0)
    }

    fileprivate init?(party: String, _ reader: inout JournalReader) {
        let texts = (0..<7).compactMap { _ in reader.text() }
        let numbers = (0..<10).compactMap { _ in reader.number() }
        guard texts.count == 7, numbers.count == 10, let side = Side(rawValue: Int16(truncatingIfNeeded: numbers[0])),
            let type = OrderType(rawValue: Int16(truncatingIfNeeded: numbers[1])),
            let timeInForce = TimeInForce(rawValue: Int16(truncatingIfNeeded: numbers[2])), let status = texts[4].first
        else { return nil }
        self.init(
            party: party,
            clOrdID: texts[0],
            orderID: texts[1],
            account: texts[2].isEmpty ? nil : texts[2],
            symbol: texts[3],
            side: side,
            type: type,
            timeInForce: timeInForce,
            quantity: numbers[3],
            limitPrice: numbers[4] == 0 ? nil : Amount(units: numbers[4]),
            stopPrice: numbers[5] == 0 ? nil : Amount(units: numbers[5]),
            receivedAt: numbers[6],
            status: status,
            cumQty: numbers[7],
            turnover: Amount(units: numbers[8]),
            isTriggered: numbers[9] == 1,
            replacedAs: texts[5].isEmpty ? nil : texts[5],
            replacedFrom: texts[6].isEmpty ? nil : texts[6]
        )
    }
}

/// Numbers in 8 bytes, little-endian; texts and blocks after their length.
struct JournalWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ kind: UInt8, _ name: String) {
        bytes.append(kind)
        append(name)
    }

    mutating func append(_ number: Int64) {
        for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: number >> Int64(8 * shift))) }
    }

    mutating func append(_ text: String) { append(Array(text.utf8)) }

    mutating func append(_ block: [UInt8]) {
        append(Int64(block.count))
        bytes += block
    }
}

struct JournalReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { index >= bytes.count }

    mutating func byte() -> UInt8? {
        guard index < bytes.count else { return nil }
        defer { index += 1 }
        return bytes[index]
    }

    mutating func number() -> Int64? {
        guard index + 8 <= bytes.count else { return nil }
        defer { index += 8 }
        return (0..<8).reduce(Int64(0)) { $0 | Int64(bytes[index + $1]) << Int64(8 * $1) }
    }

    mutating func block() -> [UInt8]? {
        guard let count = number(), count >= 0, count <= Int64(bytes.count - index) else { return nil }
        defer { index += Int(count) }
        return Array(bytes[index..<(index + Int(count))])
    }

    mutating func text() -> String? { block().map { String(decoding: $0, as: UTF8.self) } }
}
