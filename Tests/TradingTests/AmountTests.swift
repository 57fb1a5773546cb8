import Testing
import Trading

@Suite struct `An amount` {
    @Test(arguments: [("125.50", 1_255_000), ("125.5", 1_255_000), ("0.0001", 1), ("7", 70_000), ("922337203685477.5807", Int64.max)])
    func `reads plain decimals exactly`(_ text: String, _ units: Int64) {
        #expect(Amount(text)?.units == units)
    }

    @Test(arguments: ["", ".", "1.", ".5", "-1", "+1", "1e4", "NaN", "0.00001", "1,5", " 1", "922337203685477.5808", "1.2.3"])
    func `refuses everything that is not a plain decimal`(_ text: String) {
        #expect(Amount(text) == nil)
    }

    @Test(arguments: [(1_255_000, "125.50"), (1_255_025, "125.5025"), (0, "0.00"), (-1, "-0.0001"), (1_255_500, "125.55")] as [(Int64, String)])
    func `writes two to four decimals`(_ units: Int64, _ text: String) {
        #expect(Amount(units: units).description == text)
    }

    @Test func `says when it overflows`() {
        let most = Amount(units: .max)
        #expect(most.adding(Amount(units: 1)) == nil)
        #expect(most.times(2) == nil)
        #expect(most.raised(byBasisPoints: 1) == nil)
        #expect(Amount(whole: .max) == nil)
    }

    @Test(arguments: [(5, 2, 2), (7, 2, 4), (10, 4, 2), (11, 3, 4), (1, 3, 0), (-5, 2, -2)] as [(Int64, Int64, Int64)])
    func `averages half to even`(_ total: Int64, _ count: Int64, _ average: Int64) {
        #expect(Amount.average(of: Amount(units: total), over: count).units == average)
    }

    @Test func `rounds a hold up`() {
        #expect(Amount(units: 10_001).raised(byBasisPoints: 500)?.units == 10_502)
    }
}
