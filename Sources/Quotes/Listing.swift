package import Trading

/// A symbol that the router knows, as it stands: its price once the feed has sent one that is believed, and what keeps it from being traded on.
package struct Listing: Hashable, Sendable {
    package let symbol: Symbol
    package let quote: Quote?
    /// Of the regular session at hand, or else of the last one.
    package let day: DayRange
    /// The exchange says that trading in it is halted.
    package let isHalted: Bool
    /// Why the newest price was not believed, until one is.
    package let refused: RefusedPrice?
    /// Ticks were lost; the feed has been asked for the whole picture.
    package let isAwaitingSnapshot: Bool

    package init(
        symbol: Symbol,
        quote: Quote?,
        day: DayRange = DayRange(),
        isHalted: Bool = false,
        refused: RefusedPrice? = nil,
        isAwaitingSnapshot: Bool = false
    ) {
        self.symbol = symbol
        self.quote = quote
        self.day = day
        self.isHalted = isHalted
        self.refused = refused
        self.isAwaitingSnapshot = isAwaitingSnapshot
    }
}

/// Why a price was not believed.
package struct RefusedPrice: Hashable, Sendable {
    package let fault: PriceFault
    /// Of a price from the future: by how many milliseconds its time was ahead of the router's, and by how many it might have been.
    package let lead: Int64
    package let maximumLead: Int64

    package init(_ fault: PriceFault, lead: Int64 = 0, maximumLead: Int64 = 0) {
        self.fault = fault
        self.lead = lead
        self.maximumLead = maximumLead
    }

    /// In words, behind "its newest price was not believed".
    var words: String {
        fault == .future ? ": its time is \(lead) ms ahead of the router's clock, and more than \(maximumLead) ms are not believed" : " (\(fault))"
    }
}

/// What an operator sees of a symbol: how it stands, and the price that was refused last.
package struct SymbolReport: Hashable, Sendable {
    package let listing: Listing
    /// Nil = none was refused yet.
    package let refusedBid: Amount?
    package let refusedAsk: Amount?
    /// By how many milliseconds its time was ahead of the router's; nil = it was refused for something else.
    package let refusedLead: Int64?
}

extension Book {
    /// The symbol as it stands.
    package func listing(at place: Int) -> Listing { listing(of: symbols[place], slots[place]) }

    /// The same of a picture that was noted earlier.
    package func listing(of symbol: Symbol, _ slot: Slot) -> Listing {
        Listing(
            symbol: symbol,
            quote: Quote(symbol, slot),
            day: slot.day,
            isHalted: slot.isHalted,
            refused: slot.fault.map { RefusedPrice($0, lead: slot.refusedLead, maximumLead: rules.maximumLead) },
            isAwaitingSnapshot: slot.isWaiting
        )
    }

    /// For the operator: every symbol, in the order in which the feed brought them.
    package var reports: [SymbolReport] {
        slots.indices.map { place in
            let slot = slots[place]
            let hasRefused = slot.refusedBid != 0 || slot.refusedAsk != 0
            return SymbolReport(
                listing: listing(at: place),
                refusedBid: hasRefused ? Amount(units: slot.refusedBid) : nil,
                refusedAsk: hasRefused ? Amount(units: slot.refusedAsk) : nil,
                refusedLead: slot.refusedLead == 0 ? nil : slot.refusedLead
            )
        }
    }
}
