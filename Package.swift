// swift-tools-version: 6.3

// The map of the system, bottom up. A target may import only targets that stand above it in this
// file, and only those on its own line; Tests/TidyTests reads this file and fails otherwise.

import PackageDescription

let package = Package(
    name: "order-router",
    products: [
        .executable(name: "order-router", targets: ["OrderRouter"]),
        .executable(name: "load-generator", targets: ["LoadGenerator"]),
    ],
    targets: [
        // MARK: C libraries. A module map and a shim header each, nothing else.
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibEvent", pkgConfig: "libevent_openssl", providers: [.apt(["libevent-dev"])]),
        .systemLibrary(name: "CHTTPParser", providers: [.apt(["libhttp-parser-dev"])]),
        .systemLibrary(name: "CWslay", providers: [.apt(["libwslay-dev"])]),
        .systemLibrary(name: "CEpoll"),
        .systemLibrary(name: "CDatagrams"),
        .systemLibrary(name: "CAllocations"),

        // MARK: Edges. Each wraps one outside thing and knows nothing of trading.
        .target(name: "Postgres", dependencies: ["CLibPQ"]),
        .target(name: "Cryptography", dependencies: ["COpenSSL"]),
        .target(name: "HTTPServer", dependencies: ["CHTTPParser", "CLibEvent", "COpenSSL", "CWslay", "Cryptography"]),
        .target(name: "FIX", dependencies: ["COpenSSL", "Cryptography"], exclude: ["Dictionary/QUICKFIX_LICENSE"]),
        .target(name: "BinaryFeed", dependencies: ["CDatagrams"]),

        // MARK: Rules. Values in, values out: no await, no clock, no input or output.
        .target(name: "Trading"),
        .target(name: "Quotes", dependencies: ["Trading"]),
        .target(name: "Wire", dependencies: ["Cryptography", "Trading"]),

        // MARK: Storage. Every SQL statement, one file each.
        .target(name: "Storage", dependencies: ["Postgres", "Quotes", "Trading"], resources: [.copy("SQL")]),

        // MARK: Stations. They never import one another: they meet in committed rows.
        .target(name: "OrderDesk", dependencies: ["Postgres", "Quotes", "Storage", "Trading", "Wire"]),
        .target(name: "Identity", dependencies: ["Cryptography", "Postgres", "Storage", "Trading", "Wire"]),
        .target(name: "Venue", dependencies: ["FIX", "Postgres", "Storage", "Trading"]),
        .target(
            name: "MarketData",
            dependencies: ["BinaryFeed", "FIX", "Postgres", "Quotes", "Storage", "Trading", "Wire"],
            resources: [.copy("exchange-calendars.txt")]
        ),

        // MARK: Doors. How the outside reaches the stations, and the other side of each door.
        .target(
            name: "Gateway",
            dependencies: [
                "Cryptography", "HTTPServer", "Identity", "MarketData", "OrderDesk", "Postgres", "Quotes", "Storage", "Trading", "Wire",
            ]
        ),
        .target(name: "ExchangeSimulator", dependencies: ["BinaryFeed", "FIX", "HTTPServer", "Trading"]),

        // MARK: Programs. Composition only.
        .executableTarget(
            name: "OrderRouter",
            dependencies: [
                "Cryptography", "ExchangeSimulator", "FIX", "Gateway", "HTTPServer", "Identity", "MarketData", "OrderDesk", "Postgres", "Quotes",
                "Storage", "Trading", "Venue", "Wire",
            ]
        ),
        .executableTarget(
            name: "LoadGenerator",
            dependencies: [
                "BinaryFeed", "CAllocations", "CEpoll", "Cryptography", "ExchangeSimulator", "FIX", "HTTPServer", "Identity", "MarketData",
                "OrderDesk",
                "Postgres", "Quotes", "Storage", "Trading", "Wire",
            ]
        ),

        // MARK: Tests. One target beside each target above, and two that see the whole.
        .target(name: "TestSupport", dependencies: ["Postgres"], path: "Tests/TestSupport"),
        .target(
            name: "JourneySupport",
            dependencies: ["Cryptography", "ExchangeSimulator", "FIX", "Identity", "Postgres", "Storage", "TestSupport", "Trading", "Wire"],
            path: "Tests/JourneySupport"
        ),
        .testTarget(name: "PostgresTests", dependencies: ["Postgres", "TestSupport"]),
        .testTarget(name: "CryptographyTests", dependencies: ["Cryptography"]),
        .testTarget(name: "HTTPServerTests", dependencies: ["HTTPServer"], exclude: ["Scripts"]),
        .testTarget(name: "FIXTests", dependencies: ["Cryptography", "FIX", "TestSupport"], exclude: ["Scripts"]),
        .testTarget(name: "TradingTests", dependencies: ["Trading"]),
        .testTarget(name: "QuotesTests", dependencies: ["Quotes", "Trading"]),
        .testTarget(name: "WireTests", dependencies: ["Cryptography", "Trading", "Wire"]),
        .testTarget(
            name: "IdentityTests",
            dependencies: ["Cryptography", "Identity", "Postgres", "Storage", "TestSupport", "Trading", "Wire"]
        ),
        .testTarget(name: "BinaryFeedTests", dependencies: ["BinaryFeed"]),
        .testTarget(
            name: "MarketDataTests",
            dependencies: ["BinaryFeed", "ExchangeSimulator", "FIX", "MarketData", "Quotes", "Trading"]
        ),
        .testTarget(name: "ExchangeSimulatorTests", dependencies: ["BinaryFeed", "ExchangeSimulator", "FIX", "HTTPServer", "Trading"]),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "Cryptography", "ExchangeSimulator", "Identity", "JourneySupport", "OrderRouter", "Postgres", "Storage", "TestSupport", "Trading",
                "Wire",
            ],
            exclude: ["Scripts"]
        ),
        .testTarget(
            name: "JourneyTests",
            dependencies: [
                "BinaryFeed", "Cryptography", "ExchangeSimulator", "FIX", "Gateway", "HTTPServer", "Identity", "JourneySupport", "MarketData",
                "OrderDesk",
                "OrderRouter", "Postgres", "Quotes", "Storage", "TestSupport", "Trading", "Venue", "Wire",
            ],
            exclude: ["Scripts"]
        ),
        .testTarget(
            name: "OrderRouterTests",
            dependencies: [
                "Cryptography", "ExchangeSimulator", "FIX", "Gateway", "HTTPServer", "Identity", "MarketData", "OrderDesk", "OrderRouter", "Postgres",
                "Quotes", "Storage", "TestSupport", "Trading", "Venue", "Wire",
            ]
        ),
        .testTarget(
            name: "LoadGeneratorTests",
            dependencies: [
                "Cryptography", "ExchangeSimulator", "HTTPServer", "JourneySupport", "LoadGenerator", "OrderRouter", "Postgres", "Storage",
                "TestSupport", "Trading", "Wire",
            ]
        ),
        .testTarget(name: "StorageTests", dependencies: ["Postgres", "Quotes", "Trading", "Storage", "TestSupport"]),
        .testTarget(name: "OrderDeskTests", dependencies: ["Postgres", "Quotes", "Trading", "Wire", "Storage", "OrderDesk", "TestSupport"]),
        .testTarget(name: "TidyTests"),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
    ]
}
