import Foundation
import JourneySupport
import Testing

@testable import LoadGenerator

@Suite struct `A tick of the binary feed` {
    /// In a process of its own: counting changes the runtime.
    @Test func `makes no object on its way from the bytes to the book`() throws {
        let program = Process()
        program.executableURL = RouterProcess.program.deletingLastPathComponent().appending(path: "load-generator")
        program.arguments = ["feed", "--allocations", "--symbols", "1000"]
        let output = Pipe()
        program.standardOutput = output
        try program.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        program.waitUntilExit()
        #expect(program.terminationStatus == 0, "\(text)")
        #expect(text.contains("for 36000 ticks"))
    }
}
