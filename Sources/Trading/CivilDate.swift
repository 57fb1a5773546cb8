/// A UTC calendar date, from milliseconds since the epoch (proleptic Gregorian; the days-to-civil algorithm of H. Hinnant).
package struct CivilDate: Hashable, Sendable {
    package let year: Int
    package let month: Int
    package let day: Int

    package init(millisecondsSinceEpoch milliseconds: Int64) {
        let days = Int(milliseconds.floorDivided(by: 86_400_000))
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// From `yyyymmdd`; nil where there is no such day.
    package init?(compact: String) {
        let digits = Array(compact.utf8)
        guard digits.count == 8, digits.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(compact) else { return nil }
        (year, month, day) = (number / 10_000, number / 100 % 100, number % 100)
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard lengths.indices.contains(month - 1), (1...lengths[month - 1]).contains(day) else { return nil }
    }

    /// `yyyymmdd`.
    package var compact: String {
        let digits = String(year * 10_000 + month * 100 + day)
        return digits.utf8.count < 8 ? String(repeating: "0", count: 8 - digits.utf8.count) + digits : digits
    }
}

extension Int64 {
    /// Division that rounds towards minus infinity, so that times before 1970 fall on the right day.
    func floorDivided(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
