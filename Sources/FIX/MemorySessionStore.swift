/// A session's numbers and sent messages in memory, within bounds: for sessions that begin again with every logon.
package final class MemorySessionStore {
    /// Sent messages kept for a resend; older ones are gap-filled. A market-data message is worth nothing after a second.
    package let capacity: Int
    package private(set) var numbers = SessionNumbers()
    private var sent: [Int: StoredMessage] = [:]

    package init(capacity: Int = 1_024) {
        self.capacity = capacity
    }

    package func commit(_ step: SessionStep, numbers: SessionNumbers) {
        if step.newGeneration != nil { sent = [:] }
        keep(step.outgoing)
        self.numbers = numbers
    }

    /// Takes messages that `pull` has numbered.
    package func keep(_ outgoing: [OutgoingMessage]) {
        for message in outgoing {
            if !message.isAdmin { sent[message.number] = StoredMessage(message) }
            sent[message.number - capacity] = nil
            numbers.nextOut = message.number + 1
        }
    }

    package func stored(from: Int, through: Int, atMost most: Int) -> [StoredMessage] {
        sent.first(most, from: max(from, numbers.nextOut - capacity), through: through)
    }
}
