/// A FIX field number. Names are those of the FIX 4.4 dictionary; only the fields that this product reads or writes are named.
package struct Tag: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    package init(integerLiteral value: Int32) {
        rawValue = value
    }

    package var description: String { String(rawValue) }
}

extension Tag {
    // Header and trailer.
    package static let beginString: Tag = 8
    package static let bodyLength: Tag = 9
    package static let checkSum: Tag = 10
    package static let msgSeqNum: Tag = 34
    package static let msgType: Tag = 35
    package static let possDupFlag: Tag = 43
    package static let senderCompID: Tag = 49
    package static let sendingTime: Tag = 52
    package static let targetCompID: Tag = 56
    package static let possResend: Tag = 97
    package static let origSendingTime: Tag = 122

    // Session messages.
    package static let beginSeqNo: Tag = 7
    package static let endSeqNo: Tag = 16
    package static let newSeqNo: Tag = 36
    package static let refSeqNum: Tag = 45
    package static let encryptMethod: Tag = 98
    package static let heartBtInt: Tag = 108
    package static let testReqID: Tag = 112
    package static let gapFillFlag: Tag = 123
    package static let resetSeqNumFlag: Tag = 141
    package static let refTagID: Tag = 371
    package static let refMsgType: Tag = 372
    package static let sessionRejectReason: Tag = 373
    package static let businessRejectRefID: Tag = 379
    package static let businessRejectReason: Tag = 380

    // Orders and reports.
    package static let account: Tag = 1
    package static let avgPx: Tag = 6
    package static let clOrdID: Tag = 11
    package static let cumQty: Tag = 14
    package static let execID: Tag = 17
    package static let execRefID: Tag = 19
    package static let handlInst: Tag = 21
    package static let lastPx: Tag = 31
    package static let lastQty: Tag = 32
    package static let orderID: Tag = 37
    package static let orderQty: Tag = 38
    package static let ordStatus: Tag = 39
    package static let ordType: Tag = 40
    package static let origClOrdID: Tag = 41
    package static let price: Tag = 44
    package static let side: Tag = 54
    package static let symbol: Tag = 55
    package static let text: Tag = 58
    package static let timeInForce: Tag = 59
    package static let transactTime: Tag = 60
    package static let tradeDate: Tag = 75
    package static let stopPx: Tag = 99
    package static let cxlRejReason: Tag = 102
    package static let ordRejReason: Tag = 103
    package static let execType: Tag = 150
    package static let leavesQty: Tag = 151
    package static let cxlRejResponseTo: Tag = 434
    package static let ordStatusReqID: Tag = 790

    // Market data.
    package static let mdReqID: Tag = 262
    package static let subscriptionRequestType: Tag = 263
    package static let marketDepth: Tag = 264
    package static let mdUpdateType: Tag = 265
    package static let noMDEntryTypes: Tag = 267
    package static let noMDEntries: Tag = 268
    package static let mdEntryType: Tag = 269
    package static let mdEntryPx: Tag = 270
    package static let mdEntrySize: Tag = 271
    package static let mdReqRejReason: Tag = 281
    package static let noRelatedSym: Tag = 146
    package static let securityTradingStatus: Tag = 326
}

extension Tag {
    /// A field of raw data, which may hold the field delimiter, and the field before it that says how long it is (FIX 4.4 volume 1, "data").
    var lengthOfData: Tag? {
        switch rawValue {
        case 96: 95
        case 89: 93
        case 91: 90
        case 213: 212
        case 446: 445
        case 619: 618
        case 622: 621
        case 349, 351, 353, 355, 357, 359, 361, 363, 365: Tag(rawValue: rawValue - 1)
        default: nil
        }
    }

    /// Fields that stand in the standard header (FIX 4.4 volume 2, "standard message header"), as far as this session layer knows them.
    var isHeader: Bool {
        switch rawValue {
        case 8, 9, 35, 49, 56, 34, 43, 52, 97, 122, 90, 91, 115, 128, 129, 116, 144, 145, 50, 57, 142, 143, 212, 213, 347, 369: true
        default: false
        }
    }
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
    package static let marketDataRequest: MessageType = "V"
    package static let marketDataSnapshotFullRefresh: MessageType = "W"
    package static let marketDataRequestReject: MessageType = "Y"
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
    var isKnown: Bool {
        let bytes = Array(rawValue.utf8)
        switch bytes.count {
        case 1:
            let byte = bytes[0]
            let letters: Set<UInt8> = [UInt8(ascii: "I"), UInt8(ascii: "O"), UInt8(ascii: "U")]
            return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5A && !letters.contains(byte)) || (byte >= 0x61 && byte <= 0x7A)
        case 2 where bytes[0] == UInt8(ascii: "A"): return bytes[1] >= 0x41 && bytes[1] <= 0x5A
        case 2 where bytes[0] == UInt8(ascii: "B"): return bytes[1] >= 0x41 && bytes[1] <= 0x48
        default: return bytes.first == UInt8(ascii: "U")
        }
    }
}
