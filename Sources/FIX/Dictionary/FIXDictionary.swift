/// A set of field numbers below 1,024: FIX 4.4 defines 956. Beyond are the users' own, which are in no set.
struct TagSet: Sendable {
    private var words = InlineArray<16, UInt64>(repeating: 0)

    static let limit: Int32 = 1_024

    func contains(_ tag: FIXTag) -> Bool {
        tag.rawValue >= 0 && tag.rawValue < Self.limit && words[Int(tag.rawValue >> 6)] & (1 << UInt64(tag.rawValue & 63)) != 0
    }

    mutating func insert(_ tag: FIXTag) {
        precondition(tag.rawValue >= 0 && tag.rawValue < Self.limit, "Only fields of FIX 4.4 are put into a set.")
        words[Int(tag.rawValue >> 6)] |= 1 << UInt64(tag.rawValue & 63)
    }

    func union(_ other: TagSet) -> TagSet {
        var all = self
        for index in words.indices { all.words[index] |= other.words[index] }
        return all
    }
}

/// What FIX 4.4 says of fields and messages, as far as the engine checks it. Read once from the tables beside this file.
final class FIXDictionary: Sendable {
    /// The fields of a message, or of one entry of a repeating group. An object, so that a check need not copy it.
    final class Structure: Sendable {
        let allowed: TagSet
        let required: [FIXTag]
        /// All fields in the dictionary's order; the first one begins each entry of a group.
        let order: [FIXTag]
        /// Counting fields with their entries.
        let groups: [(count: FIXTag, entry: Structure)]
        private let counts: TagSet

        fileprivate init(_ draft: Draft) {
            (allowed, required, order, groups) = (draft.allowed, draft.required, draft.order, draft.groups)
            var counts = TagSet()
            for group in draft.groups { counts.insert(group.count) }
            self.counts = counts
        }

        func entry(countedBy tag: FIXTag) -> Structure? { counts.contains(tag) ? groups.first { $0.count == tag }?.entry : nil }
    }

    /// A structure while it is read.
    fileprivate struct Draft {
        var allowed = TagSet()
        var required: [FIXTag] = []
        var order: [FIXTag] = []
        var groups: [(count: FIXTag, entry: Structure)] = []
    }

    static let fix44 = FIXDictionary(fields: fix44Fields, messages: fix44Messages)

    /// By field number; nil = not a field of FIX 4.4.
    let formats: [FieldFormat?]
    /// By field number; nil = any value.
    let values: [FieldValues?]
    let header: Structure
    let trailer: Structure
    private let messages: [String: Structure]

    /// The message types that there are.
    var messageTypes: [String] { messages.keys.sorted() }

    /// Nil for a type that FIX 4.4 does not have.
    func structure(of type: MessageType) -> Structure? { messages[type.rawValue] }

    func format(of tag: FIXTag) -> FieldFormat? { tag.rawValue < TagSet.limit ? formats[Int(tag.rawValue)] : nil }

    /// - Precondition: the texts are tables as `scripts/fix-dictionary` writes them.
    init(fields: String, messages text: String) {
        var formats = [FieldFormat?](repeating: nil, count: Int(TagSet.limit))
        var values = [FieldValues?](repeating: nil, count: Int(TagSet.limit))
        for (name, words) in Self.records(fields) {
            if let tag = Int(name) {
                values[tag] = FieldValues(words)
            } else {
                guard let format = FieldFormat(rawValue: name) else { preconditionFailure("\(name) is a type of FIX 4.4.") }
                for word in words { formats[Self.tag(word)] = format }
            }
        }
        let reader = StructureReader(records: Dictionary(uniqueKeysWithValues: Self.records(text)))
        var messages: [String: Structure] = [:]
        for name in reader.records.keys where name.hasPrefix("=") { messages[String(name.dropFirst())] = reader.read(name) }
        header = reader.read("header")
        trailer = reader.read("trailer")
        self.formats = formats
        self.values = values
        self.messages = messages
    }

    private static func tag(_ word: Substring) -> Int {
        guard let tag = Int(word), tag > 0, tag < TagSet.limit else { preconditionFailure("\(word) is a field of FIX 4.4.") }
        return tag
    }

    /// A record begins with a word that ends in a colon.
    private static func records(_ text: String) -> [(String, [Substring])] {
        var records: [(String, [Substring])] = []
        for word in text.split(whereSeparator: \.isWhitespace) {
            if word.last == ":" {
                records.append((String(word.dropLast()), []))
            } else {
                records[records.count - 1].1.append(word)
            }
        }
        return records
    }

    /// Expands components where they are named.
    private struct StructureReader {
        let records: [String: [Substring]]

        func read(_ name: String) -> Structure {
            var draft = Draft()
            append(name, to: &draft, required: true)
            return Structure(draft)
        }

        private func append(_ name: String, to draft: inout Draft, required: Bool) {
            guard let words = records[name] else { preconditionFailure("\(name) is a component of FIX 4.4.") }
            var rest = words[...]
            append(&rest, to: &draft, required: required)
        }

        /// Up to the end of the group's entries, or of the record. What a component requires is required where the component is.
        private func append(_ rest: inout ArraySlice<Substring>, to draft: inout Draft, required: Bool) {
            while let word = rest.popFirst(), word != ")" {
                if word == "(", let count = draft.order.last {
                    var entry = Draft()
                    append(&rest, to: &entry, required: true)
                    draft.groups.append((count, Structure(entry)))
                    continue
                }
                let isRequired = required && word.last == "!"
                let name = word.last == "!" ? word.dropLast() : word
                if name.first?.isNumber == true {
                    let tag = FIXTag(rawValue: Int32(FIXDictionary.tag(name)))
                    draft.allowed.insert(tag)
                    draft.order.append(tag)
                    if isRequired { draft.required.append(tag) }
                } else {
                    append(String(name), to: &draft, required: isRequired)
                }
            }
        }
    }
}

/// The values that a field may have: single bytes as bits, longer ones as they are. An object, so that a check need not copy it.
final class FieldValues: Sendable {
    private let low: UInt64
    private let high: UInt64
    private let longer: [[UInt8]]

    init(_ texts: [Substring]) {
        var low: UInt64 = 0
        var high: UInt64 = 0
        var longer: [[UInt8]] = []
        for text in texts {
            let bytes = Array(text.utf8)
            guard bytes.count == 1, bytes[0] < 128 else {
                longer.append(bytes)
                continue
            }
            if bytes[0] < 64 { low |= 1 << UInt64(bytes[0]) } else { high |= 1 << UInt64(bytes[0] - 64) }
        }
        (self.low, self.high, self.longer) = (low, high, longer)
    }

    func contains(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        if range.count == 1 {
            let byte = bytes[range.lowerBound]
            return byte < 128 && (byte < 64 ? low >> UInt64(byte) : high >> UInt64(byte - 64)) & 1 == 1
        }
        return longer.contains { value in
            value.count == range.count && value.indices.allSatisfy { value[$0] == bytes[range.lowerBound + $0] }
        }
    }
}
