import Glibc
package import Postgres

/// The PostgreSQL that tests run against.
package enum TestServer {
    package static var url: String {
        get throws {
            guard let value = unsafe getenv("ORDER_ROUTER_TEST_DATABASE_URL") else {
                throw PostgresError(code: .connectionFailed, operation: "test", message: "ORDER_ROUTER_TEST_DATABASE_URL is not set")
            }
            return unsafe String(cString: value)
        }
    }
    package static func connect() throws -> PostgresConnection { try PostgresConnection(PostgresOptions(url: url)) }
}
