import Synchronization
import Trading
import Wire

/// Answers about history while they are good: what many people look at is read and drawn once a minute.
final class HistoryShelf: Sendable {
    struct Question: Hashable, Sendable {
        let symbol: Symbol
        let query: HistoryQuery
        let isDelayed: Bool
    }

    struct Answer: Sendable {
        let body: [UInt8]
        /// A strong entity tag (RFC 9110 section 8.8.3), with its quotation marks.
        let tag: String
        let expiresAt: Int64
    }

    /// Bytes of all bodies: 800 lines of 300 points.
    static let capacity = 32 << 20

    /// What is to be done for an answer.
    private enum Step {
        case take(Answer)
        case read
        /// Somebody else reads it already.
        case wait
    }

    private struct State {
        var answers: [Question: Answer] = [:]
        var bytes = 0
        /// What is being read, and who waits for it.
        var reading: [Question: [CheckedContinuation<Result<Answer, any Error>?, Never>]] = [:]

        mutating func begin(_ question: Question, at now: Int64) -> Step {
            // Longer than any answer lives: the clock was set back since.
            if let kept = answers[question], now < kept.expiresAt, kept.expiresAt - now <= HistoryPlan.longestLife { return .take(kept) }
            if reading[question] != nil { return .wait }
            reading[question] = []
            return .read
        }

        /// One that finds no room among those that are good is not kept.
        mutating func keep(_ answer: Answer, to question: Question, at now: Int64) {
            if let old = answers.removeValue(forKey: question) { bytes -= old.body.count }
            if bytes + answer.body.count > HistoryShelf.capacity {
                answers = answers.filter { now < $0.value.expiresAt }
                bytes = answers.values.reduce(0) { $0 + $1.body.count }
            }
            guard bytes + answer.body.count <= HistoryShelf.capacity else { return }
            answers[question] = answer
            bytes += answer.body.count
        }
    }

    private let state = Mutex(State())

    /// The answer that is kept, or else what `read` makes. Whoever asks the same meanwhile waits for that: an answer that many people look at expires for all of
    /// them at once, and is read once.
    ///
    /// - Throws: what `read` throws, to all who wait for it.
    func answer(_ question: Question, at now: Int64, read: () async throws -> Answer) async throws -> Answer {
        while true {
            switch state.withLock({ $0.begin(question, at: now) }) {
            case .take(let answer): return answer
            case .wait: if let result = await join(question) { return try result.get() }
            case .read:
                let result: Result<Answer, any Error>
                do {
                    result = .success(try await read())
                } catch {
                    result = .failure(error)
                }
                let waiting = state.withLock { state in
                    if case .success(let answer) = result { state.keep(answer, to: question, at: now) }
                    return state.reading.removeValue(forKey: question) ?? []
                }
                for waiter in waiting { waiter.resume(returning: result) }
                return try result.get()
            }
        }
    }

    /// What somebody else reads; nil where that has just ended.
    private func join(_ question: Question) async -> Result<Answer, any Error>? {
        await withCheckedContinuation { continuation in
            let isUnderWay = state.withLock { state in
                state.reading[question]?.append(continuation)
                return state.reading[question] != nil
            }
            if !isUnderWay { continuation.resume(returning: nil) }
        }
    }
}
