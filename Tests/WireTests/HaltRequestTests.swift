import Testing
import Trading
import Wire

@Suite struct `A halt's request` {
    private func read(_ body: String) throws(Problem) -> Halt { try HaltRequest.read(Array(body.utf8)).halt }

    @Test func `names what is halted and why`() throws {
        #expect(try read(#"{"scope":"venue","reason":"outage"}"#) == Halt(scope: .venue, subject: "", reason: "outage"))
        #expect(try read(#"{"scope":"symbol","subject":"NVDA","reason":"news"}"#) == Halt(scope: .symbol, subject: "NVDA", reason: "news"))
        #expect(try read(#"{"scope":"account","subject":"acc_1","reason":"x"}"#) == Halt(scope: .account, subject: "acc_1", reason: "x"))
    }

    /// Whoever names a symbol means the symbol: halting the venue instead would be more than was asked for.
    @Test(arguments: [
        (#"{"scope":"venue","subject":"NVDA","reason":"x"}"#, "subject"), (#"{"scope":"venue","subject":"","reason":"x"}"#, "subject"),
        (#"{"scope":"symbol","reason":"x"}"#, "subject"), (#"{"scope":"symbol","subject":"nvda","reason":"x"}"#, "subject"),
        (#"{"scope":"market","reason":"x"}"#, "scope"), (#"{"scope":"venue"}"#, "reason"), (#"{"scope":"venue","reason":""}"#, "reason"),
        (#"{"scope":"venue","reason":"x","until":1}"#, "until"),
    ]) func `with a wrong field is refused by its name`(_ body: String, _ field: String) {
        let problem = #expect(throws: Problem.self) { try read(body) }
        #expect(problem?.code == .invalidField)
        #expect(problem?.extras == [.field(field)])
    }
}
