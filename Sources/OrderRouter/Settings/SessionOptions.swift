import FIX

/// What two ends of a FIX session may agree upon beyond their names and the heartbeat.
struct SessionOptions: Sendable, Equatable {
    /// How received messages are held against the FIX 4.4 dictionary.
    enum Validation: String, Sendable, CaseIterable {
        case off
        case lenient
        case strict

        var rules: MessageRules? {
            switch self {
            case .off: nil
            case .lenient: .lenient
            case .strict: .strict
            }
        }
    }

    /// When both sequence numbers begin again at 1.
    enum Reset: String, Sendable, CaseIterable {
        case logon
        case logout
        case disconnect
    }

    var validation = Validation.strict
    var resets: Set<Reset> = []
    var schedule: SessionSchedule?
    /// Milliseconds; nil = not checked.
    var sendingTimeTolerance: Int64?
    var announcesNextExpected = false
    /// nil = no limit.
    var resendPortion: Int?
    var asksToInfinity = false

    func apply(to settings: inout SessionSettings) {
        settings.rules = validation.rules
        settings.resetOnLogon = resets.contains(.logon)
        settings.resetOnLogout = resets.contains(.logout)
        settings.resetOnDisconnect = resets.contains(.disconnect)
        settings.schedule = schedule
        settings.sendingTimeTolerance = sendingTimeTolerance
        settings.announcesNextExpected = announcesNextExpected
        settings.resendPortion = resendPortion ?? Int.max
        settings.asksToInfinity = asksToInfinity
    }
}

extension ValueKind where Value == SessionOptions.Validation {
    static let validation = ValueKind(placeholder: "how", expected: Value.allCases.map(\.rawValue).joined(separator: ", ")) { Value(rawValue: $0) }
}

extension ValueKind where Value == Set<SessionOptions.Reset> {
    static let resets = ValueKind(placeholder: "when", expected: "logon, logout, disconnect, or several of them separated by commas") { text in
        let names = text.split(separator: ",", omittingEmptySubsequences: false)
        let resets = Set(names.compactMap { SessionOptions.Reset(rawValue: String($0)) })
        return resets.count == names.count ? resets : nil
    }
}

extension ValueKind where Value == SessionSchedule {
    static let hours = ValueKind(
        placeholder: "hours",
        expected: "hours in UTC, such as 12:00-22:00, 22:00-21:00/sun-thu or 17:00-17:00",
        parse: { SessionSchedule($0) }
    )
}
