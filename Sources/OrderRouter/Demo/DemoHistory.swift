import ExchangeSimulator
import Postgres
import Quotes
import Storage
import Trading

/// What the demo tells of its symbols: names, and a past that never was, marked as simulated.
enum DemoHistory {
    static let instruments = """
        symbol,name,exchange
        NVDA,NVIDIA Corporation,SIM
        AAPL,Apple Inc.,SIM
        MSFT,Microsoft Corporation,SIM
        AMZN,"Amazon.com, Inc.",SIM
        GOOGL,Alphabet Inc. Class A,SIM
        META,"Meta Platforms, Inc.",SIM
        TSLA,"Tesla, Inc.",SIM
        AVGO,Broadcom Inc.,SIM
        BRK.B,Berkshire Hathaway Inc. Class B,SIM
        JPM,JPMorgan Chase & Co.,SIM
        LLY,Eli Lilly and Company,SIM
        V,Visa Inc. Class A,SIM
        UNH,UnitedHealth Group Incorporated,SIM
        XOM,Exxon Mobil Corporation,SIM
        MA,Mastercard Incorporated,SIM
        COST,Costco Wholesale Corporation,SIM
        HD,"The Home Depot, Inc.",SIM
        PG,The Procter & Gamble Company,SIM
        JNJ,Johnson & Johnson,SIM
        NFLX,"Netflix, Inc.",SIM
        BAC,Bank of America Corporation,SIM
        CRM,"Salesforce, Inc.",SIM
        ABBV,AbbVie Inc.,SIM
        KO,The Coca-Cola Company,SIM
        AMD,"Advanced Micro Devices, Inc.",SIM
        ORCL,Oracle Corporation,SIM
        MRK,"Merck & Co., Inc.",SIM
        PEP,"PepsiCo, Inc.",SIM
        WMT,Walmart Inc.,SIM
        DIS,The Walt Disney Company,SIM
        INTC,Intel Corporation,SIM
        CSCO,"Cisco Systems, Inc.",SIM
        NKE,"NIKE, Inc.",SIM
        BA,The Boeing Company,SIM
        GE,General Electric Company,SIM
        F,Ford Motor Company,SIM
        T,AT&T Inc.,SIM
        PFE,Pfizer Inc.,SIM
        UBER,"Uber Technologies, Inc.",SIM
        PLTR,Palantir Technologies Inc.,SIM

        """

    private static let days = 365

    /// Names of the simulator's symbols, and where there is no history yet a year of it: days of the simulator's exchange, which never closes, that end at
    /// the prices with which it begins.
    ///
    /// - Parameter prices: what the simulator begins with.
    static func load(into url: String, prices: [(symbol: Symbol, price: Amount)], at now: Int64) throws {
        let database = Database(PostgresOptions(url: url))
        defer { database.drop() }
        let listed = try InstrumentFile(text: instruments, name: "the demo's instruments").instruments
        _ = try database.load(listed, from: "the demo", by: "demo", at: now)
        let today = MarketCalendar.alwaysOpen.day(at: now)
        for (number, listing) in prices.enumerated() {
            let all = CalendarDay(number: 0)..<today.advanced(by: 1)
            guard try database.days(of: listing.symbol, all, limit: 1).bars.isEmpty else { continue }
            let bars = past(of: listing.price.units, before: today, seed: UInt64(number) + 1)
            try database.loadDays(bars.map { KeptBar(symbol: listing.symbol, number: $0.0, bar: $0.1) }, as: .simulated)
        }
    }

    /// From the last day back: each day moves by up to 2 %, and its close is the open of the next.
    private static func past(of price: Int64, before today: CalendarDay, seed: UInt64) -> [(Int32, Bar)] {
        var generator = SeededGenerator(seed: seed)
        var close = price
        return (1...days).map { back in
            let open = max(10_000, close + close * Int64.random(in: -200...196, using: &generator) / 10_000) / 100 * 100
            let reach = close / 100
            let high = max(open, close) + Int64.random(in: 0...reach, using: &generator) / 100 * 100
            let low = max(100, min(open, close) - Int64.random(in: 0...reach, using: &generator) / 100 * 100)
            let volume = Int64.random(in: 2_000_000...60_000_000, using: &generator)
            defer { close = open }
            return (Int32(today.number - back), Bar(at: 0, open: open, high: high, low: low, close: close, volume: volume))
        }
    }
}
