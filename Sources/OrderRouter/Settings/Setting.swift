/// One thing that an operator can set: by a flag, by an environment variable, or not at all.
///
/// The table `Setting.all` drives the reading of values, `serve --help` and the README's table, which a test compares.
struct Setting: Sendable {
    enum Fallback: Sendable, Equatable {
        /// Read as if it had been given.
        case value(String)
        /// Unset is a value of its own: what then holds, in words.
        case absent(String)
        /// Must be given.
        case none
    }

    /// Without its dashes.
    let flag: String
    /// What stands for the value in help, for example `host:port`.
    let placeholder: String
    let fallback: Fallback
    let meaning: String
    /// The reason for the default's number; empty where the meaning says it all.
    let why: String
    /// What a value must be, for whoever gave another.
    private let expected: String
    private let isSecret: Bool
    /// False: the text is no such value.
    private let assign: @Sendable (inout Configuration, String) -> Bool

    static let prefix = "ORDER_ROUTER_"

    var variable: String { Self.prefix + flag.uppercased().replacing("-", with: "_") }

    /// - Parameter isSecret: the value is never shown, not even in the complaint about it.
    init<Value>(
        _ flag: String,
        _ kind: ValueKind<Value>,
        _ path: any WritableKeyPath<Configuration, Value> & Sendable,
        _ fallback: Fallback,
        _ meaning: String,
        why: String = "",
        isSecret: Bool = false
    ) {
        self.init(flag, kind, fallback, meaning, why, isSecret) { $0[keyPath: path] = $1 }
    }

    init<Value>(
        _ flag: String,
        _ kind: ValueKind<Value>,
        optional path: any WritableKeyPath<Configuration, Value?> & Sendable,
        _ fallback: Fallback,
        _ meaning: String,
        why: String = ""
    ) {
        self.init(flag, kind, fallback, meaning, why, false) { $0[keyPath: path] = $1 }
    }

    private init<Value>(
        _ flag: String,
        _ kind: ValueKind<Value>,
        _ fallback: Fallback,
        _ meaning: String,
        _ why: String,
        _ isSecret: Bool,
        _ set: @escaping @Sendable (inout Configuration, Value) -> Void
    ) {
        self.flag = flag
        self.fallback = fallback
        self.meaning = meaning
        self.why = why
        self.isSecret = isSecret
        placeholder = kind.placeholder
        expected = kind.expected
        assign = { configuration, text in
            guard let value = kind.parse(text) else { return false }
            set(&configuration, value)
            return true
        }
    }

    /// - Throws: a wrong value, or none where one is needed.
    func read(into configuration: inout Configuration, flag given: String?, variable inherited: String?) throws(UsageError) {
        if let given {
            guard assign(&configuration, given) else { throw wrong("--\(flag)", given) }
        } else if let inherited, !inherited.isEmpty {
            guard assign(&configuration, inherited) else { throw wrong(variable, inherited) }
        } else {
            switch fallback {
            case .value(let text): precondition(assign(&configuration, text), "The default of --\(flag) is one of its values.")
            case .absent: break
            case .none: throw UsageError("\(variable) (or --\(flag)) is not set: \(expected). \(meaning)")
            }
        }
    }

    private func wrong(_ name: String, _ value: String) -> UsageError {
        UsageError("\(name) is \(isSecret ? "not valid" : "'\(value)'"): expected is \(expected).")
    }

    /// A misspelt variable would be a setting that the operator believes in and that does not hold. Those of the tests are not ours to judge.
    static func checkNames(_ environment: [String: String]) throws(UsageError) {
        let known = Set(all.map(\.variable)).union(CommandSetting.variables)
        for (name, value) in environment.sorted(by: { $0.key < $1.key })
        where name.hasPrefix(prefix) && !name.hasPrefix(prefix + "TEST_") && !known.contains(name) && !isOfKubernetes(name, value) {
            let hint = nearest(to: name, among: known).map { " Is \($0) meant?" } ?? ""
            throw UsageError("\(name) is not a setting.\(hint) See order-router serve --help.")
        }
    }
}

extension Setting {
    /// Kubernetes sets variables in every container for a Service of the name order-router: ORDER_ROUTER_SERVICE_HOST, ORDER_ROUTER_PORT=tcp://…
    private static func isOfKubernetes(_ name: String, _ value: String) -> Bool {
        name.hasPrefix(prefix + "SERVICE_")
            || (name.hasPrefix(prefix + "PORT") && (value.contains("://") || name.contains(/_PORT_[0-9]+_(?:TCP|UDP)/)))
    }
}

/// Variables of other commands than serve, which share an environment with it.
enum CommandSetting {
    /// The folder with the development issuer's key.
    static let issuerFolder = Setting.prefix + "ISSUER_FOLDER"
    static let variables: Set = [issuerFolder]
}
