package import Cryptography
import Synchronization

/// The issuer's keys, kept fresh: read again at an interval, and at once (but not too often) when a token names an unknown key.
///
/// When a reading fails the old set stays in force, for a bounded time: an issuer's outage must not end all trading, yet a key that
/// was withdrawn meanwhile must not live for ever. Every reading is reported to the closure given at the start.
package final class KeySetSource: Sendable {
    package struct Settings: Sendable {
        /// How often the set is read: so long does a withdrawn key live at most while the issuer is in reach.
        package var refreshInterval: Duration = .seconds(60)
        /// How soon after a failure it is tried again.
        package var retryInterval: Duration = .seconds(5)
        /// Tokens with invented key ids come in floods; the issuer is asked no more often than this on their account.
        package var unknownKeyInterval: Duration = .seconds(5)
        /// How long one reading may take: requests with an unknown key id wait for it.
        package var readTimeout: Duration = .seconds(5)
        /// How long a set serves after its last good reading. Longer than a restart of the issuer takes, shorter than a night.
        package var longestOutage: Duration = .seconds(600)
        /// How many requests wait for one reading; more are refused at once.
        package var maximumWaiters = 1_000

        package init() {}
    }

    /// What became of one reading.
    package enum Report: Sendable {
        /// - Parameters:
        ///   - keys: how many can be used.
        ///   - changed: whether keys came or went since the reading before.
        case refreshed(keys: Int, skipped: [JSONWebKeySet.Skipped], changed: Bool)
        /// - Parameter age: how long ago the set in force was read; nil when there is none.
        case failed(IdentityError, age: Duration?)
    }

    private struct State {
        var keys: JSONWebKeySet?
        /// When the reading began that gave `keys`.
        var readAt: ContinuousClock.Instant?
        var lastTurn = 0
        var appliedTurn = 0
        var askedForUnknownAt: ContinuousClock.Instant?
        /// There while `run` runs.
        var wake: AsyncStream<Void>.Continuation?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let location: KeySetLocation
    private let settings: Settings
    private let now: @Sendable () -> ContinuousClock.Instant
    private let sleep: @Sendable (Duration) async throws -> Void
    private let report: @Sendable (Report) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - report: told of every reading; for logs and metrics. It must not block.
    ///   - now: a clock that only goes forward.
    ///   - sleep: waits that long, or throws when cancelled.
    package init(
        location: KeySetLocation,
        settings: Settings = Settings(),
        report: @escaping @Sendable (Report) -> Void,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0, clock: .continuous) }
    ) {
        self.location = location
        self.settings = settings
        self.report = report
        self.now = now
        self.sleep = sleep
    }

    /// Reads the set once, so that a wrong place stops the start and not a trade.
    ///
    /// - Throws: `unreachable`, `invalidKeySet`.
    package func load() async throws(IdentityError) {
        try await refresh()
    }

    /// Keeps the set fresh until cancelled. Only while it runs are unknown keys looked for.
    package func run() async throws {
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            precondition(state.wake == nil, "A key set source is run once at a time.")
            state.wake = wake
        }
        defer {
            state.withLock { $0.wake = nil }
            releaseWaiters()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.refreshAtIntervals() }
            group.addTask {
                for await _ in wakes {
                    _ = await self.succeedsInRefreshing()
                    self.releaseWaiters()
                }
                try Task.checkCancellation()
            }
            try await group.waitForAll()
        }
    }

    /// The keys in force; nil when none could ever be read, or not for too long.
    package var current: JSONWebKeySet? {
        let now = now()
        return state.withLock { state in
            guard let readAt = state.readAt, now - readAt < settings.longestOutage else { return nil }
            return state.keys
        }
    }

    /// Waits for a reading that was asked for because of an unknown key. Returns at once when the last such reading is too recent, when
    /// too many wait already, or when `run` does not run.
    package func refreshForUnknownKey() async {
        await withCheckedContinuation { continuation in
            let now = now()
            let isWaiting = state.withLock { state in
                guard let wake = state.wake, state.waiters.count < settings.maximumWaiters else { return false }
                if state.waiters.isEmpty {
                    if let last = state.askedForUnknownAt, now - last < settings.unknownKeyInterval { return false }
                    state.askedForUnknownAt = now
                    wake.yield()
                }
                state.waiters.append(continuation)
                return true
            }
            if !isWaiting { continuation.resume() }
        }
    }

    private func refreshAtIntervals() async throws {
        var succeeded = true
        if current == nil { succeeded = await succeedsInRefreshing() }
        while true {
            try await sleep(succeeded ? settings.refreshInterval : settings.retryInterval)
            succeeded = await succeedsInRefreshing()
        }
    }

    private func succeedsInRefreshing() async -> Bool {
        do throws(IdentityError) {
            try await refresh()
            return true
        } catch {
            // Told to `report` by `refresh`.
            return false
        }
    }

    /// Reads the set once and reports what became of it. Two readings may overlap: the one that began later wins.
    private func refresh() async throws(IdentityError) {
        let began = now()
        let turn = state.withLock { state in
            state.lastTurn += 1
            return state.lastTurn
        }
        do throws(IdentityError) {
            let keys = try await read()
            let changed = state.withLock { state in
                guard turn > state.appliedTurn else { return false }
                let changed = state.keys.map { Self.names(of: $0) != Self.names(of: keys) } ?? true
                state.appliedTurn = turn
                state.keys = keys
                state.readAt = began
                return changed
            }
            report(.refreshed(keys: keys.keys.count, skipped: keys.skipped, changed: changed))
        } catch {
            if !Task.isCancelled { report(.failed(error, age: state.withLock { $0.readAt }.map { now() - $0 })) }
            throw error
        }
    }

    private func read() async throws(IdentityError) -> JSONWebKeySet {
        let bytes = try await location.read(timeout: settings.readTimeout)
        do throws(CryptographyError) {
            return try JSONWebKeySet(json: bytes)
        } catch {
            throw IdentityError(.invalidKeySet, "read key set", error.message)
        }
    }

    private static func names(of keys: JSONWebKeySet) -> [KeyName: [UInt8]] { keys.keys.mapValues(\.thumbprint) }

    private func releaseWaiters() {
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
