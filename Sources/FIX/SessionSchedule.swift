/// When a session may be logged on: every day, or on some days of the week, between two times of day, all in UTC. Each such period has numbers
/// of its own: the first logon of a period begins them again.
///
/// A venue's summer time is the operator's to follow: time zones are no business of a session.
package struct SessionSchedule: Sendable, Hashable {
    /// Milliseconds of the day.
    package var opens: Int64
    /// Milliseconds of the day; at or before `opens` = on the next day.
    package var closes: Int64
    /// The days on which periods begin, 0 = Monday to 6 = Sunday.
    package var days: Set<Int>

    private static let millisecondsPerDay: Int64 = 86_400_000

    package init(opens: Int64, closes: Int64, days: Set<Int> = Set(0...6)) {
        precondition((0..<Self.millisecondsPerDay).contains(opens) && (0..<Self.millisecondsPerDay).contains(closes), "Times are of one day.")
        self.opens = opens
        self.closes = closes
        self.days = days
    }

    /// `HH:mm-HH:mm`, with `/mon-fri` or `/mon,wed` behind it where it is not every day.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let times = parts[0].split(separator: "-", omittingEmptySubsequences: false).map { Self.time($0) }
        guard parts.count <= 2, times.count == 2, let opens = times[0], let closes = times[1] else { return nil }
        var days = Set(0...6)
        if parts.count == 2 {
            guard let some = Self.days(parts[1]) else { return nil }
            days = some
        }
        self.init(opens: opens, closes: closes, days: days)
    }

    /// When the period that `wall` lies in began; nil between periods. Milliseconds since the epoch.
    package func opening(at wall: Int64) -> Int64? {
        let length = closes > opens ? closes - opens : closes - opens + Self.millisecondsPerDay
        let today = wall - Self.remainder(wall, Self.millisecondsPerDay)
        for day in [today, today - Self.millisecondsPerDay] {
            let start = day + opens
            // The first of January 1970 was a Thursday.
            let weekday = Int(Self.remainder(day / Self.millisecondsPerDay + 3, 7))
            if (start..<(start + length)).contains(wall), days.contains(weekday) { return start }
        }
        return nil
    }

    private static func remainder(_ value: Int64, _ divisor: Int64) -> Int64 { ((value % divisor) + divisor) % divisor }

    private static func time(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.count == 2 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let hour = Int64(parts[0]), let minute = Int64(parts[1]), hour < 24, minute < 60
        else { return nil }
        return (hour * 60 + minute) * 60_000
    }

    private static func days(_ text: Substring) -> Set<Int>? {
        let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
        var days: Set<Int> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { names.firstIndex(of: String($0)) }
            guard ends.count <= 2, let first = ends.first ?? nil, let last = ends.last ?? nil else { return nil }
            for day in 0..<7 where (day - first + 7) % 7 <= (last - first + 7) % 7 { days.insert(day) }
        }
        return days
    }
}
