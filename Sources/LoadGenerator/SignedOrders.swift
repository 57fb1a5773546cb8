import Cryptography
import Foundation
import Synchronization
import Trading
import Wire

func logarithm(_ value: Double) -> Double { Foundation.log(value) }

/// A request as it goes over the wire, as often as need be.
struct SignedOrder: Sendable {
    let digest: UInt64
    let trader: Int32
    let expected: OrderPlan.Expected
    /// Monotonic nanoseconds.
    let signedAt: Int64
    let bytes: [UInt8]

    /// The idempotency key, read back from the header.
    var key: String {
        let name = Array("\r\n\(PlaceOrderHeaders.Name.idempotencyKey): ".utf8)
        guard let start = ByteSearch.find(name, in: bytes, 0, bytes.count) else { preconditionFailure("Every request has its key.") }
        return String(decoding: bytes[start + name.count..<start + name.count + 36], as: UTF8.self)
    }
}

/// Orders that a thread of its own has signed, waiting to be sent; bounded, so that none is older than the router takes.
final class SignedOrders: Sendable {
    private struct State {
        var ready: [SignedOrder] = []
        /// How many of them are gone: they leave the array in large portions, because that moves all the others.
        var taken = 0
        var isOver = false
        var signed = 0
        var used: Int64 = 0
        var failure: String?
    }

    private let state = Mutex(State())
    /// One for each order that may yet wait. Begins at nothing and is raised: dispatch takes it ill when a semaphore ends below its beginning.
    private let room = DispatchSemaphore(value: 0)
    private let finished = DispatchSemaphore(value: 0)
    private let stopping = Atomic(false)
    private let settings: LoadSettings
    private let prices: Mutex<[OrderPlan.Price]>

    init(_ settings: LoadSettings, prices: [OrderPlan.Price]) {
        self.settings = settings
        self.prices = Mutex(prices)
        for _ in 0..<settings.ahead { room.signal() }
    }

    /// Begins to sign; where all orders fit into the pool, returns when all are signed.
    func start() throws(LoadFailure) {
        let thread = Thread { [self] in
            sign()
            finished.signal()
        }
        thread.name = "signer"
        thread.start()
        guard let orders = settings.orders, settings.ahead >= orders else { return }
        finished.wait()
        finished.signal()
        try check()
    }

    func stop() {
        stopping.store(true, ordering: .relaxed)
        room.signal()
        finished.wait()
    }

    /// Later orders are drawn at these prices.
    func reprice(_ prices: [OrderPlan.Price]) { self.prices.withLock { $0 = prices } }

    /// Moves what is ready behind what the caller has.
    func take(into orders: inout [SignedOrder], limit: Int) {
        let count = state.withLock { state in
            let count = min(limit, state.ready.count - state.taken)
            // The sender takes from the end: the oldest must stand there.
            orders.append(contentsOf: state.ready[state.taken..<state.taken + count].reversed())
            state.taken += count
            if state.taken > max(1_024, state.ready.count / 2) {
                state.ready.removeFirst(state.taken)
                state.taken = 0
            }
            return count
        }
        for _ in 0..<count { room.signal() }
    }

    /// Nothing more will come.
    var isOver: Bool { state.withLock { $0.isOver && $0.ready.count == $0.taken } }

    /// Orders signed, and the nanoseconds of processor time that it took.
    var cost: (signed: Int, used: Int64) { state.withLock { ($0.signed, $0.used) } }

    func check() throws(LoadFailure) {
        if let failure = state.withLock({ $0.failure }) { throw LoadFailure("signing failed: \(failure)") }
    }

