import Cryptography
import Foundation
import Testing

@testable import Identity

private let name1 = KeyName(id: "k1", algorithm: .es256)
private let name2 = KeyName(id: "k2", algorithm: .es256)

/// The usable keys and whether they changed; nil for a failure.
private func refreshed(_ report: KeySetSource.Report?) -> (keys: Int, changed: Bool)? {
    if case .refreshed(let keys, _, let changed)? = report { (keys, changed) } else { nil }
}

private func failure(_ report: KeySetSource.Report?) -> (code: IdentityError.Code, age: Duration?)? {
    if case .failed(let error, let age)? = report { (error.code, age) } else { nil }
}

@Suite(.timeLimit(.minutes(1))) struct `A key set's source` {
    let folder: TemporaryFolder
    let first: TestKey
    let second: TestKey
    let test: SourceUnderTest

    init() throws {
        folder = try TemporaryFolder()
        first = try TestKey("k1")
        second = try TestKey("k2")
        try folder.write(TestKey.keySet([first]), to: "jwks.json")
        test = try SourceUnderTest(folder.path("jwks.json"))
    }

    @Test func `has no keys before it is read`() async throws {
        #expect(test.source.current == nil)
        try await test.source.load()
        #expect(test.source.current?[name1] != nil)
        #expect(refreshed(await test.nextReport())! == (1, true))
    }

    @Test func `reads the file again each minute`() async throws {
        try await test.source.load()
        #expect(refreshed(await test.nextReport())! == (1, true))
        try await test.running {
            #expect(await test.time.sleeperAppears() == .seconds(60))
            try folder.write(TestKey.keySet([second]), to: "jwks.json")
            test.time.advance(by: .seconds(59))
            #expect(test.source.current?[name1] != nil)
            test.time.advance(by: .seconds(1))
            #expect(refreshed(await test.nextReport())! == (1, true))
            #expect(test.source.current?[name1] == nil)
            #expect(test.source.current?[name2] != nil)
            #expect(await test.time.sleeperAppears() == .seconds(60))
            test.time.advance(by: .seconds(60))
            #expect(refreshed(await test.nextReport())! == (1, false))
        }
    }

    @Test func `reads at once when it runs unread`() async throws {
        try await test.running {
            #expect(refreshed(await test.nextReport())! == (1, true))
            #expect(await test.time.sleeperAppears() == .seconds(60))
        }
    }

    @Test(arguments: ["", "{", "{}", #"{"keys":1}"#])
    func `keeps the old set for ten minutes when it cannot read a new one`(_ broken: String) async throws {
        try await test.source.load()
        _ = await test.nextReport()
        try await test.running {
            #expect(await test.time.sleeperAppears() == .seconds(60))
            try folder.write(broken, to: "jwks.json")
            test.time.advance(by: .seconds(60))
            #expect(failure(await test.nextReport())! == (.invalidKeySet, .seconds(60)))
            #expect(test.source.current?[name1] != nil)
            // From now on it tries more often.
            #expect(await test.time.sleeperAppears() == .seconds(5))
            test.time.advance(by: .seconds(539))
            #expect(failure(await test.nextReport())! == (.invalidKeySet, .seconds(599)))
            #expect(test.source.current?[name1] != nil)
            test.time.advance(by: .seconds(1))
            #expect(test.source.current == nil)
            // And takes the set again as soon as there is one.
            try folder.write(TestKey.keySet([second]), to: "jwks.json")
            #expect(await test.time.sleeperAppears() <= .seconds(5))
            test.time.advance(by: .seconds(5))
            #expect(refreshed(await test.nextReport())! == (1, true))
            #expect(test.source.current?[name2] != nil)
        }
    }

    @Test func `takes an empty set for what it says: no key is good any more`() async throws {
        try await test.source.load()
        try folder.write(#"{"keys":[]}"#, to: "jwks.json")
        try await test.source.load()
        #expect(test.source.current?.keys.isEmpty == true)
    }

    @Test func `reports a missing or huge file`() async throws {
        let absent = try SourceUnderTest(folder.path("absent.json"))
        await #expect(throws: IdentityError(.unreachable, "read key set", "the file cannot be opened")) { try await absent.source.load() }
        #expect(failure(await absent.nextReport())! == (.unreachable, nil))
        try folder.write(String(repeating: " ", count: KeySetLocation.maximumBytes + 1), to: "jwks.json")
        await #expect(throws: IdentityError(.unreachable, "read key set", "the file is too large")) { try await test.source.load() }
    }

    @Test(arguments: ["", "ftp://host/x", "http://", "https:///x", "file:///etc/keys"])
    func `refuses a place that is neither path nor web address`(_ place: String) {
        #expect(throws: IdentityError.self) { try KeySetLocation(place) }
    }

    @Test func `is asked for an unknown key at most once in five seconds`() async throws {
        try await test.source.load()
        _ = await test.nextReport()
        try await test.running {
            _ = await test.time.sleeperAppears()
            try folder.write(TestKey.keySet([first, second]), to: "jwks.json")
            await test.source.refreshForUnknownKey()
            #expect(refreshed(await test.nextReport())! == (2, true))
            #expect(test.source.current?[name2] != nil)

            try folder.write(TestKey.keySet([first]), to: "jwks.json")
            test.time.advance(by: .milliseconds(4_999))
            await test.source.refreshForUnknownKey()
            #expect(test.source.current?[name2] != nil)
            test.time.advance(by: .milliseconds(1))
            await test.source.refreshForUnknownKey()
            #expect(refreshed(await test.nextReport())! == (1, true))
            #expect(test.source.current?[name2] == nil)
        }
    }

    @Test func `lets all who miss a key wait for one reading`() async throws {
        let server = try TinyServer(.text(status: 200, body: TestKey.keySet([first])))
        let test = try SourceUnderTest(server.url)
        try await test.source.load()
        server.willAnswer(.text(status: 200, body: try TestKey.keySet([first, second])))
        let verifier = TokenVerifier(settings: .init(issuer: TestKey.issuer, audience: TestKey.audience), source: test.source)
        let token = try second.token()
        try await test.running {
            _ = await test.time.sleeperAppears()
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        if case .principal = await verifier.verify(token, now: TestKey.now * 1_000) { true } else { false }
                    }
                }
                for await isTaken in group { #expect(isTaken) }
            }
            #expect(server.requests == 2)
        }
    }

    @Test func `does not look for unknown keys unless it runs, and lets nobody hang when it ends`() async throws {
        try await test.source.load()
        await test.source.refreshForUnknownKey()

        let server = try TinyServer(.text(status: 200, body: TestKey.keySet([first])))
        let stuck = try SourceUnderTest(server.url)
        try await stuck.source.load()
        server.willAnswer(.silence)
        let running = Task { try await stuck.source.run() }
        _ = await stuck.time.sleeperAppears()
        async let waiting: Void = stuck.source.refreshForUnknownKey()
        while server.requests < 2 { await Task.yield() }
        running.cancel()
        await waiting
        await #expect(throws: CancellationError.self) { try await running.value }
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A key set on a web server` {
    let key: TestKey
    let body: String

    init() throws {
        key = try TestKey("k1")
        body = try TestKey.keySet([key])
    }

    @Test func `is read`() async throws {
        let server = try TinyServer(.text(status: 200, body: body))
        let test = try SourceUnderTest(server.url)
        try await test.source.load()
        #expect(test.source.current?[name1] != nil)
        try await test.source.load()
        #expect(server.requests == 2)
    }

    @Test(arguments: [204, 301, 401, 404, 500, 503])
    func `is not taken from an answer other than 200`(_ status: Int) async throws {
        let server = try TinyServer(.text(status: status, body: status == 204 ? "" : body))
        let test = try SourceUnderTest(server.url)
        await #expect(throws: IdentityError(.unreachable, "read key set", "the server's answer is not 200")) { try await test.source.load() }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `is not fetched from where a redirect leads`(_ status: Int) async throws {
        let other = try TinyServer(.text(status: 200, body: body))
        let server = try TinyServer(.text(status: status, headers: "Location: \(other.url)\r\n", body: ""))
        let test = try SourceUnderTest(server.url)
        await #expect(throws: IdentityError(.unreachable, "read key set", "the server's answer is not 200")) { try await test.source.load() }
        #expect(server.requests == 1)
        #expect(other.requests == 0)
        #expect(test.source.current == nil)
    }

    @Test func `larger than a megabyte is refused`() async throws {
        let server = try TinyServer(.text(status: 200, body: String(repeating: " ", count: KeySetLocation.maximumBytes + 1)))
        let test = try SourceUnderTest(server.url)
        await #expect(throws: IdentityError(.unreachable, "read key set", "the answer is too large")) { try await test.source.load() }
    }

    @Test func `that does not answer is given up in time`() async throws {
        let server = try TinyServer(.silence)
        var settings = KeySetSource.Settings()
        settings.readTimeout = .seconds(1)
        let test = try SourceUnderTest(server.url, settings: settings)
        let took = await ContinuousClock().measure {
            await #expect(throws: IdentityError(.unreachable, "read key set", "the answer is not there in time")) { try await test.source.load() }
        }
        // Far from the second on a machine with much to do, and far from the minute that a URL session waits by itself.
        #expect(took < .seconds(30))
        #expect(failure(await test.nextReport())! == (.unreachable, nil))
    }

    @Test func `is not waited for by a task that was cancelled before`() async throws {
        let server = try TinyServer(.silence)
        let test = try SourceUnderTest(server.url)
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await test.source.load()
        }
        await #expect(throws: IdentityError.self) { try await task.value }
    }

    @Test func `that is not there is reported`() async throws {
        let place: String
        do {
            let server = try TinyServer(.silence)
            place = server.url
        }
        let test = try SourceUnderTest(place)
        await #expect(throws: IdentityError.self) { try await test.source.load() }
    }
}
