import Glibc
import Synchronization

/// Runs other programs and waits for them on the calling thread; works also while this process is ending.
enum Program {
    struct Outcome {
        /// The exit status, or 128 and the signal's number, as a shell counts.
        let status: Int32
        /// What it wrote to its standard output and error.
        let output: String
    }

    /// Runs a program to its end, in the root folder and with nothing to read. Its descendants must close their output or end with it.
    static func run(_ arguments: [String]) throws(PostgresError) -> Outcome {
        let (started, reading) = try starting.withLock { _ throws(PostgresError) in
            let (reading, writing) = try pipeOfOurs(arguments)
            defer { close(writing) }
            do throws(PostgresError) {
                return (try start(arguments, input: nil, output: writing), reading)
            } catch {
                close(reading)
                throw error
            }
        }
        defer { close(reading) }
        var output: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe read(reading, &block, block.count)
            if count > 0 { output += block[..<count] }
            if count == 0 || (count < 0 && errno != EINTR) { break }
        }
        var status: Int32 = 0
        while unsafe waitpid(started, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7f
        return Outcome(status: signal == 0 ? (status >> 8) & 0xff : 128 + signal, output: String(decoding: output, as: UTF8.self))
    }

    /// Starts a program in a process group of its own, so that a terminal's Ctrl-C does not reach it. Returns the end of a pipe; when that is
    /// closed, at the latest by the end of this process whatever its cause, the program's standard input ends.
    static func startBound(_ arguments: [String]) throws(PostgresError) -> Int32 {
        try starting.withLock { _ throws(PostgresError) in
            let (reading, writing) = try pipeOfOurs(arguments)
            defer { close(reading) }
            do throws(PostgresError) {
                _ = try start(arguments, input: reading, output: nil)
            } catch {
                close(writing)
                throw error
            }
            return writing
        }
    }

    /// One start at a time: between its making and its mark for closing, a pipe would be inherited by another program that starts.
    private static let starting = Mutex(())

    private static func pipeOfOurs(_ arguments: [String]) throws(PostgresError) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw failure(arguments, "no pipe", errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func start(_ arguments: [String], input: Int32?, output: Int32?) throws(PostgresError) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        if let input {
            unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
            unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        for descriptor in [1, 2] as [Int32] {
            if let output {
                unsafe posix_spawn_file_actions_adddup2(&actions, output, descriptor)
            } else {
                unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
            }
        }
        // The working folder need not be one that the user postgres may enter.
        let arguments = ["env", "-C", "/"] + arguments
        // PGDATA, PGPORT, PGOPTIONS and the like of the environment are for another server.
        let environment = inheritedEnvironment().filter { !$0.hasPrefix("PG") }
        var strings: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer {
            for index in arguments.indices { unsafe free(strings[index]) }
            for index in environment.indices { unsafe free(variables[index]) }
        }
        var process: pid_t = 0
        let code = unsafe posix_spawnp(&process, arguments[0], &actions, &attributes, &strings, &variables)
        guard code == 0 else { throw failure(arguments, "cannot be started", code) }
        return process
    }

    private static func inheritedEnvironment() -> [String] {
        var found: [String] = []
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            unsafe found.append(String(cString: text))
            unsafe entry += 1
        }
        return found
    }

    private static func failure(_ arguments: [String], _ what: String, _ code: Int32) -> PostgresError {
        PostgresError(code: .clusterFailed, operation: arguments[0], message: unsafe "\(what): \(String(cString: strerror(code)))")
    }
}
