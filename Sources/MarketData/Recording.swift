import BinaryFeed
import Foundation
import Synchronization

/// A recorded feed: the header, then one record of 48 bytes for each frame: when it came (i64, ms since the recording's beginning, little-endian), and the
/// frame as it came.
package enum Recording {
    /// Names the format and its version.
    package static let header = Array("ORDER-ROUTER-FEED-1\n".utf8)
    package static let recordSize = 8 + BinaryFrame.size

    package struct Wrong: Error, CustomStringConvertible {
        package let description: String
    }

    /// The records of a file. Its last record may be cut: whoever recorded it was ended.
    package static func read(_ path: String) throws -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw Wrong(description: "\(path) cannot be read: \(error.localizedDescription)")
        }
        guard bytes.starts(with: header) else { throw Wrong(description: "\(path) is no recorded feed") }
        let records = bytes.dropFirst(header.count)
        return Array(records.prefix(records.count / recordSize * recordSize))
    }
}

/// Writes what a feed brings into a file, with the moments at which it came.
package final class FeedRecorder: Sendable {
    private struct State {
        var begunAt: Int64?
        var waiting: [UInt8]
        var frames = 0
    }

    private let state = Mutex(State(waiting: Recording.header))

    package init() {}

    package var frames: Int { state.withLock { $0.frames } }

    /// To be given to a feed as its tap. Bytes beyond whole frames are not kept.
    package func take(_ frames: RawSpan, at monotonic: Int64) {
        state.withLock { state in
            let begun = state.begunAt ?? monotonic
            state.begunAt = begun
            var offset = 0
            while frames.byteCount - offset >= BinaryFrame.size {
                let time = UInt64(bitPattern: monotonic - begun)
                for byte in 0..<8 as Range<UInt64> { state.waiting.append(UInt8(truncatingIfNeeded: time >> (8 * byte))) }
                BinaryFrame(frames, at: offset).append(to: &state.waiting)
                offset += BinaryFrame.size
                state.frames += 1
            }
        }
    }

    /// What has come since the last call, to be written.
    package func takeBytes() -> [UInt8] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
