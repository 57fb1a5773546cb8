import BinaryFeed

/// What goes wrong on the binary feed; every part may change while it runs.
package struct TickFaults: Sendable, Hashable {
    /// A price that cannot be.
    package enum Spoiled: String, Sendable, CaseIterable {
        case absurd
        case crossed
        case zero
        case negative
    }

    /// Of ticks (changes and refreshes), every so many-eth is lost, comes twice, or comes behind the next one; 0 = none.
    package var dropEvery = 0
    package var repeatEvery = 0
    package var lateEvery = 0
    /// So many requests are not answered.
    package var unanswered = 0
    /// By symbol: its next change carries such a price.
    package var spoiled: [String: Spoiled] = [:]

    package init() {}
}

/// The line's own doing: takes ticks in order and gives what arrives. No clock, no input or output.
struct FaultyTicks {
    private var passed = 0
    private var held: BinaryFrame?

    mutating func pass(_ frame: BinaryFrame, _ faults: TickFaults, into arriving: inout [BinaryFrame]) {
        passed += 1
        if Self.isHit(passed, faults.dropEvery) { return }
        if held == nil, Self.isHit(passed, faults.lateEvery) {
            held = frame
            return
        }
        arriving.append(frame)
        if let late = held {
            arriving.append(late)
            held = nil
        }
        if Self.isHit(passed, faults.repeatEvery) { arriving.append(frame) }
    }

    private static func isHit(_ passed: Int, _ every: Int) -> Bool { every > 0 && passed % every == 0 }

    /// The frame with a price in its place that cannot be.
    static func spoil(_ frame: BinaryFrame, _ spoiled: TickFaults.Spoiled) -> BinaryFrame {
        var frame = frame
        switch spoiled {
        case .absurd: (frame.bid, frame.ask) = (frame.bid * 10, frame.ask * 10)
        case .crossed: (frame.bid, frame.ask) = (frame.ask, frame.bid)
        case .zero: frame.bid = 0
        case .negative: frame.ask = -frame.ask
        }
        return frame
    }
}
