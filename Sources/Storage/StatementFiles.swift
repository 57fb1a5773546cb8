private import Foundation
import Postgres

extension Statement {
    /// Loads `SQL/<file>.sql`. A missing file is a broken installation: the start stops here.
    init(_ file: String) {
        guard let url = Bundle.module.url(forResource: file, withExtension: "sql", subdirectory: "SQL"),
            let sql = try? String(contentsOf: url, encoding: .utf8)
        else { preconditionFailure("The statement file SQL/\(file).sql is missing beside the program.") }
        self.init(name: file, sql: sql)
    }
}
