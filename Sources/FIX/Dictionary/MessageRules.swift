/// How much of the FIX 4.4 dictionary a received message must satisfy. What is refused gets a session Reject and is not acted upon.
package struct MessageRules: Sendable, Hashable {
    /// Fields that FIX 4.4 does not have, or not in this message: false = refused.
    package var allowsUnknownFields: Bool
    /// Fields from 5000 on, which two sides agree upon between themselves.
    package var allowsUserDefinedFields: Bool
    /// Fields that have a list of values must have one of it.
    package var checksValues: Bool
    /// Fields that the message requires must be there.
    package var checksRequired: Bool
    /// The fields of a group's entries must stand in the dictionary's order.
    package var checksEntryOrder: Bool

    /// All of the dictionary.
    package static let strict = MessageRules(
        allowsUnknownFields: false,
        allowsUserDefinedFields: true,
        checksValues: true,
        checksRequired: true,
        checksEntryOrder: true
    )

    /// What would make a message ambiguous or unreadable: types of values, repeated fields, the order of header, body and trailer, counts of
    /// groups. A counterparty that says more or less than FIX 4.4 does is understood as far as it can be.
    package static let lenient = MessageRules(
        allowsUnknownFields: true,
        allowsUserDefinedFields: true,
        checksValues: false,
        checksRequired: false,
        checksEntryOrder: false
    )
}

extension FIXMessage {
    /// The first thing in a received message that the rules do not allow; nil when there is none. The fields can be read (`defect` is nil).
    package func defect(under rules: MessageRules) -> Defect? {
        let check = MessageCheck(dictionary: .fix44, rules: rules, message: self)
        do throws(Defect) {
            try check.run()
            return nil
        } catch {
            return error
        }
    }
}

/// One pass over the fields of a message; allocates nothing.
private struct MessageCheck {
    typealias Defect = FIXMessage.Defect
    typealias Structure = FIXDictionary.Structure

    let dictionary: FIXDictionary
    let rules: MessageRules
    let message: FIXMessage

    private enum Part: Int {
        case header
        case body
        case trailer
    }

    init(dictionary: FIXDictionary, rules: MessageRules, message: FIXMessage) {
        self.dictionary = dictionary
        self.rules = rules
        self.message = message
    }

    func run() throws(Defect) {
        // A user's own message type has no structure that we know.
        let body = dictionary.structure(of: message.type)
        var seen = TagSet()
        var part = Part.header
        var index = 0
        while index < message.spans.count {
            let tag = message.spans[index].tag
            let (home, structure) = place(tag, body)
            guard let structure else {
                if body != nil { try tolerate(tag) }
                if part == .header { part = .body }
                index += 1
                continue
            }
            if seen.contains(tag) { throw Defect(tag: tag, reason: SessionRejectReason.tagAppearsTwice) }
            if home.rawValue < part.rawValue { throw Defect(tag: tag, reason: SessionRejectReason.tagOutOfOrder) }
            part = home
            seen.insert(tag)
            try value(at: index)
            if let entry = structure.entry(countedBy: tag) {
                index = try entries(entry, countedAt: index, within: structure.allowed)
            } else {
                index += 1
            }
        }
        guard rules.checksRequired else { return }
        try all(dictionary.header.required, in: seen)
        if let body { try all(body.required, in: seen) }
        try all(dictionary.trailer.required, in: seen)
    }

    private func place(_ tag: FIXTag, _ body: Structure?) -> (Part, Structure?) {
        if dictionary.header.allowed.contains(tag) { return (.header, dictionary.header) }
        if dictionary.trailer.allowed.contains(tag) { return (.trailer, dictionary.trailer) }
        return (.body, body?.allowed.contains(tag) == true ? body : nil)
    }

    private func all(_ required: [FIXTag], in seen: TagSet) throws(Defect) {
        for tag in required where !seen.contains(tag) { throw Defect(tag: tag, reason: SessionRejectReason.requiredTagMissing) }
    }

    /// A field that has no place in this message.
    private func tolerate(_ tag: FIXTag) throws(Defect) {
        if tag.isUserDefined {
            if !rules.allowsUserDefinedFields { throw Defect(tag: tag, reason: SessionRejectReason.invalidTagNumber) }
        } else if !rules.allowsUnknownFields {
            let isKnown = dictionary.format(of: tag) != nil
            throw Defect(tag: tag, reason: isKnown ? SessionRejectReason.tagNotDefined : SessionRejectReason.invalidTagNumber)
        }
    }

