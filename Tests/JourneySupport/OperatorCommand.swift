import Foundation
import Synchronization

/// A command of an operator, run to its end in a process of its own.
package struct OperatorCommand: Sendable {
    package let status: Int32
    /// Standard output, then standard error.
    package let text: String

    /// - Parameter environment: without that of the process that runs the tests.
    package init(_ words: [String], _ environment: [String: String]) async throws {
        let process = Process()
        process.executableURL = RouterProcess.program
        process.arguments = words
        process.environment = RouterProcess.environment(environment)
        let (output, errors) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, errors)
        async let said = Self.read(output)
        async let complained = Self.read(errors)
        let ended = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            ended.continuation.yield(process.terminationStatus)
            ended.continuation.finish()
        }
        try process.run()
        var status: Int32 = -1
        for await value in ended.stream { status = value }
        self.status = status
        text = await said + complained
    }

    private static func read(_ pipe: Pipe) async -> String {
        await withCheckedContinuation { continuation in
            let gathered = Mutex(Data())
            PipeReader.read(pipe) { data in
                if data.isEmpty {
                    continuation.resume(returning: gathered.withLock { String(decoding: $0, as: UTF8.self) })
                } else {
                    gathered.withLock { $0.append(data) }
                }
            }
        }
    }
}

extension Town {
    /// `order-router <words>` on the town's database.
    package func operate(_ words: String...) async throws -> OperatorCommand { try await operate(words) }

    package func operate(_ words: [String]) async throws -> OperatorCommand {
        let environment = environment()
        let kept = ["ORDER_ROUTER_DATABASE_URL", "ORDER_ROUTER_MIGRATIONS"]
        return try await OperatorCommand(words, environment.filter { kept.contains($0.key) })
    }
}
