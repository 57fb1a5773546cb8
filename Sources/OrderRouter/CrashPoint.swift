import Glibc
import OrderDesk
import Synchronization
import Venue

/// Ends this process, as a power failure would, when a named step is reached for the n-th time. Without a configured point it never does.
final class CrashPoint: Sendable, CustomStringConvertible {
    private let point: Configuration.CrashPoint?
    private let reached = Atomic(0)

    init(_ point: Configuration.CrashPoint?) { self.point = point }

    /// What it waits for; nil for none.
    var description: String { point.map { "\($0.step):\($0.occurrence)" } ?? "never" }

    func at(_ step: DeskStep) { at(step.rawValue) }

    func at(_ step: VenueStep) { at(step.rawValue) }

    private func at(_ step: String) {
        guard let point, point.step == step else { return }
        if reached.add(1, ordering: .relaxed).newValue == point.occurrence { kill(getpid(), SIGKILL) }
    }
}
