import Foundation
import Identity
import Trading

extension Command {
    static let tokenIssue = Command(
        "token issue",
        "Issues a bearer token from a development issuer's key, which it makes when there is none. Not for production.",
        flags: [
            Flag("account", "account", .repeated, "An account that the token speaks for; several if need be."),
            Flag(
                "scope",
                "scope",
                .repeated,
                "What it may be used for: \(Scope.allCases.map(\.rawValue).joined(separator: ", ")). All but operator without it."
            ),
            Flag("ttl", "time", .optional, "How long it is good for, such as 15m, 8h or 7d; 1h without it."),
            Flag("subject", "text", .optional, "Whose token it is; 'developer' without it."),
            Flag(
                "issuer-folder",
                "folder",
                .optional,
                "Where the issuer's key and its jwks.json are; \(CommandSetting.issuerFolder), else .demo/issuer."
            ),
        ],
        settings: Setting.named("issuer", "audience"),
        details: "A router takes the token when its jwks setting is the jwks.json of that folder, and issuer and audience are the same."
    ) { arguments in
        let accounts = try arguments.all("account").map { text throws(UsageError) in
            guard let account = AccountID(text) else { throw UsageError("--account is '\(text)': expected is 1 to 64 of A-Z, a-z, 0-9, _ and -.") }
            return account
        }
        let lifetime =
            try arguments.parsed("ttl", "a time from 1s to 365d, such as 15m, 8h or 7d") { text in
                Duration(setting: text).flatMap { (.seconds(1)...Duration.seconds(365 * 86_400)).contains($0) ? $0 : nil }
            } ?? .seconds(3_600)
        let scopes = try scopes(arguments.all("scope"))
        guard !accounts.isEmpty || scopes.isSubset(of: [.operator, .marketRead, .marketDelayed]) else {
            throw UsageError("--account is missing: these scopes are about an account.")
        }
        let folder = arguments.value("issuer-folder") ?? arguments.environment[CommandSetting.issuerFolder] ?? ".demo/issuer"
        let issuer = try DevelopmentIssuer(
            directory: folder,
            issuer: arguments.setting("issuer", \.issuer),
            audience: arguments.setting("audience", \.audience)
        )
        say(
            try issuer.issue(
                subject: arguments.value("subject") ?? "developer",
                accounts: accounts,
                scopes: scopes,
                lifetime: lifetime,
                now: Date.nowMilliseconds
            )
        )
        return .ok
    }

    private static func scopes(_ texts: [String]) throws(UsageError) -> Set<Scope> {
        if texts.isEmpty { return Set(Scope.allCases).subtracting([.operator]) }
        var scopes: Set<Scope> = []
        for word in texts.flatMap({ $0.split(separator: " ") }) {
            guard let scope = Scope(rawValue: String(word)) else {
                throw UsageError("--scope is '\(word)': expected is one of \(Scope.allCases.map(\.rawValue).joined(separator: ", ")).")
            }
            scopes.insert(scope)
        }
        return scopes
    }
}
