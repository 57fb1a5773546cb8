import FIX
import Foundation
import Synchronization

/// When each new order came, for whoever measures: a line each, ClOrdID and microseconds since the epoch.
///
/// Written in portions, because a write an order would slow down what is being measured.
final class ReceiptFile: Sendable {
    private struct State {
        let file: FileHandle
        var waiting: [UInt8] = []
    }

    /// A second's worth at full load; the ticker writes what is less.
    private static let portionBytes = 262_144

    private let state: Mutex<State>

    /// Appends to the file, which is made where there is none.
    init(_ path: String) throws(SimulatorError) {
        let isThere = FileManager.default.fileExists(atPath: path) || FileManager.default.createFile(atPath: path, contents: nil)
        guard isThere, let file = FileHandle(forWritingAtPath: path), (try? file.seekToEnd()) != nil else {
            throw SimulatorError(code: .receiptsUnusable, operation: "open \(path)", message: "it cannot be written")
        }
        state = Mutex(State(file: file))
    }

    /// Notes the new orders among what a batch has brought.
    ///
    /// - Parameter microseconds: when the batch was decoded.
    func note(_ step: SessionStep, at microseconds: Int64) throws(SimulatorError) {
        let orders = step.deliveries.filter { $0.message.type == .newOrderSingle }
        if orders.isEmpty { return }
        let end = Array(" \(microseconds)\n".utf8)
        let isFull = state.withLock { state in
            for order in orders {
                guard let id = order.message.bytes(.clOrdID) else { continue }
                state.waiting += id
                state.waiting += end
            }
            return state.waiting.count >= Self.portionBytes
        }
        if isFull { try write() }
    }

    /// Writes what waits.
    func write() throws(SimulatorError) {
        let failure = state.withLock { state -> SimulatorError? in
            if state.waiting.isEmpty { return nil }
            do {
                try state.file.write(contentsOf: Data(state.waiting))
                state.waiting.removeAll(keepingCapacity: true)
                return nil
            } catch {
                return SimulatorError(code: .receiptsUnusable, operation: "write receipts", message: String(describing: error))
            }
        }
        if let failure { throw failure }
    }
}
