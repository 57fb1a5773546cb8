/// UTCTimestamp, UTCDateOnly and LocalMktDate texts (FIX 4.4 volume 1, "data types") from and to milliseconds since the epoch.
///
/// Civil dates by the days-to-civil algorithm of H. Hinnant: no locale, no time zone, no allocation.
package enum FIXTime {
    private static let zero = UInt8(ascii: "0")
    static let millisecondsPerDay: Int64 = 86_400_000

    /// Appends `yyyyMMdd-HH:mm:ss.SSS`.
    package static func append(_ milliseconds: Int64, to bytes: inout [UInt8]) {
        appendDate(milliseconds, to: &bytes)
        let ofDay = milliseconds - floorDivide(milliseconds, by: millisecondsPerDay) * millisecondsPerDay
        bytes.append(UInt8(ascii: "-"))
        append(ofDay / 3_600_000, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        append(ofDay / 60_000 % 60, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        append(ofDay / 1_000 % 60, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: "."))
        append(ofDay % 1_000, digits: 3, to: &bytes)
    }

    /// Appends `yyyyMMdd`, the UTC date.
    package static func appendDate(_ milliseconds: Int64, to bytes: inout [UInt8]) {
        let shifted = floorDivide(milliseconds, by: millisecondsPerDay) + 719_468
        let era = floorDivide(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        append(yearOfEra + era * 400 + (month <= 2 ? 1 : 0), digits: 4, to: &bytes)
        append(month, digits: 2, to: &bytes)
        append(dayOfYear - (153 * fromMarch + 2) / 5 + 1, digits: 2, to: &bytes)
    }

    /// `yyyyMMdd-HH:mm:ss.SSS`.
    package static func text(_ milliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        append(milliseconds, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// `yyyyMMdd`.
    package static func dateText(_ milliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        appendDate(milliseconds, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads `yyyyMMdd-HH:mm:ss`, with or without a fraction of 1 to 9 digits (cut to milliseconds); nil for anything else.
    ///
    /// Second 60 is read as the first of the next minute (leap seconds, FIX 4.4 volume 1).
    package static func milliseconds(_ text: some RandomAccessCollection<UInt8>) -> Int64? {
        let bytes = Array(text)
        return milliseconds(bytes, bytes.indices)
    }

    /// Whether a UTCTimestamp or UTCTimeOnly says milliseconds: one of whole seconds is up to a second old when it is written.
    package static func isPrecise(_ text: some Collection<UInt8>) -> Bool {
        guard let point = text.firstIndex(of: UInt8(ascii: ".")) else { return false }
        return text.distance(from: point, to: text.endIndex) >= 4
    }

    /// The same of a part of a buffer; allocates nothing.
    static func milliseconds(_ bytes: [UInt8], _ range: Range<Int>) -> Int64? {
        let start = range.lowerBound
        guard range.count >= 17, bytes[start + 8] == UInt8(ascii: "-"), let day = day(bytes, start..<(start + 8)),
            let ofDay = ofDay(bytes, (start + 9)..<range.upperBound)
        else { return nil }
        return day * millisecondsPerDay + ofDay
    }

    /// Reads `HH:mm:ss`, with or without a fraction: milliseconds of the day.
    static func ofDay(_ bytes: [UInt8], _ range: Range<Int>) -> Int64? {
        let start = range.lowerBound
        guard range.count >= 8, bytes[start + 2] == UInt8(ascii: ":"), bytes[start + 5] == UInt8(ascii: ":"),
            let hour = number(bytes, start..<(start + 2)), let minute = number(bytes, (start + 3)..<(start + 5)),
            let second = number(bytes, (start + 6)..<(start + 8)), hour < 24, minute < 60, second <= 60
        else { return nil }
        var fraction: Int64 = 0
        if range.count > 8 {
            let digits = (start + 9)..<range.upperBound
            guard bytes[start + 8] == UInt8(ascii: "."), (10...18).contains(range.count), number(bytes, digits) != nil else { return nil }
            for index in digits.lowerBound..<(digits.lowerBound + 3) {
                fraction = fraction * 10 + (index < digits.upperBound ? Int64(bytes[index] - zero) : 0)
            }
        }
        return (hour * 3_600 + minute * 60 + second) * 1_000 + fraction
    }

    /// Reads `yyyyMMdd`: days since the epoch.
    static func day(_ bytes: [UInt8], _ range: Range<Int>) -> Int64? {
        let start = range.lowerBound
        guard range.count == 8, let year = number(bytes, start..<(start + 4)), let month = number(bytes, (start + 4)..<(start + 6)),
            let day = number(bytes, (start + 6)..<(start + 8)), (1...12).contains(month),
            (1...daysIn(month: month, year: year)).contains(day)
        else { return nil }
        return daysSinceEpoch(year, month, day)
    }

    private static func daysIn(month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func daysSinceEpoch(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = floorDivide(shiftedYear, by: 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func append(_ number: Int64, digits: Int, to bytes: inout [UInt8]) {
        let number = Int(truncatingIfNeeded: number)
        if digits == 4 { bytes.append(zero + UInt8(truncatingIfNeeded: number / 1_000 % 10)) }
        if digits >= 3 { bytes.append(zero + UInt8(truncatingIfNeeded: number / 100 % 10)) }
        bytes.append(zero + UInt8(truncatingIfNeeded: number / 10 % 10))
        bytes.append(zero + UInt8(truncatingIfNeeded: number % 10))
    }

    private static func number(_ bytes: [UInt8], _ range: Range<Int>) -> Int64? {
        var value: Int64 = 0
        for index in range {
            guard bytes[index] >= zero, bytes[index] <= zero + 9 else { return nil }
            value = value * 10 + Int64(bytes[index] - zero)
        }
        return value
    }

    private static func floorDivide(_ value: Int64, by divisor: Int64) -> Int64 {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
