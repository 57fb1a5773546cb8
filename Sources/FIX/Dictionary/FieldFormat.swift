/// The data types of FIX 4.4 (volume 1, "Data types"), by the dictionary's names, and what a value of each looks like.
enum FieldFormat: String, Sendable {
    case amount = "AMT"
    case boolean = "BOOLEAN"
    case character = "CHAR"
    case country = "COUNTRY"
    case currency = "CURRENCY"
    case data = "DATA"
    case exchange = "EXCHANGE"
    case float = "FLOAT"
    case int = "INT"
    case length = "LENGTH"
    case localMarketDate = "LOCALMKTDATE"
    case monthYear = "MONTHYEAR"
    case multipleValues = "MULTIPLEVALUESTRING"
    case numberInGroup = "NUMINGROUP"
    case percentage = "PERCENTAGE"
    case price = "PRICE"
    case priceOffset = "PRICEOFFSET"
    case quantity = "QTY"
    case sequenceNumber = "SEQNUM"
    case string = "STRING"
    case utcDate = "UTCDATEONLY"
    case utcTime = "UTCTIMEONLY"
    case utcTimestamp = "UTCTIMESTAMP"

    /// True when the bytes are a value of this type. The range is not empty: a field without a value is refused before.
    func accepts(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        switch self {
        case .string, .multipleValues, .data, .exchange: true
        case .character: range.count == 1
        case .boolean: range.count == 1 && (bytes[range.lowerBound] == UInt8(ascii: "Y") || bytes[range.lowerBound] == UInt8(ascii: "N"))
        case .country: range.count == 2 && Self.areLetters(bytes, range)
        case .currency: range.count == 3 && Self.areLetters(bytes, range)
        case .int: Self.isInt(bytes, range)
        case .length, .numberInGroup, .sequenceNumber: range.count <= 18 && Self.areDigits(bytes, range)
        case .amount, .float, .percentage, .price, .priceOffset, .quantity: Self.isDecimal(bytes, range)
        case .utcTimestamp: FIXTime.milliseconds(bytes, range) != nil
        case .utcTime: FIXTime.ofDay(bytes, range) != nil
        case .utcDate, .localMarketDate: FIXTime.day(bytes, range) != nil
        case .monthYear: Self.isMonthYear(bytes, range)
        }
    }

    private static func areDigits(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        for index in range where bytes[index] < 0x30 || bytes[index] > 0x39 { return false }
        return !range.isEmpty
    }

    private static func areLetters(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        for index in range where bytes[index] | 0x20 < 0x61 || bytes[index] | 0x20 > 0x7A { return false }
        return true
    }

    private static func isInt(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        let isNegative = bytes[range.lowerBound] == UInt8(ascii: "-")
        return range.count <= 19 && areDigits(bytes, (isNegative ? range.lowerBound + 1 : range.lowerBound)..<range.upperBound)
    }

    /// Digits with at most one point among or beside them, and perhaps a minus sign; no exponent.
    private static func isDecimal(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        var digits = 0
        var points = 0
        for index in range {
            switch bytes[index] {
            case 0x30...0x39: digits += 1
            case UInt8(ascii: "."): points += 1
            case UInt8(ascii: "-") where index == range.lowerBound: break
            default: return false
            }
        }
        return digits > 0 && points <= 1
    }

    /// `yyyyMM`, `yyyyMMdd` or `yyyyMMw1` to `w5`.
    private static func isMonthYear(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        switch range.count {
        case 6:
            guard areDigits(bytes, range) else { return false }
            let month = (bytes[range.upperBound - 2] - 0x30) * 10 + (bytes[range.upperBound - 1] - 0x30)
            return (1...12).contains(month)
        case 8 where bytes[range.upperBound - 2] == UInt8(ascii: "w"):
            return isMonthYear(bytes, range.lowerBound..<(range.upperBound - 2)) && (0x31...0x35).contains(bytes[range.upperBound - 1])
        case 8: return FIXTime.day(bytes, range) != nil
        default: return false
        }
    }
}
