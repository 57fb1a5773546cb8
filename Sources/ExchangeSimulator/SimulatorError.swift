/// The one error of the simulator's own: a file of its own does not cooperate, or a fault was asked for.
package struct SimulatorError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        case journalUnusable
        case journalCorrupt
        case journalInUse
        case unknownOrder
        case unknownTrade
        /// The sums of an order would leave theirs.
        case outOfRange
        case receiptsUnusable
        case droppedByScenario
        case feedUnusable
    }

    package let code: Code
    package let operation: String
    package let message: String

    package var description: String { "\(operation): \(code.rawValue): \(message)" }
}
