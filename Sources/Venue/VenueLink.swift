package import FIX
package import Postgres
import Trading

/// Keeps this router ready to speak with the venue: takes the session's lease when it is free, logs on, sends and receives, and does so again
/// after every loss, until it is cancelled.
package final class VenueLink: Sendable {
    private let initiator: Initiator
    private let session: SessionHolder

    /// - Parameters:
    ///   - random: uniform in 0..<1, for the jitter of reconnecting.
    package init(
        settings: VenueSettings,
        database: PostgresOptions,
        clock: SessionClock,
        observer: VenueObserver,
        random: @escaping @Sendable () -> Double
    ) {
        let holder = SessionHolder()
        session = holder
        var configuration = Initiator.Configuration(host: settings.host, port: settings.port, session: settings.session)
        configuration.backoff = configuration.backoff.lowerBound...max(configuration.backoff.lowerBound, settings.longestPause)
        configuration.tls = settings.tls
        // Each shard once, then the venue's answers have their turn.
        configuration.runner.pullRounds = Int(AccountID.shardCount) / VenueSession.shardsAtOnce
        initiator = Initiator(
            configuration,
            clock: clock,
            random: random,
            report: { observer.trouble($0) },
            openStore: {
                let opened = VenueSession(settings: settings, database: database, clock: clock, observer: observer)
                holder.session = opened
                return opened
            }
        )
    }

    /// There may be something to send.
    package func wake() { initiator.wake() }

    /// Runs until cancelled, then logs out and gives the lease up, so that another router need not wait it out.
    package func run() async throws {
        try await initiator.run()
        session.session?.close()
    }
}

/// The session, for closing it once its thread has ended.
///
/// Unchecked: written on the session's thread, read after `Initiator.run` has returned, which is after that thread's last use.
private final class SessionHolder: @unchecked Sendable {
    var session: VenueSession?
}
