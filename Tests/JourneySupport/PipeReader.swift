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

    /// The same for a program that runs already, whose own end counts as well, once all that it has written is read.
    package static func read(_ pipe: Pipe, of process: Process, _ take: @escaping @Sendable (Data) -> Void) {
        let handle = pipe.fileHandleForReading
        let thread = Thread {
            while true {
                // In this order: what it wrote before its end is there by now.
                let hasEnded = !process.isRunning
                var watched = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
                if unsafe poll(&watched, 1, hasEnded ? 0 : lookInterval) > 0 {
                    let data = handle.availableData
                    take(data)
                    if data.isEmpty { return }
                } else if hasEnded {
                    return take(Data())
                }
            }
        }
        thread.start()
    }

    /// How often it is looked whether the program has ended, in milliseconds, where another child keeps the pipe open.
    private static let lookInterval: Int32 = 20
}
