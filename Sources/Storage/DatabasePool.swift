package import Postgres
import Synchronization

/// Why the database was of no use to a call.
package enum DatabaseTrouble: Error {
    /// Too many calls wait, or this one waited too long: nothing was done.
    case busy
    /// The pool is stopped, as its program ends: nothing was done.
    case stopped
    case failed(PostgresError)
}

/// A few connections for what tasks ask of the database outside any leg, each on a thread of its own. Any task may call: it gets a connection that is free,
/// or waits in line, so that a slow call holds up nobody while another connection is free.
package final class DatabasePool: Sendable {
    /// How long a call may wait for its turn: less than a client's own time-out, so that the answer still reaches it.
    package static let usualPatience: Duration = .seconds(5)
    /// A second try finds a connection that broke while nobody used it made anew; more would only hold up who waits behind.
    private static let tries = 2

    /// A connection and the thread that alone touches it.
    ///
    /// Unchecked: `database` is used only inside `thread.run`; it is freed with the last reference to this object, when no job is left.
    private final class Place: @unchecked Sendable {
        let thread: DedicatedThread
        let database: Database

        init(_ options: PostgresOptions, name: String) {
            thread = DedicatedThread(name: name)
            database = Database(options)
        }
    }

    private struct Line {
        var free: [Place]
        /// In the order in which they came.
        var waiting: [(number: Int, turn: Turn)] = []
        /// Calls that have their place in it and are about to stand there.
        var coming = 0
        var lastNumber = 0
        var isStopped = false
        /// Goes on once every connection is given back.
        var stopper: CheckedContinuation<Void, Never>?
    }

    private typealias Turn = CheckedContinuation<Result<Place, DatabaseTrouble>, Never>

    private let places: [Place]
    private let line: Mutex<Line>
    private let waitingLimit: Int
    private let patience: Duration
    private let report: @Sendable (PostgresError) -> Void

    /// - Parameters:
    ///   - name: of its threads, beside their numbers, and in `pg_stat_activity`.
    ///   - waitingLimit: calls that wait for a connection; one more is refused.
    ///   - patience: how long each of them waits at most.
    ///   - report: told of every failure. It must not block.
    package init(
        _ name: String,
        _ options: PostgresOptions,
        count: Int,
        waitingLimit: Int,
        patience: Duration = usualPatience,
        report: @escaping @Sendable (PostgresError) -> Void = { _ in }
    ) {
        precondition(count > 0, "There is at least one connection.")
        var options = options
        options.applicationName += " " + name
        let places = (0..<count).map { Place(options, name: "\(name)-\($0)") }
        self.places = places
        self.waitingLimit = waitingLimit
        self.patience = patience
        self.report = report
        line = Mutex(Line(free: places))
    }

    /// Does the work on a connection's thread, in transactions of its own; once more when the first try failed for a reason that passes.
    ///
    /// Concurrent: a caller on an actor would otherwise keep the work on that actor's executor.
    ///
    /// - Parameter memory: what a try leaves to the next one, empty at first: an earlier try may have been committed, and the work finds out.
    @concurrent
    package func run<Value: Sendable, Memory>(
        remembering memory: @autoclosure @Sendable () -> Memory,
        _ work: @Sendable (inout Memory, Database) throws(PostgresError) -> Value
    ) async throws(DatabaseTrouble) -> Value {
        let place = try await take()
        do throws(PostgresError) {
            return try await perform(at: place, memory, work)
        } catch {
            throw .failed(error)
        }
    }

    /// The same for what may simply be repeated.
    package func run<Value: Sendable>(
        _ work: @Sendable (Database) throws(PostgresError) -> Value
    ) async throws(DatabaseTrouble) -> Value {
        try await run(remembering: ()) { (_, database) throws(PostgresError) in try work(database) }
    }

    /// The same for what may fail for other reasons as well: throws what the body throws, `DatabaseTrouble.busy` or `.stopped`.
    @concurrent
    package func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await perform(at: try await take(), { () }, { try body($1) })
    }

    /// Closes the connections and ends the threads. Calls that have a connection end as they would have; those that wait for one, and later ones, get
    /// `DatabaseTrouble.stopped`. Once it has been called it does nothing more.
    package func stop() async {
        let (waiting, isFirst) = line.withLock { line in
            defer { (line.waiting, line.isStopped) = ([], true) }
            return (line.waiting, !line.isStopped)
        }
        for waiter in waiting { waiter.turn.resume(returning: .failure(.stopped)) }
        guard isFirst else { return }
        // A thread that has ended takes no work: not before the last call that was given one has used it.
        await withCheckedContinuation { continuation in
            let areBack = line.withLock { line in
                if line.free.count < places.count { line.stopper = continuation }
                return line.free.count == places.count
            }
            if areBack { continuation.resume() }
        }
        for place in places {
            await place.thread.run { place.database.drop() }
            place.thread.stop()
        }
    }

    private func perform<Value: Sendable, Memory, Failure: Error>(
        at place: Place,
        _ memory: @Sendable () -> Memory,
        _ work: @Sendable (inout Memory, Database) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        defer { giveBack(place) }
        return try await place.thread.run { () throws(Failure) -> Value in
            place.thread.checkIsolated()
            return try persist(memory(), place.database, work)
        }
    }

    private func persist<Value, Memory, Failure: Error>(
        _ memory: Memory,
        _ database: Database,
        _ work: (inout Memory, Database) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var memory = memory
        var tried = 0
        while true {
            do throws(Failure) {
                return try work(&memory, database)
            } catch {
                guard let failure = error as? PostgresError else { throw error }
                report(failure)
                tried += 1
                // The server rolls back what a broken call left open, and a try through another connection finds the truth.
                database.drop()
                guard tried < Self.tries, failure.isTransient else { throw error }
            }
        }
    }

    // MARK: The line

    private func take() async throws(DatabaseTrouble) -> Place {
        let (place, trouble) = line.withLock { line -> (Place?, DatabaseTrouble?) in
            if line.isStopped { return (nil, .stopped) }
            if let free = line.free.popLast() { return (free, nil) }
            if line.waiting.count + line.coming >= waitingLimit { return (nil, .busy) }
            line.coming += 1
            return (nil, nil)
        }
        if let place { return place }
        if let trouble { throw trouble }
        return try await takeTurn().get()
    }

    /// Waits until a connection is given back, patience has ended, or the pool is stopped.
    private func takeTurn() async -> Result<Place, DatabaseTrouble> {
        let number = line.withLock { line in
            line.lastNumber += 1
            return line.lastNumber
        }
        return await withTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            return await withCheckedContinuation { turn in
                let answer = line.withLock { line -> Result<Place, DatabaseTrouble>? in
                    line.coming -= 1
                    if line.isStopped { return .failure(.stopped) }
                    // One may have been given back in between.
                    if let free = line.free.popLast() { return .success(free) }
                    line.waiting.append((number, turn))
                    return nil
                }
                if let answer { return turn.resume(returning: answer) }
                // Not before it stands in line: nobody would give up what is not there yet.
                group.addTask { [self] in
                    guard (try? await Task.sleep(for: patience)) != nil else { return }
                    giveUp(number)
                }
            }
        }
    }

    private func giveUp(_ number: Int) {
        let waiter = line.withLock { line in
            line.waiting.firstIndex { $0.number == number }.map { line.waiting.remove(at: $0) }
        }
        waiter?.turn.resume(returning: .failure(.busy))
    }

    private func giveBack(_ place: Place) {
        let (next, stopper) = line.withLock { line -> (Turn?, CheckedContinuation<Void, Never>?) in
            if !line.waiting.isEmpty { return (line.waiting.removeFirst().turn, nil) }
            line.free.append(place)
            guard line.free.count == places.count else { return (nil, nil) }
            defer { line.stopper = nil }
            return (nil, line.stopper)
        }
        next?.resume(returning: .success(place))
        stopper?.resume()
    }
}