    // MARK: Values

    private func value(at index: Int) throws(Defect) {
        let span = message.spans[index]
        let range = Int(span.start)..<Int(span.end)
        guard let format = dictionary.format(of: span.tag) else { return }
        guard format.accepts(message.bytes, range) else { throw Defect(tag: span.tag, reason: SessionRejectReason.incorrectDataFormat) }
        if format == .data { try length(of: index) }
        // MsgType was judged before, and may be the users' own.
        guard rules.checksValues, span.tag != .msgType, let values = dictionary.values[Int(span.tag.rawValue)] else { return }
        var start = range.lowerBound
        if format == .multipleValues {
            // Several values, a space between each two.
            while let space = message.bytes[start..<range.upperBound].firstIndex(of: UInt8(ascii: " ")) {
                try one(of: values, span.tag, start..<space)
                start = space + 1
            }
        }
        try one(of: values, span.tag, start..<range.upperBound)
    }

    private func one(of values: FieldValues, _ tag: FIXTag, _ range: Range<Int>) throws(Defect) {
        guard values.contains(message.bytes, range) else { throw Defect(tag: tag, reason: SessionRejectReason.valueIncorrect) }
    }

    /// Raw data is as long as the field right before it says.
    private func length(of index: Int) throws(Defect) {
        guard let tag = message.spans[index].tag.lengthOfData else { return }
        guard index > 0, message.spans[index - 1].tag == tag else { throw Defect(tag: tag, reason: SessionRejectReason.requiredTagMissing) }
        guard number(at: index - 1) == Int64(message.spans[index].end - message.spans[index].start) else {
            throw Defect(tag: tag, reason: SessionRejectReason.valueIncorrect)
        }
    }

    private func number(at index: Int) -> Int64? {
        message.bytes[Int(message.spans[index].start)..<Int(message.spans[index].end)].wholeNumber
    }

    // MARK: Groups

    /// Checks the entries behind a counting field; returns the index of the first field behind them.
    ///
    /// - Parameter outer: the fields that may follow the group.
    private func entries(_ group: Structure, countedAt index: Int, within outer: TagSet) throws(Defect) -> Int {
        let count = message.spans[index].tag
        var next = index + 1
        var found: Int64 = 0
        while next < message.spans.count, message.spans[next].tag == group.order.first {
            found += 1
            next = try entry(group, from: next, within: outer)
        }
        if found == 0, next < message.spans.count, group.allowed.contains(message.spans[next].tag), !outer.contains(message.spans[next].tag) {
            throw Defect(tag: message.spans[next].tag, reason: SessionRejectReason.groupOutOfOrder)
        }
        guard number(at: index) == found else { throw Defect(tag: count, reason: SessionRejectReason.groupCountIncorrect) }
        return next
    }

    private func entry(_ group: Structure, from start: Int, within outer: TagSet) throws(Defect) -> Int {
        var seen = TagSet()
        var position = 0
        var next = start
        while next < message.spans.count {
            let tag = message.spans[next].tag
            if next > start, tag == group.order.first { break }
            guard group.allowed.contains(tag) else {
                let ends = outer.contains(tag) || dictionary.header.allowed.contains(tag) || dictionary.trailer.allowed.contains(tag)
                if ends { break }
                try tolerate(tag)
                next += 1
                continue
            }
            if seen.contains(tag) {
                if outer.contains(tag) { break }
                throw Defect(tag: tag, reason: SessionRejectReason.tagAppearsTwice)
            }
            if rules.checksEntryOrder {
                guard let place = group.order[position...].firstIndex(of: tag) else {
                    // It may stand behind the group as well.
                    if outer.contains(tag) { break }
                    throw Defect(tag: tag, reason: SessionRejectReason.groupOutOfOrder)
                }
                position = place
            }
            seen.insert(tag)
            try value(at: next)
            if let nested = group.entry(countedBy: tag) {
                next = try entries(nested, countedAt: next, within: outer.union(group.allowed))
            } else {
                next += 1
            }
        }
        if rules.checksRequired { try all(group.required, in: seen) }
        return next
    }
}