    private func sign() {
        var plan = OrderPlan(settings)
        var random = SystemRandomNumberGenerator()
        let heads = settings.traders.map { OrderBytes.head($0, host: "\(settings.host):\(settings.port)") }
        var count = 0
        while count < settings.orders ?? .max, !stopping.load(ordering: .relaxed) {
            room.wait()
            let planned = plan.next(prices.withLock { $0 })
            do {
                let order = try OrderBytes.signed(planned, settings.traders[planned.trader], heads[planned.trader], using: &random)
                count += 1
                let used = ThreadClock.used
                state.withLock { state in
                    state.ready.append(order)
                    (state.signed, state.used) = (count, used)
                }
            } catch {
                state.withLock { ($0.failure, $0.isOver) = ("\(error)", true) }
                return
            }
        }
        state.withLock { $0.isOver = true }
    }
}

/// Requests as finished bytes.
enum OrderBytes {
    /// What all orders of a trader have in common.
    static func head(_ trader: Trader, host: String) -> [UInt8] {
        Array(
            """
            POST \(OrderPath.orders) HTTP/1.1\r
            Host: \(host)\r
            Authorization: Bearer \(trader.token)\r
            Content-Type: application/json\r
            \(PlaceOrderHeaders.Name.credential): \(trader.credential)\r\n
            """.utf8
        )
    }

    static func signed(
        _ planned: OrderPlan.Planned,
        _ trader: Trader,
        _ head: [UInt8],
        using random: inout SystemRandomNumberGenerator
    ) throws -> SignedOrder {
        let now = WallClock.milliseconds
        let key = newKey(at: now, using: &random)
        func request(_ signature: [UInt8]) -> PlaceOrderRequest {
            PlaceOrderRequest(
                account: trader.account,
                terms: planned.terms,
                estimatedTotal: nil,
                key: key,
                signature: signature,
                credentialID: trader.credential,
                clientTimestamp: now,
                quoteReference: now
            )
        }
        // A signature that is one, over something else.
        let form = planned.expected == .signatureInvalid ? [UInt8(ascii: "x")] : SignedForm.order(request([]))
        let order = request(try trader.key.sign(form))
        let headers = order.headers
        let body = order.body
        var bytes = head
        bytes.reserveCapacity(head.count + 320 + body.count)
        for (name, value) in [
            (PlaceOrderHeaders.Name.idempotencyKey, headers.idempotencyKey), (PlaceOrderHeaders.Name.signature, headers.signature),
            (PlaceOrderHeaders.Name.clientTimestamp, headers.clientTimestamp),
            (PlaceOrderHeaders.Name.quoteReferenceTimestamp, headers.quoteReferenceTimestamp), ("Content-Length", String(body.count)),
        ] {
            bytes += name.utf8
            bytes += ": ".utf8
            bytes += (value ?? "").utf8
            bytes += "\r\n".utf8
        }
        bytes += "\r\n".utf8
        bytes += body
        let digest = sha256(SignedForm.orderIdentityText(account: trader.account, key: key))
        return SignedOrder(
            digest: OrderDigest.of(digest),
            trader: Int32(planned.trader),
            expected: planned.expected,
            signedAt: MonotonicClock.now,
            bytes: bytes
        )
    }

    /// RFC 9562 section 5.7: 48 bits of milliseconds since the epoch, then 74 random bits.
    static func newKey(at now: Int64, using random: inout SystemRandomNumberGenerator) -> IdempotencyKey {
        let high = UInt64(bitPattern: now) << 16 | 0x7000 | random.next() & 0xFFF
        guard let key = IdempotencyKey(high: high, low: 1 << 63 | random.next() >> 2) else {
            preconditionFailure("These bits have version 7 and its variant.")
        }
        return key
    }

    /// Opens an account's event stream; after a break behind the last event that was seen.
    static func stream(_ trader: Trader, host: String, after lastID: [UInt8]) -> [UInt8] {
        var bytes = Array(
            """
            GET \(OrderPath.orders)/events?account_id=\(trader.account) HTTP/1.1\r
            Host: \(host)\r
            Authorization: Bearer \(trader.token)\r\n
            """.utf8
        )
        if !lastID.isEmpty { bytes += Array("Last-Event-ID: ".utf8) + lastID + Array("\r\n".utf8) }
        return bytes + Array("\r\n".utf8)
    }
}
