import Synchronization

/// What a server has done since it started, for metrics.
package struct HTTPCounters: Sendable, Equatable {
    package var connectionsOpen = 0
    package var connectionsAccepted = 0
    /// Closed at once because an address had too many.
    package var connectionsRefused = 0
    /// Handed to the handler.
    package var requests = 0
    /// Answered by the server itself: malformed, too large, too slow.
    package var requestsRefused = 0
    package var bytesReceived = 0
    package var bytesSent = 0
    package var streamsOpen = 0
    /// Clients of event streams that read too slowly.
    package var streamsCut = 0
    /// accept failed for want of descriptors or memory.
    package var acceptFailures = 0

    /// Nothing has been done yet.
    package init() {}
}

/// The counters as the loops move them.
final class LiveCounters: Sendable {
    let connectionsOpen = Counter()
    let connectionsAccepted = Counter()
    let connectionsRefused = Counter()
    let requests = Counter()
    let requestsRefused = Counter()
    let bytesReceived = Counter()
    let bytesSent = Counter()
    let streamsOpen = Counter()
    let streamsCut = Counter()
    let acceptFailures = Counter()

    var snapshot: HTTPCounters {
        var counters = HTTPCounters()
        counters.connectionsOpen = connectionsOpen.now
        counters.connectionsAccepted = connectionsAccepted.now
        counters.connectionsRefused = connectionsRefused.now
        counters.requests = requests.now
        counters.requestsRefused = requestsRefused.now
        counters.bytesReceived = bytesReceived.now
        counters.bytesSent = bytesSent.now
        counters.streamsOpen = streamsOpen.now
        counters.streamsCut = streamsCut.now
        counters.acceptFailures = acceptFailures.now
        return counters
    }
}

/// One number that several threads move; no order with anything else is promised.
struct Counter: ~Copyable {
    private let value = Atomic<Int>(0)

    var now: Int { value.load(ordering: .relaxed) }

    func add(_ amount: Int = 1) { value.add(amount, ordering: .relaxed) }
}
