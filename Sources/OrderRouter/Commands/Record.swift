import FIX
import Foundation
import MarketData
import Quotes

extension Command {
    static let record = Command(
        "record",
        "Records a binary feed into a file, which serve --feed file:<path> plays again.",
        flags: [
            Flag("feed", "feed", .required, "The feed: tcp://host:port, or udp://group:port?recovery=host:port&interface=address."),
            Flag("to", "file", .required, "Where to write; a file that is there is overwritten."),
            Flag("for", "time", .optional, "How long, such as 60s; until SIGINT or SIGTERM without it."),
        ]
    ) { arguments in
        let kind = ValueKind<FeedChoice>.feed
        let choice = try arguments.parsed("feed", kind.expected, kind.parse)
        guard case .binary(let line, let datagrams) = choice else { throw UsageError("--feed of record is a binary feed: tcp://… or udp://….") }
        let duration = try arguments.parsed("for", "a time such as 500ms, 60s or 8h", Duration.init(setting:))
        guard let path = arguments.value("to") else { throw UsageError("--to is missing.") }
        let frames = try await record(
            BinaryFeedSettings(host: line.host, port: line.port, datagrams: datagrams),
            to: path,
            for: duration,
            log: Log(least: .info)
        )
        say("\(frames) frames are in \(path).")
        return frames > 0 ? .ok : .failed
    }

    /// Between two writes: a crash loses less than a second.
    private static let writeInterval: Duration = .milliseconds(500)

    private static func record(_ settings: BinaryFeedSettings, to path: String, for duration: Duration?, log: Log) async throws -> Int {
        guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path) else {
            throw CommandFailure("\(path) cannot be written")
        }
        defer { try? file.close() }
        let recorder = FeedRecorder()
        // A book is what asks for snapshots, so that the recording begins with whole pictures and has no gap for good.
        let feed = BinaryMarketFeed(
            settings: settings,
            board: QuoteBoard(now: SessionClock.system.wall),
            clock: .system,
            tap: { recorder.take($0, at: $1) },
            trouble: { log(.warning, "trouble", ["part": "feed", "what": $0]) }
        )
        try await withEndingSignals { ended in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await feed.run() }
                group.addTask { await ended.wait() }
                if let duration { group.addTask { try await Task.sleep(for: duration) } }
                group.addTask {
                    while true {
                        try file.write(contentsOf: recorder.takeBytes())
                        try await Task.sleep(for: writeInterval)
                    }
                }
                try await group.next()
                group.cancelAll()
                while let result = await group.nextResult() {
                    if case .failure(let error) = result, !(error is CancellationError) { throw error }
                }
            }
        }
        try file.write(contentsOf: recorder.takeBytes())
        return recorder.frames
    }
}
