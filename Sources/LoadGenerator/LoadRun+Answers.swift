/// What an answer must be, and what becomes of it.
extension LoadRun {
    private static let orderID = Array(#"{"order_id":""#.utf8)
    private static let code = Array(#""code":""#.utf8)

    /// - Parameter end: where the body ends in the buffer.
    func judge(_ flight: Flight, _ head: ResponseReader.Head, _ end: Int) {
        if head.status == 201 { created(flight, head, end) } else { refused(flight, head, end) }
    }

    private func created(_ flight: Flight, _ head: ResponseReader.Head, _ end: Int) {
        var record = records[flight.order]
        let isFirst = record.body == 0
        let body = ByteSearch.fingerprint(buffer, head.bodyStart, end)
        let text = head.bodyStart + Self.orderID.count
        let digest = ByteSearch.hasPrefix(Self.orderID, buffer, head.bodyStart, end) ? OrderDigest.read(buffer, text, end) : nil
        if digest != record.digest {
            tally.contradict("an answer of 201 names another order: \(String(decoding: buffer[head.bodyStart..<end], as: UTF8.self))")
        } else if !isFirst, record.body != body {
            tally.contradict("two answers to one key differ; the second: \(String(decoding: buffer[head.bodyStart..<end], as: UTF8.self))")
        }
        if record.expected != .accepted { tally.surprise("an order was accepted that must be refused with \(record.expected.code)") }
        record.body = body
        if head.isReplayed {
            tally.replayed += 1
        } else {
            tally.created += 1
            record.fresh += 1
            if record.fresh > 1 { tally.contradict("two answers to one key both say that they are the first") }
        }
        if isFirst {
            record.answeredAt = now
            lastAnswerAt = now
        }
        if flight.isDuplicate {
            if record.isCounted { tally.replayTimes.add(now - flight.intendedAt) }
        } else if record.isCounted {
            tally.answerTimes.add(now - flight.intendedAt)
        }
        records[flight.order] = record
    }

    private func refused(_ flight: Flight, _ head: ResponseReader.Head, _ end: Int) {
        let start = ByteSearch.find(Self.code, in: buffer, head.bodyStart, end).map { $0 + Self.code.count } ?? end
        var stop = start
        while stop < end, buffer[stop] != UInt8(ascii: "\"") { stop += 1 }
        let number = tally.count(code: buffer, start, stop)
        let code = tally.code(number)
        let record = records[flight.order]
        switch code {
        // Nothing is decided, or it is not known: the same bytes again.
        case "busy", "outcome_unknown", "rate_limited": return again(flight)
        case record.expected.code where !code.isEmpty:
            tally.refused += 1
        default:
            tally.refused += 1
            if record.answeredAt > 0, record.answeredAt < flight.sentAt {
                tally.contradict("an order that was accepted is refused at its repetition with \(head.status) \(code)")
            } else {
                tally.surprise("\(head.status) \(code) where \(record.expected == .accepted ? "201" : record.expected.code) was to come")
            }
        }
    }
}
