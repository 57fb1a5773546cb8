import Postgres
import TestSupport
import Testing

@Suite final class `A proxy before the server` {
    let database: TestDatabase
    let proxy: PostgresProxy
    let insert = Statement(name: "insert", sql: "INSERT INTO t VALUES (1)")

    init() throws {
        database = try TestDatabase(migrations: "/nonexistent")
        proxy = try PostgresProxy(to: database.url)
        try database.connect().execute("CREATE TABLE t (n int8)")
    }

    deinit {
        proxy.stop()
    }

    private var rows: Int64 {
        get throws { try database.connect().query("SELECT count(*) FROM t").int64(0, 0) }
    }

    private func connect() throws -> PostgresConnection {
        let connection = try PostgresConnection(TestServer.options(url: proxy.url))
        try connection.prepare([insert])
        return connection
    }

    @Test func `passes everything on`() throws {
        let connection = try connect()
        let block = String(repeating: "x", count: 3_000_000)
        #expect(try connection.query("SELECT '\(block)'").text(0, 0) == block)
        #expect(proxy.cuts == 0)
    }

    @Test func `cuts a COMMIT whose answer is lost: it has happened and nobody knows`() throws {
        let connection = try connect()
        proxy.cut(.afterServer, at: "commit")
        let error = #expect(throws: PostgresError.self) {
            try connection.pipeline { pipeline in
                pipeline.add(.begin)
                pipeline.add(insert)
                pipeline.add(.commit)
            }
        }
        #expect(error?.code == .connectionLost)
        #expect(error?.isOutcomeUnknown == true)
        #expect(!connection.isUsable)
        #expect(try rows == 1)
        #expect(proxy.cuts == 1)
        #expect(try connect().query("SELECT 1::int8").int64(0, 0) == 1)
    }

    @Test func `cuts a COMMIT before it arrives: it has not happened and nobody knows`() throws {
        let connection = try connect()
        try connection.begin()
        try connection.run(insert)
        proxy.cut(.beforeServer, at: "COMMIT")
        let error = #expect(throws: PostgresError.self) { try connection.commit() }
        #expect(error?.code == .connectionLost)
        #expect(error?.isOutcomeUnknown == true)
        #expect(try rows == 0)
    }

    @Test func `cuts a simple query too`() throws {
        let connection = try connect()
        proxy.cut(.afterServer, at: "into t values (2)")
        #expect(throws: PostgresError.self) { try connection.execute("INSERT INTO t VALUES (2)") }
        #expect(try rows == 1)
    }

    @Test func `falls silent: the deadline ends the wait`() throws {
        let connection = try connect()
        proxy.cut(.silenceAfterServer, at: "insert")
        let error = #expect(throws: PostgresError.self) { try connection.pipeline(within: .milliseconds(500)) { $0.add(insert) } }
        #expect(error?.code == .timedOut)
        #expect(try rows == 1)
    }

    @Test func `lets an earlier pipeline end before it cuts the planned one`() throws {
        let connection = try connect()
        try connection.sendPipeline { $0.add(insert) }
        proxy.cut(.afterServer, at: "commit")
        #expect(throws: PostgresError.self) {
            try connection.sendPipeline { pipeline in
                pipeline.add(.begin)
                pipeline.add(insert)
                pipeline.add(.commit)
            }
            _ = try connection.readPipeline()
            _ = try connection.readPipeline()
        }
        #expect(try rows == 2)
    }

    @Test func `cuts all connections at once`() throws {
        let connections = [try connect(), try connect()]
        proxy.cutAll()
        for connection in connections {
            let error = #expect(throws: PostgresError.self) { try connection.execute("SELECT 1") }
            #expect(error?.code == .connectionLost)
        }
        #expect(try connect().isUsable)
    }
}

@Suite struct `Options` {
    @Test func `of several hosts go on to the next and remember which one answered`() throws {
        let proxy = try PostgresProxy()
        defer { proxy.stop() }
        let dead = try PostgresOptions.url(proxy.url, replacing: ["host": "/nonexistent,\(proxyHost(proxy)),/nowhere", "port": "5432,5432,5432"])
        let connection = try PostgresConnection(TestServer.options(url: dead))
        #expect(connection.hostIndex == 1)
        let rotated = try PostgresConnection(TestServer.options(url: dead).rotated(past: 1))
        #expect(rotated.hostIndex == 1)
    }

    @Test func `of several hosts give each its own time`() throws {
        let silent = try SilentServer()
        let address = try #require(TestServer.connect().server.wholeMatch(of: /(.+):(\d+)\/[^\/]*/))
        let (host, port) = (address.1, address.2)
        var options = TestServer.options(
            url: try PostgresOptions.url(TestServer.url, replacing: ["host": "\(silent.host),\(host)", "port": "5432,\(port)"])
        )
        options.firstHost = 1
        #expect(try PostgresConnection(options).hostIndex == 1)
        options.firstHost = 0
        options.connectTimeout = .seconds(2)
        #expect(try PostgresConnection(options).hostIndex == 1)

        options.url = try PostgresOptions.url(TestServer.url, replacing: ["host": silent.host, "port": "5432"])
        options.connectTimeout = .milliseconds(100)
        let error = #expect(throws: PostgresError.self) { try PostgresConnection(options) }
        #expect(error?.code == .connectionFailed)
        #expect(error?.message.contains("did not answer within") == true)
    }

    private func proxyHost(_ proxy: PostgresProxy) -> String {
        String(proxy.url.firstMatch(of: /host='([^']*)'/)?.1 ?? "")
    }

    @Test func `that reach nobody say what each host said`() throws {
        let error = #expect(throws: PostgresError.self) {
            try PostgresConnection(PostgresOptions(url: "postgresql://x@/y?host=/nonexistent-one,/nonexistent-two"))
        }
        #expect(error?.code == .connectionFailed)
        #expect(error?.isTransient == true)
        #expect(error?.isOutcomeUnknown == false)
        #expect(error?.message.contains("/nonexistent-one") == true)
        #expect(error?.message.contains("/nonexistent-two") == true)
    }

    @Test func `that cannot be read never show a password`() {
        for url in ["postgres://u:secret@host:port:port/", "password=secret host", "host=a,b,c port=1,2 password=secret"] {
            let error = #expect(throws: PostgresError.self) { try PostgresConnection(PostgresOptions(url: url)) }
            #expect(error?.code == .connectionFailed)
            #expect(error?.message.contains("secret") == false)
        }
    }

    @Test func `can have values replaced, quotes included`() throws {
        let url = try PostgresOptions.url("postgresql://me@host/old?application_name=x", replacing: ["dbname": #"a'b\c"#])
        #expect(url == #"application_name='x' dbname='a\'b\\c' host='host' user='me'"#)
        #expect(try PostgresOptions.url(url, replacing: [:]) == url)
    }
}
