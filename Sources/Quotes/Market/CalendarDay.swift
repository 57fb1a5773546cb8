import Trading

/// A day of a calendar, without a time zone: days since 1970-01-01.
package struct CalendarDay: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let number: Int

    package init(number: Int) { self.number = number }

    /// Before any day of which a price is kept: in 1870.
    package static let earliest = CalendarDay(number: -36_525)

    /// From `yyyy-mm-dd`; nil where there is no such day.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2], let date = CivilDate(compact: parts.joined()) else { return nil }
        // Days from a civil date: the algorithm of H. Hinnant, whose other direction is `CivilDate`'s.
        let year = date.month <= 2 ? date.year - 1 : date.year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1
        number = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// 0 = Monday.
    package var weekday: Int {
        // 1970-01-01 was a Thursday.
        let day = (number + 3) % 7
        return day < 0 ? day + 7 : day
    }

    package static func < (left: CalendarDay, right: CalendarDay) -> Bool { left.number < right.number }

    package func advanced(by days: Int) -> CalendarDay { CalendarDay(number: number + days) }

    /// `yyyy-mm-dd`.
    package var description: String {
        let compact = CivilDate(millisecondsSinceEpoch: Int64(number) * 86_400_000).compact
        return "\(compact.prefix(4))-\(compact.dropFirst(4).prefix(2))-\(compact.suffix(2))"
    }
}
