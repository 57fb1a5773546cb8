import Foundation
import Glibc

/// An append-only file of records, each written with one write before what it tells is acted on: a process that is killed forgets nothing.
///
/// A record is its length (4 bytes), its FNV-1a sum (8 bytes), both little-endian, and its payload. A torn last record was never acted on and
/// is cut off. The file is not synchronised to the disk: it outlives the process, not the machine.
final class Journal {
    private let file: FileHandle
    private var failure: SimulatorError?

    private static let headerBytes = 12

    /// Opens or creates the file, takes it for this process alone and gives back what is in it.
    static func open(directory: String) throws(SimulatorError) -> (journal: Journal, records: [[UInt8]]) {
        let path = directory + "/venue.journal"
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            if !FileManager.default.fileExists(atPath: path) {
                guard FileManager.default.createFile(atPath: path, contents: nil) else { throw CocoaError(.fileWriteUnknown) }
            }
            let file = try FileHandle(forUpdating: URL(filePath: path))
            guard flock(file.fileDescriptor, LOCK_EX | LOCK_NB) == 0 else {
                throw SimulatorError(code: .journalInUse, operation: "open \(path)", message: "another process holds it")
            }
            let bytes = [UInt8](try file.readToEnd() ?? Data())
            let read = try read(bytes, path)
            try file.truncate(atOffset: UInt64(read.length))
            try file.seekToEnd()
            return (Journal(file), read.records)
        } catch let error as SimulatorError {
            throw error
        } catch {
            throw SimulatorError(code: .journalUnusable, operation: "open \(path)", message: String(describing: error))
        }
    }

    private init(_ file: FileHandle) { self.file = file }

    /// Lets go of the file and its lock now; nothing can be written afterwards. Without it they go with the last owner.
    func close() throws(SimulatorError) {
        guard failure == nil else { return }
        failure = SimulatorError(code: .journalUnusable, operation: "write the journal", message: "it is closed")
        do {
            try file.close()
        } catch {
            throw SimulatorError(code: .journalUnusable, operation: "close the journal", message: String(describing: error))
        }
    }

    /// Writes one record. After a failure nothing is written any more: what is in memory is ahead of the file.
    func append(_ payload: [UInt8]) throws(SimulatorError) {
        if let failure { throw failure }
        var record: [UInt8] = []
        record.reserveCapacity(payload.count + Self.headerBytes)
        for shift in 0..<4 { record.append(UInt8(truncatingIfNeeded: payload.count >> (8 * shift))) }
        let sum = Self.sum(payload[...])
        for shift in 0..<8 { record.append(UInt8(truncatingIfNeeded: sum >> UInt64(8 * shift))) }
        record += payload
        do {
            try file.write(contentsOf: Data(record))
        } catch {
            let failed = SimulatorError(code: .journalUnusable, operation: "write the journal", message: String(describing: error))
            failure = failed
            throw failed
        }
    }

    private static func read(_ bytes: [UInt8], _ path: String) throws(SimulatorError) -> (records: [[UInt8]], length: Int) {
        var records: [[UInt8]] = []
        var start = 0
        while start + headerBytes <= bytes.count {
            let count = (0..<4).reduce(0) { $0 | Int(bytes[start + $1]) << (8 * $1) }
            let sum = (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[start + 4 + $1]) << UInt64(8 * $1) }
            let end = start + headerBytes + count
            guard end <= bytes.count else { break }
            let payload = bytes[(start + headerBytes)..<end]
            guard Self.sum(payload) == sum else {
                if end == bytes.count { break }
                throw SimulatorError(code: .journalCorrupt, operation: "read \(path)", message: "the record at byte \(start) has a wrong sum")
            }
            records.append(Array(payload))
            start = end
        }
        return (records, start)
    }

    private static func sum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
