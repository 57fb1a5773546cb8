/// A FIX field number. Names are those of the FIX 4.4 dictionary; only the fields that this product reads or writes are named.
package struct FIXTag: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    package init(integerLiteral value: Int32) {
        rawValue = value
    }

    package var description: String { String(rawValue) }
}

extension FIXTag {
    // Header and trailer.
    package static let beginString: FIXTag = 8
    package static let bodyLength: FIXTag = 9
    package static let checkSum: FIXTag = 10
    package static let msgSeqNum: FIXTag = 34
    package static let msgType: FIXTag = 35
    package static let possDupFlag: FIXTag = 43
    package static let senderCompID: FIXTag = 49
    package static let sendingTime: FIXTag = 52
    package static let targetCompID: FIXTag = 56
    package static let possResend: FIXTag = 97
    package static let origSendingTime: FIXTag = 122
    package static let onBehalfOfCompID: FIXTag = 115
    package static let onBehalfOfSubID: FIXTag = 116
    package static let onBehalfOfLocationID: FIXTag = 144
    package static let deliverToCompID: FIXTag = 128
    package static let deliverToSubID: FIXTag = 129
    package static let deliverToLocationID: FIXTag = 145

    // Session messages.
    package static let beginSeqNo: FIXTag = 7
    package static let endSeqNo: FIXTag = 16
    package static let newSeqNo: FIXTag = 36
    package static let refSeqNum: FIXTag = 45
    package static let encryptMethod: FIXTag = 98
    package static let heartBtInt: FIXTag = 108
    package static let testReqID: FIXTag = 112
    package static let gapFillFlag: FIXTag = 123
    package static let resetSeqNumFlag: FIXTag = 141
    package static let refTagID: FIXTag = 371
    package static let refMsgType: FIXTag = 372
    package static let testMessageIndicator: FIXTag = 464
    package static let sessionRejectReason: FIXTag = 373
    package static let businessRejectRefID: FIXTag = 379
    package static let businessRejectReason: FIXTag = 380
    package static let nextExpectedMsgSeqNum: FIXTag = 789

    // Orders and reports.
    package static let account: FIXTag = 1
    package static let avgPx: FIXTag = 6
    package static let clOrdID: FIXTag = 11
    package static let cumQty: FIXTag = 14
    package static let execID: FIXTag = 17
    package static let execRefID: FIXTag = 19
    package static let handlInst: FIXTag = 21
    package static let lastPx: FIXTag = 31
    package static let lastQty: FIXTag = 32
    package static let orderID: FIXTag = 37
    package static let orderQty: FIXTag = 38
    package static let ordStatus: FIXTag = 39
    package static let ordType: FIXTag = 40
    package static let origClOrdID: FIXTag = 41
    package static let price: FIXTag = 44
    package static let side: FIXTag = 54
    package static let symbol: FIXTag = 55
    package static let text: FIXTag = 58
    package static let timeInForce: FIXTag = 59
    package static let transactTime: FIXTag = 60
    package static let tradeDate: FIXTag = 75
    package static let stopPx: FIXTag = 99
    package static let cxlRejReason: FIXTag = 102
    package static let ordRejReason: FIXTag = 103
    package static let execType: FIXTag = 150
    package static let leavesQty: FIXTag = 151
    package static let cxlRejResponseTo: FIXTag = 434
    package static let massStatusReqID: FIXTag = 584
    package static let massStatusReqType: FIXTag = 585
    package static let ordStatusReqID: FIXTag = 790
    package static let totNumReports: FIXTag = 911
    package static let lastRptRequested: FIXTag = 912

    // Market data.
    package static let mdReqID: FIXTag = 262
    package static let subscriptionRequestType: FIXTag = 263
    package static let marketDepth: FIXTag = 264
    package static let mdUpdateType: FIXTag = 265
    package static let noMDEntryTypes: FIXTag = 267
    package static let noMDEntries: FIXTag = 268
    package static let mdEntryType: FIXTag = 269
    package static let mdEntryPx: FIXTag = 270
    package static let mdEntrySize: FIXTag = 271
    package static let mdEntryDate: FIXTag = 272
    package static let mdEntryTime: FIXTag = 273
    package static let mdUpdateAction: FIXTag = 279
    package static let mdReqRejReason: FIXTag = 281
    /// Numbers a symbol's updates, where the two sides have agreed upon it: the dictionary of FIX 4.4 has it in another message alone.
    package static let rptSeq: FIXTag = 83
    package static let securityStatusReqID: FIXTag = 324
    package static let noRelatedSym: FIXTag = 146
    package static let securityTradingStatus: FIXTag = 326
}

extension FIXTag {
    /// A field of raw data, which may hold the field delimiter, and the field before it that says how long it is (FIX 4.4 volume 1, "data").
    var lengthOfData: FIXTag? {
        switch rawValue {
        case 96: 95
        case 89: 93
        case 91: 90
        case 213: 212
        case 446: 445
        case 619: 618
        case 622: 621
        case 349, 351, 353, 355, 357, 359, 361, 363, 365: FIXTag(rawValue: rawValue - 1)
        default: nil
        }
    }

    /// Fields of the standard header (FIX 4.4 volume 2, "standard message header"), with those of its hops group.
    var isHeader: Bool {
        switch rawValue {
        case 8, 9, 34, 35, 43, 49, 50, 52, 56, 57, 90, 91, 97, 115, 116, 122, 128, 129, 142, 143, 144, 145, 212, 213, 347, 369, 627: true
        default: isHop
        }
    }

    /// Agreed upon between two sides: no dictionary knows it.
    var isUserDefined: Bool { rawValue >= 5_000 }

    /// Fields of the one repeating group that the header has.
    var isHop: Bool { (628...630).contains(rawValue) }
}

/// MsgType (tag 35).
package struct MessageType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    package init(stringLiteral value: String) {
        rawValue = value
    }

    package var description: String { rawValue }

    package static let heartbeat: MessageType = "0"
    package static let testRequest: MessageType = "1"
    package static let resendRequest: MessageType = "2"
    package static let reject: MessageType = "3"
    package static let sequenceReset: MessageType = "4"
    package static let logout: MessageType = "5"
    package static let executionReport: MessageType = "8"
    package static let orderCancelReject: MessageType = "9"
    package static let logon: MessageType = "A"
    package static let newOrderSingle: MessageType = "D"
    package static let orderCancelRequest: MessageType = "F"
    package static let orderCancelReplaceRequest: MessageType = "G"
    package static let orderStatusRequest: MessageType = "H"
    package static let orderMassStatusRequest: MessageType = "AF"
    package static let marketDataRequest: MessageType = "V"
    package static let securityDefinition: MessageType = "d"
    package static let marketDataSnapshotFullRefresh: MessageType = "W"
    package static let marketDataRequestReject: MessageType = "Y"
    package static let marketDataIncrementalRefresh: MessageType = "X"
    package static let securityStatusRequest: MessageType = "e"
    package static let securityStatus: MessageType = "f"
    package static let businessMessageReject: MessageType = "j"

    /// True for the messages of the session layer itself: they are never resent, a gap fill stands in for them. Reject (3) is not among
    /// them when it comes to resending (FIX 4.4 volume 2, "Resend Request"), but it is when it comes to who writes it.
    package var isAdmin: Bool {
        switch rawValue {
        case "0", "1", "2", "3", "4", "5", "A": true
        default: false
        }
    }

    /// True for the message types of FIX 4.4 and for user-defined ones, which begin with U.
    var isKnown: Bool { rawValue.utf8.first == UInt8(ascii: "U") || FIXDictionary.fix44.structure(of: self) != nil }
}
