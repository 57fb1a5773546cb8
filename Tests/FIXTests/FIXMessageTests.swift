import FIX
import Testing

@Suite struct `A FIX message` {
    @Test func `gives back what was appended`() {
        var message = FIXMessage(.newOrderSingle)
        message.append(.clOrdID, "ord_1")
        message.append(.orderQty, 100)
        message.append(.possResend, flag: true)
        message.append(.transactTime, time: 1_773_648_000_180)
        message.append(.avgPx, -5)
        #expect(message.string(.clOrdID) == "ord_1")
        #expect(message.int(.orderQty) == 100)
        #expect(message.flag(.possResend) == true)
        #expect(message.time(.transactTime) == 1_773_648_000_180)
        #expect(message.int(.avgPx) == -5)
        #expect(message.string(.price) == nil)
        #expect(message.int(.clOrdID) == nil)
        #expect(message.description == "11=ord_1|38=100|97=Y|60=20260316-08:00:00.180|6=-5|")
        #expect(FIXMessage(.newOrderSingle, body: message.bytes) == message)
    }

    @Test func `reads raw data by its length, whatever it holds`() {
        let message = FIXMessage("B", body: Array("95=5\u{1}96=a\u{1}b=c\u{1}58=x\u{1}".utf8))
        #expect(message.string(96) == "a\u{1}b=c")
        #expect(message.string(.text) == "x")
        #expect(message.defect == nil)
    }

    @Test func `does not believe a length that leads nowhere`() {
        let message = FIXMessage("B", body: Array("95=999\u{1}96=abc\u{1}58=x\u{1}".utf8))
        #expect(message.string(96) == "abc")
        #expect(message.string(.text) == "x")
    }

    @Test func `cuts a repeating group into its entries`() {
        let body = "262=r\u{1}55=NVDA\u{1}268=2\u{1}269=0\u{1}270=125.48\u{1}271=500\u{1}269=1\u{1}270=125.50\u{1}10=000\u{1}"
        let entries = FIXMessage(.marketDataSnapshotFullRefresh, body: Array(body.utf8)).group(countedBy: .noMDEntries, first: .mdEntryType)
        #expect(entries.map { $0.string(.mdEntryPx) } == ["125.48", "125.50"])
        #expect(entries.map { $0.int(.mdEntrySize) } == [500, nil])
        #expect(!entries.contains { $0.has(.checkSum) })
    }

    @Test(arguments: [("37=\u{1}", 4), ("abc=1\u{1}", 0), ("0=1\u{1}", 0), ("=1\u{1}", 0), ("37\u{1}", 0), ("0037=1\u{1}", 0), ("-1=x\u{1}", 0)])
    func `says what is wrong with a field`(_ field: String, _ reason: Int) {
        let message = FIXMessage("8", body: Array((field + "58=after\u{1}").utf8))
        #expect(message.defect?.reason == reason)
        #expect(message.string(.text) == "after")
    }

    @Test(arguments: ["", "-", "1.5", "1e3", " 1", "9999999999999999999"])
    func `reads no number from anything else`(_ text: String) {
        var message = FIXMessage("8")
        message.append(.orderQty, text)
        #expect(message.int(.orderQty) == nil)
    }
}

@Suite struct `FIX time` {
    @Test(
        arguments: [
            (0, "19700101-00:00:00.000"), (1_773_648_000_180, "20260316-08:00:00.180"), (951_827_696_789, "20000229-12:34:56.789"),
            (4_102_444_799_999, "20991231-23:59:59.999"), (-1, "19691231-23:59:59.999"),
        ] as [(Int64, String)]
    )
    func `is written and read in UTC`(_ milliseconds: Int64, _ text: String) {
        #expect(FIXTime.text(milliseconds) == text)
        #expect(FIXTime.milliseconds(Array(text.utf8)) == milliseconds)
        #expect(FIXTime.dateText(milliseconds) == String(text.prefix(8)))
    }

    @Test func `is read with any fraction or none`() {
        #expect(FIXTime.milliseconds(Array("20260316-08:00:00".utf8)) == 1_773_648_000_000)
        #expect(FIXTime.milliseconds(Array("20260316-08:00:00.1".utf8)) == 1_773_648_000_100)
        #expect(FIXTime.milliseconds(Array("20260316-08:00:00.180999999".utf8)) == 1_773_648_000_180)
        #expect(FIXTime.milliseconds(Array("20260316-07:59:60".utf8)) == 1_773_648_000_000)
    }

    @Test(arguments: [
        "", "20260316", "20260229-00:00:00", "20261301-00:00:00", "20260316-24:00:00", "20260316-00:60:00", "20260316-00:00:61",
        "20260316-00:00:00.", "20260316 00:00:00", "2026-03-16T00:00:00", "20260316-00:00:00.12345678901",
    ])
    func `is refused when it is not one`(_ text: String) {
        #expect(FIXTime.milliseconds(Array(text.utf8)) == nil)
    }

    @Test func `agrees with itself on every day for four hundred years`() {
        for day in Int64(0)..<146_097 {
            let time = day * 86_400_000 + day % 86_400_000
            #expect(FIXTime.milliseconds(Array(FIXTime.text(time).utf8)) == time)
        }
    }
}
