/// The date of RFC 9110 section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
package enum HTTPDate {
    /// `CR LF Date: … CR LF`: what follows the reason phrase. `second` counts from 1970 in UTC.
    static func line(_ second: Int) -> [UInt8] {
        Array("\r\nDate: \(text(second))\r\n".utf8)
    }

    /// `second` counts from 1970 in UTC and is not negative.
    package static func text(_ second: Int) -> String {
        let (day, time) = (second / 86_400, second % 86_400)
        // Years that begin in March put the leap day last; 719,468 days lie between 1 March of year 0 and 1970.
        let (era, dayOfEra) = ((day + 719_468) / 146_097, (day + 719_468) % 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = (marchMonth + 2) % 12
        let year = era * 400 + yearOfEra + (month < 2 ? 1 : 0)
        let clock = "\(pad(time / 3600)):\(pad(time / 60 % 60)):\(pad(time % 60))"
        return "\(days[(day + 4) % 7]), \(pad(dayOfMonth)) \(months[month]) \(year) \(clock) GMT"
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func pad(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
