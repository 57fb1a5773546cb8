package import FIX
import Synchronization

/// An acceptor that sends back what it is sent, for conformance runs of FIX engines: NewOrderSingle (D) and SecurityDefinition (d) unchanged but for the
/// header, which is its own; a PossResend of a ClOrdID that it has seen is dropped; any other application message is refused with
/// BusinessMessageReject, reason 3 (unsupported message type). Sessions outlive connections, not the process.
package final class EchoVenue: Sendable {
    package struct Configuration: Sendable {
        package var host = "127.0.0.1"
        /// 0 = any free port.
        package var port: UInt16 = 0
        /// TLS on every connection; nil = none on any.
        package var tls: LineTLS?
        /// Its own SenderCompID.
        package var compID = "ECHO-SIM"
        /// Who may log on; empty = anybody.
        package var parties: Set<String> = []
        /// Both numbers begin again at 1 with every logon, whether the counterparty asks for it or not.
        package var resetOnLogon = false
        /// What is agreed upon with every party beyond that: told the session's settings, which are those of a conformance run.
        package var agree: @Sendable (inout SessionSettings) -> Void = { _ in }
        package var clock = SessionClock.system

        package init() {}
    }

    private let acceptor: Acceptor

    /// - Parameter log: told of connections, one line each.
    package init(_ configuration: Configuration, log: @escaping @Sendable (String) -> Void) {
        var acceptance = Acceptor.Configuration()
        acceptance.host = configuration.host
        acceptance.port = configuration.port
        acceptance.tls = configuration.tls
        let parties = EchoParties()
        acceptor = Acceptor(
            acceptance,
            clock: configuration.clock,
            report: log,
            open: { logon in
                let party = logon.senderCompID
                let isKnown = configuration.parties.isEmpty || configuration.parties.contains(party)
                guard isKnown, logon.targetCompID == configuration.compID else { return nil }
                var settings = SessionSettings(role: .acceptor, senderCompID: configuration.compID, targetCompID: party)
                settings.isTest = true
                settings.rules = .strict
                configuration.agree(&settings)
                settings.resetOnLogon = configuration.resetOnLogon
                return Acceptor.Session(settings: settings, store: EchoStore(parties, party: party))
            }
        )
    }

    /// Binds and listens; returns the port.
    package func start() throws(FIXError) -> UInt16 { try acceptor.start() }

    /// Serves until it is cancelled or stopped; sessions log out with the handshake.
    package func run() async throws { try await acceptor.run() }

    package func stop() { acceptor.stop() }
}

/// One counterparty of the echo, across its connections.
struct EchoParty {
    var numbers = SessionNumbers()
    var sent: [Int: StoredMessage] = [:]
    var answers: [FIXMessage] = []
    private var seen: Set<String> = []

    /// Sent messages that can be asked for again; older ones are gap-filled. A conformance run has some hundred.
    static let sentCapacity = 10_000
    /// ClOrdIDs that are remembered; what comes after them counts as new. Far beyond any conformance run.
    static let seenCapacity = 1_000_000

    mutating func received(_ delivery: Delivery) {
        let message = delivery.message
        switch message.type {
        case .newOrderSingle:
            if let id = message.string(.clOrdID) {
                if delivery.isPossResend, seen.contains(id) { return }
                if seen.count < Self.seenCapacity { seen.insert(id) }
            }
            answers.append(message.withoutHeader)
        case .securityDefinition: answers.append(message.withoutHeader)
        case .reject, .businessMessageReject: break
        default:
            var reject = FIXMessage(.businessMessageReject)
            reject.append(.refSeqNum, delivery.number)
            reject.append(.refMsgType, message.type.rawValue)
            reject.append(.businessRejectReason, 3)
            reject.append(.text, "unsupported message type")
            answers.append(reject)
        }
    }

    mutating func keep(_ outgoing: [OutgoingMessage]) {
        for message in outgoing where !message.isAdmin {
            sent[message.number] = StoredMessage(message)
            sent[message.number - Self.sentCapacity] = nil
        }
    }
}

final class EchoParties: Sendable {
    private let parties = Mutex<[String: EchoParty]>([:])

    func with<Result: Sendable>(_ name: String, _ body: (inout EchoParty) -> Result) -> Result {
        parties.withLock { body(&$0[name, default: EchoParty()]) }
    }
}

private final class EchoStore: SessionStore {
    private let parties: EchoParties
    private let party: String

    init(_ parties: EchoParties, party: String) {
        self.parties = parties
        self.party = party
    }

    func load() -> SessionNumbers { parties.with(party) { $0.numbers } }

    func commit(_ step: SessionStep, numbers: SessionNumbers) {
        parties.with(party) { party in
            if step.newGeneration != nil {
                party.sent = [:]
                party.answers = []
            }
            party.numbers = numbers
            for delivery in step.deliveries { party.received(delivery) }
        }
    }

    func stored(from: Int, through: Int, atMost most: Int) -> [StoredMessage] {
        parties.with(party) { $0.sent.first(most, from: from, through: through) }
    }

    func pull(_ session: inout SessionState, at wall: Int64) -> [OutgoingMessage] {
        var current = session
        defer { session = current }
        return parties.with(party) { party in
            let outgoing = party.answers.map { current.send($0, at: wall) }
            party.answers = []
            party.keep(outgoing)
            party.numbers = current.numbers
            return outgoing
        }
    }

    func mayWrite(at monotonic: Int64) -> Bool { true }

    func changed(_ event: SessionEvent) {}
}

extension FIXMessage {
    /// Fields of the standard header and trailer (FIX 4.4 volume 2).
    private static let ofFrame: Set<Int32> = [
        8, 9, 10, 34, 35, 43, 49, 50, 52, 56, 57, 89, 90, 91, 93, 97, 115, 116, 122, 128, 129, 142, 143, 144, 145, 212, 213, 347, 369,
        627, 628, 629, 630,
    ]

    /// The body of a message that was received, every field as it came.
    fileprivate var withoutHeader: FIXMessage {
        var body = FIXMessage(type)
        for index in 0..<fieldCount {
            let (tag, value) = field(at: index)
            if !Self.ofFrame.contains(tag.rawValue) { body.append(tag, bytes: value) }
        }
        return body
    }
}
