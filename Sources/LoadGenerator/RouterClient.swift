import Foundation
import Glibc
import Trading
import Wire

/// A few requests beside the load, each on a connection of its own that blocks its caller.
struct RouterClient: Sendable {
    let host: String
    let port: UInt16

    private static let patienceMilliseconds: Int32 = 10_000

    /// The prices of the symbols now.
    func prices(_ symbols: [String], _ trader: Trader) throws -> [OrderPlan.Price] {
        let body = try get("/v1/quotes?symbols=\(symbols.joined(separator: ","))", token: trader.token)
        guard case .array(let quotes)? = try JSONReader.read(body, limits: .answer)["quotes"] else {
            throw LoadFailure("the router's quotes cannot be read")
        }
        let prices = quotes.compactMap { quote -> OrderPlan.Price? in
            guard case .string(let name)? = quote["symbol"], let symbol = Symbol(name), case .string(let bid)? = quote["bid"],
                case .string(let ask)? = quote["ask"], let bid = Amount(bid), let ask = Amount(ask)
            else { return nil }
            return OrderPlan.Price(symbol: symbol, bid: bid, ask: ask)
        }
        guard prices.count == symbols.count else {
            throw LoadFailure("the router has prices for \(prices.count) of \(symbols.joined(separator: ", "))")
        }
        return prices
    }

    /// Pieces of work and batches that each leg has done since the router started.
    func batches() throws -> [String: BatchCount] { BatchCount.read(String(decoding: try get("/metrics", token: nil), as: UTF8.self)) }

    /// - Throws: where the answer is not 200.
    func get(_ path: String, token: String?) throws(LoadFailure) -> [UInt8] {
        let socket = try Socket(host: host, port: port)
        try wait(socket, POLLOUT)
        guard socket.failure == 0 else { throw LoadFailure("\(host):\(port) cannot be connected to (errno \(socket.failure))") }
        let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        let request = Array("GET \(path) HTTP/1.1\r\nHost: \(host):\(port)\r\n\(authorization)Connection: close\r\n\r\n".utf8)
        guard socket.send(request, from: 0) == request.count else { throw LoadFailure("GET \(path) could not be sent") }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            try wait(socket, POLLIN)
            switch socket.receive(into: &buffer, from: 0) {
            case .nothing: continue
            case .closed: throw LoadFailure("GET \(path) was not answered")
            case .bytes(let count): answer += buffer[0..<count]
            }
            guard case .head(let head) = ResponseReader.head(answer, 0, answer.count), let count = head.bodyCount,
                answer.count >= head.bodyStart + count
            else { continue }
            let body = Array(answer[head.bodyStart..<head.bodyStart + count])
            guard head.status == 200 else { throw LoadFailure("GET \(path): \(head.status) \(String(decoding: body, as: UTF8.self))") }
            return body
        }
    }

    private func wait(_ socket: Socket, _ what: Int32) throws(LoadFailure) {
        var entry = pollfd(fd: socket.descriptor, events: Int16(what), revents: 0)
        guard unsafe poll(&entry, 1, Self.patienceMilliseconds) > 0 else { throw LoadFailure("\(host):\(port) does not answer") }
    }
}

/// What `order_router_batch_size` says of a leg.
struct BatchCount: Codable, Sendable, Equatable {
    var pieces: Double
    var batches: Double

    /// Pieces of work in a batch, on average.
    var mean: Double { batches == 0 ? 0 : pieces / batches }

    static func - (later: BatchCount, earlier: BatchCount) -> BatchCount {
        BatchCount(pieces: later.pieces - earlier.pieces, batches: later.batches - earlier.batches)
    }

    /// By leg, from the text of /metrics.
    static func read(_ text: String) -> [String: BatchCount] {
        var legs: [String: BatchCount] = [:]
        for match in text.matches(of: /order_router_batch_size_(sum|count)\{leg="(\w+)"\} ([0-9.e+]+)/) {
            guard let value = Double(match.3) else { continue }
            let leg = String(match.2)
            if match.1 == "sum" { legs[leg, default: BatchCount(pieces: 0, batches: 0)].pieces = value }
            if match.1 == "count" { legs[leg, default: BatchCount(pieces: 0, batches: 0)].batches = value }
        }
        return legs
    }
}
