/// Where an order stands (design section 4.5). The raw values are stored; they never change their meaning.
package enum OrderStatus: Int16, Sendable, CaseIterable {
    /// Ours: committed, funds held, not yet numbered for the venue.
    case accepted = 1
    /// Has its FIX sequence number, committed.
    case routed = 2
    /// Acknowledged by the venue.
    case working = 3
    case partiallyFilled = 4
    case filled = 5
    case cancelled = 6
    case expired = 7
    case rejected = 8
    /// The venue has not answered in time, or answered with something that cannot be booked: the hold stays, only evidence moves it on.
    case unknown = 9

    /// As the API writes it.
    package var text: String {
        switch self {
        case .accepted: "ACCEPTED"
        case .routed: "ROUTED"
        case .working: "WORKING"
        case .partiallyFilled: "PARTIALLY_FILLED"
        case .filled: "FILLED"
        case .cancelled: "CANCELLED"
        case .expired: "EXPIRED"
        case .rejected: "REJECTED"
        case .unknown: "UNKNOWN"
        }
    }

    package init?(text: String) {
        guard let found = Self.allCases.first(where: { $0.text == text }) else { return nil }
        self = found
    }

    /// True while the order may still trade or its fate is not known: its hold stays.
    package var isOpen: Bool {
        switch self {
        case .accepted, .routed, .working, .partiallyFilled, .unknown: true
        case .filled, .cancelled, .expired, .rejected: false
        }
    }
}

/// What an order event tells (design section 4.4). The raw values are stored.
package enum OrderEventType: Int16, Sendable, CaseIterable {
    case accepted = 1
    case routed = 2
    case working = 3
    case fill = 4
    case cancelRequested = 5
    case cancelRejected = 6
    case cancelled = 7
    case expired = 8
    case rejected = 9
    case unknown = 10
    case replaceRequested = 11
    case replaced = 12
    case replaceRejected = 13
    case tradeCancelled = 14
    case tradeCorrected = 15

    /// True where the venue's sender turns the log row into a message.
    package var asksTheVenue: Bool {
        switch self {
        case .accepted, .cancelRequested, .unknown, .replaceRequested: true
        default: false
        }
    }

    /// As the event stream writes it.
    package var text: String {
        switch self {
        case .accepted: "accepted"
        case .routed: "routed"
        case .working: "working"
        case .fill: "fill"
        case .cancelRequested: "cancel_requested"
        case .cancelRejected: "cancel_rejected"
        case .cancelled: "cancelled"
        case .expired: "expired"
        case .rejected: "rejected"
        case .unknown: "unknown"
        case .replaceRequested: "replace_requested"
        case .replaced: "replaced"
        case .replaceRejected: "replace_rejected"
        case .tradeCancelled: "trade_cancelled"
        case .tradeCorrected: "trade_corrected"
        }
    }
}
