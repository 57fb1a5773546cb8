/// Pictures as they stood a while ago, for those who may see no newer ones. Every symbol's picture is noted now and then; what is shown is the newest that is
/// old enough.
package struct DelayLine: Sendable {
    private struct Noted {
        var at: Int64
        var slot: Book.Slot
    }

    /// Milliseconds: fifteen minutes, as exchanges understand delayed.
    package let delay: Int64
    /// Milliseconds between two notes. 10 s: ninety notes a symbol, some 20 KB each of those that change.
    package let interval: Int64
    private var notes: [[Noted]] = []
    private var notedAt: Int64 = .min

    package init(delay: Int64 = 900_000, interval: Int64 = 10_000) {
        self.delay = delay
        self.interval = interval
    }

    /// Notes the book's pictures when the time for it has come.
    package mutating func note(_ book: borrowing Book, at now: Int64) {
        guard notedAt == .min || now - notedAt >= interval else { return }
        notedAt = now
        while notes.count < book.slots.count { notes.append([]) }
        for place in notes.indices {
            let slot = book.slots[place]
            if slot.sequence > 0, slot.sequence != notes[place].last?.slot.sequence || slot.vouchedAt != notes[place].last?.slot.vouchedAt {
                notes[place].append(Noted(at: now, slot: slot))
            }
            // One that is old enough is kept: it is the one shown.
            let old = notes[place].lastIndex { now - $0.at >= delay } ?? 0
            if old > 0 { notes[place].removeFirst(old) }
        }
    }

    /// The clock was set by so many milliseconds: what was noted is as old as before.
    package mutating func shift(by step: Int64) {
        if notedAt != .min { notedAt += step }
        for place in notes.indices {
            for index in notes[place].indices {
                notes[place][index].at += step
                notes[place][index].slot.changedAt += step
                if notes[place][index].slot.vouchedAt != Quote.never { notes[place][index].slot.vouchedAt += step }
            }
        }
    }

    /// The newest picture that is old enough; nil when there is none yet.
    package func slot(at place: Int, now: Int64) -> Book.Slot? {
        guard notes.indices.contains(place) else { return nil }
        return notes[place].last { now - $0.at >= delay }?.slot
    }
}
