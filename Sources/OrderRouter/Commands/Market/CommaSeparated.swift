import Foundation

/// A file of comma-separated values (RFC 4180) with a heading: fields may stand in double quotes, a quote within is written twice.
struct CommaSeparated {
    struct Row {
        /// From 1, of its first line.
        let line: Int
        let fields: [String]
    }

    /// Without the heading, and without empty lines.
    let rows: [Row]
    private let name: String

    /// So much is read at once: forty years of daily candles of a thousand symbols.
    private static let limitBytes = 512 << 20

    /// - Throws: a file that cannot be read, another heading, a row with another number of fields, a quotation mark in the wrong place; each by its line.
    init(file: String, heading: [String]) throws {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        guard let size = attributes?[.size] as? Int, let data = FileManager.default.contents(atPath: file) else {
            throw CommandFailure("\(file) cannot be read")
        }
        guard size <= Self.limitBytes else { throw CommandFailure("\(file) has more than \(Self.limitBytes >> 20) MB: load it in parts") }
        guard let text = String(validating: data, as: UTF8.self) else { throw CommandFailure("\(file) is not UTF-8") }
        try self.init(text, name: file, heading: heading)
    }

    init(_ text: String, name: String, heading: [String]) throws {
        self.name = name
        let all = try Self.rows(of: Array(text.utf8), name)
        guard let first = all.first, first.fields == heading else {
            throw CommandFailure("\(name), line 1: expected is the heading \(heading.joined(separator: ","))")
        }
        rows = Array(all.dropFirst())
        for row in rows where row.fields.count != heading.count { throw fault(row, "has \(row.fields.count) fields: expected are \(heading.count)") }
    }

    /// What is wrong with a row.
    func fault(_ row: Row, _ what: String) -> CommandFailure { CommandFailure("\(name), line \(row.line): \(what); nothing was loaded") }

    private static func rows(of bytes: [UInt8], _ name: String) throws -> [Row] {
        var (rows, fields, field): ([Row], [String], [UInt8]) = ([], [], [])
        var (line, firstLine) = (1, 1)
        // In a quoted field; behind its end.
        var (isQuoted, isEnded) = (false, false)
        func endField() {
            fields.append(String(decoding: field, as: UTF8.self))
            (field, isEnded) = ([], false)
        }
        func endRow() {
            endField()
            if fields != [""] { rows.append(Row(line: firstLine, fields: fields)) }
            fields = []
        }
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            let next = index + 1 < bytes.count ? bytes[index + 1] : 0
            index += 1
            if byte == UInt8(ascii: "\n") { line += 1 }
            switch byte {
            case UInt8(ascii: "\"") where isQuoted && next == byte:
                field.append(byte)
                index += 1
            case UInt8(ascii: "\"") where isQuoted: (isQuoted, isEnded) = (false, true)
            case _ where isQuoted: field.append(byte)
            case UInt8(ascii: "\"") where field.isEmpty && !isEnded: isQuoted = true
            case UInt8(ascii: ","): endField()
            case UInt8(ascii: "\r") where next == UInt8(ascii: "\n"): break
            case UInt8(ascii: "\n"):
                endRow()
                firstLine = line
            case _ where isEnded || byte == UInt8(ascii: "\""):
                throw CommandFailure(
                    "\(name), line \(line): a quotation mark stands in the middle of a field: quote the whole field, and write \"\" for one within"
                )
            default: field.append(byte)
            }
        }
        if isQuoted { throw CommandFailure("\(name), line \(firstLine): a quoted field has no end") }
        if !field.isEmpty || !fields.isEmpty || isEnded { endRow() }
        return rows
    }
}
