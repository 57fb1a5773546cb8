package import Foundation

/// Reads what a program writes, on a thread of its own.
///
/// Not by `readabilityHandler`: the pipe's other end may live on in another child that was started meanwhile, and a handle that is let go
/// while it is still watched takes libdispatch down with it. The thread keeps the handle until the end has come.
package enum PipeReader {
    /// - Parameter take: gets what comes, in order; empty data is the end.
    package static func read(_ pipe: Pipe, _ take: @escaping @Sendable (Data) -> Void) {
        let handle = pipe.fileHandleForReading
        let thread = Thread {
            while true {
                let data = handle.availableData
                take(data)
                if data.isEmpty { return }
            }
        }
        thread.start()
    }
}
