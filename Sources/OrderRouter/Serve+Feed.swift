import FIX
import Gateway
import MarketData
import Quotes

/// Market data: which feed fills the book, who looks after it, and what is shown of it.
extension Serve {
    /// - Throws: where a recorded file cannot be read.
    func marketFeed(_ board: QuoteBoard, _ tls: LineTLS?) throws -> any MarketFeed {
        switch configuration.feed {
        case .fix:
            return QuoteFeed(
                settings: configuration.feedSettings(tls),
                board: board,
                clock: .system,
                random: { Double.random(in: 0..<1) },
                trouble: trouble("feed")
            )
        case .binary(let line, let datagrams):
            let settings = BinaryFeedSettings(
                host: line.host,
                port: line.port,
                datagrams: datagrams,
                symbols: configuration.symbols,
                driftInterval: configuration.driftInterval
            )
            return BinaryMarketFeed(settings: settings, board: board, clock: .system, trouble: trouble("feed"))
        case .file(let path):
            log(.warning, "market_data_is_replay", ["file": path, "speed": String(configuration.feedSpeed)])
            return try RecordedFeed(
                path: path,
                symbols: configuration.symbols,
                speed: configuration.feedSpeed,
                repeats: configuration.feedRepeats,
                board: board,
                clock: .system,
                ended: { [log] in log(.warning, "market_data_is_replay", ["what": $0]) }
            )
        }
    }

    func feedWatch(_ feed: any MarketFeed, _ board: QuoteBoard) -> FeedWatch {
        FeedWatch(feed: feed, board: board, clock: .system, maximumSilence: configuration.freshness.maximumAge, trouble: trouble("feed"))
    }

    func feedGauges(_ feed: any MarketFeed, _ board: QuoteBoard) {
        let ages = board.ages
        metrics.set("order_router_symbols", to: Double(ages.symbols))
        metrics.set("order_router_data_age_seconds", [("of", "freshest")], to: Double(ages.freshest ?? -1_000) / 1_000)
        metrics.set("order_router_data_age_seconds", [("of", "stalest")], to: Double(ages.stalest ?? -1_000) / 1_000)
        let (counts, waiting) = board.read { ($0.counts, $0.waitingCount) }
        let verdicts = [
            ("applied", counts.applied), ("vouched", counts.vouched), ("duplicate", counts.duplicates), ("late", counts.late), ("gap", counts.gaps),
            ("waiting", counts.waiting),
        ]
        for (verdict, count) in verdicts { metrics.set("order_router_feed_ticks", [("verdict", verdict)], to: Double(count)) }
        for (fault, count) in zip(PriceFault.allCases, counts.refused) {
            metrics.set("order_router_feed_ticks", [("verdict", "refused_\(fault)")], to: Double(count))
        }
        metrics.set("order_router_feed_repairs", to: Double(counts.repairs))
        metrics.set("order_router_feed_waiting_symbols", to: Double(waiting))
        let status = feed.status
        metrics.set("order_router_feed_up", to: status.isUp ? 1 : 0)
        metrics.set("order_router_feed_silence_seconds", to: status.heardAt.map { Double(SessionClock.system.monotonic() - $0) / 1_000 } ?? -1)
        metrics.set("order_router_feed_restarts", to: Double(status.counts.restarts))
        metrics.set("order_router_feed_asked", to: Double(status.counts.asked))
        metrics.set("order_router_feed_refused_symbols", to: Double(status.counts.refusedSymbols))
        for (what, count) in [("unknown", status.counts.unknown), ("unreadable", status.counts.unreadable), ("foreign", status.counts.foreign)] {
            metrics.set("order_router_feed_dropped_frames", [("why", what)], to: Double(count))
        }
    }
}
