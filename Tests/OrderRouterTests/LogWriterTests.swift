import Dispatch
import Foundation
import Synchronization
import Testing

@testable import OrderRouter

@Suite struct `The writer of the log` {
    private let folder: TemporaryFolder
    private let file: FileHandle

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("log", "")
        file = try #require(FileHandle(forUpdatingAtPath: folder.url("log").path))
    }

    private func written() throws -> String { try String(contentsOfFile: folder.url("log").path, encoding: .utf8) }

    private static func writer(
        _ file: FileHandle,
        capacityBytes: Int = LogWriter.capacityBytes,
        gathering: DispatchTimeInterval = LogWriter.gathering
    ) -> LogWriter {
        LogWriter(descriptor: file.fileDescriptor, capacityBytes: capacityBytes, gathering: gathering) { Array("dropped \($0)\n".utf8) }
    }

    @Test func `keeps lines whole and each thread's in order, and has written all when it is closed`() async throws {
        let writer = Self.writer(file)
        await withTaskGroup { group in
            for thread in 0..<4 {
                group.addTask {
                    for number in 0..<1_000 { writer.write(Array("\(thread) \(number) \(String(repeating: "x", count: number % 80))\n".utf8)) }
                }
            }
        }
        writer.close()
        var next = [0, 0, 0, 0]
        for line in try written().split(separator: "\n") {
            let words = line.split(separator: " ")
            let (thread, number) = (try #require(Int(words[0])), try #require(Int(words[1])))
            #expect(number == next[thread] && (words.count == 3 ? words[2].count : 0) == number % 80)
            next[thread] += 1
        }
        #expect(next == [1_000, 1_000, 1_000, 1_000])
        writer.write(Array("too late\n".utf8))
        #expect(try !written().contains("late"))
    }

    @Test func `makes nobody wait for a reader that has stopped, and says how many lines that one missed`() async throws {
        let pipe = Pipe()
        let writer = Self.writer(pipe.fileHandleForWriting, capacityBytes: 1_000, gathering: .seconds(0))
        // Far more than a pipe holds. Nobody reads, and still all of this returns.
        let given = 5_000
        for number in 0..<given { writer.write(Array("line \(number) \(String(repeating: "x", count: 90))\n".utf8)) }
        let text = Mutex("")
        let isRead = Latch()
        let handle = pipe.fileHandleForReading
        Thread.detachNewThread {
            while case let data = handle.availableData, !data.isEmpty { text.withLock { $0 += String(decoding: data, as: UTF8.self) } }
            isRead.open()
        }
        writer.close()
        try pipe.fileHandleForWriting.close()
        #expect(await isRead.wait(upTo: .seconds(60)))
        var (last, kept, dropped) = (-1, 0, 0)
        for line in text.withLock({ $0 }).split(separator: "\n") {
            let words = line.split(separator: " ")
            let number = try #require(Int(words[1]))
            if words[0] == "dropped" {
                dropped += number
            } else {
                #expect(words[0] == "line" && words[2].count == 90 && number > last)
                (last, kept) = (number, kept + 1)
            }
        }
        #expect(dropped > 0 && kept + dropped == given)
    }

    @Test func `writes what still gathers when it has to be at once`() throws {
        let writer = Self.writer(file, gathering: .seconds(3_600))
        writer.write(Array("first\n".utf8))
        writer.spill()
        #expect(try written() == "first\n")
        writer.write(Array("second\n".utf8))
        writer.close()
        #expect(try written() == "first\nsecond\n")
    }

    @Test func `has the last words of a process that crashes`() async {
        let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let writer = LogWriter(gathering: .seconds(3_600)) { _ in [] }
            writer.spillOnCrash()
            writer.write(Array("the last line before the fault\n".utf8))
            fatalError("a fault")
        }
        let errors = String(decoding: end?.standardErrorContent ?? [], as: UTF8.self)
        #expect(errors.contains("the last line before the fault\n") && errors.contains("a fault"))
    }
}
