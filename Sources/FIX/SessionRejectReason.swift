/// SessionRejectReason (tag 373), and the words that FIX 4.4 has for each (volume 6, field 373).
enum SessionRejectReason {
    static let invalidTagNumber = 0
    static let requiredTagMissing = 1
    static let tagNotDefined = 2
    static let tagWithoutValue = 4
    static let valueIncorrect = 5
    static let incorrectDataFormat = 6
    static let compIDProblem = 9
    static let sendingTimeAccuracy = 10
    static let invalidMsgType = 11
    static let tagAppearsTwice = 13
    static let tagOutOfOrder = 14
    static let groupOutOfOrder = 15
    static let groupCountIncorrect = 16
    static let other = 99

    static func text(_ reason: Int) -> String {
        switch reason {
        case invalidTagNumber: "Invalid tag number"
        case requiredTagMissing: "Required tag missing"
        case tagNotDefined: "Tag not defined for this message type"
        case tagWithoutValue: "Tag specified without a value"
        case valueIncorrect: "Value is incorrect (out of range) for this tag"
        case incorrectDataFormat: "Incorrect data format for value"
        case compIDProblem: "CompID problem"
        case sendingTimeAccuracy: "SendingTime accuracy problem"
        case invalidMsgType: "Invalid MsgType"
        case tagAppearsTwice: "Tag appears more than once"
        case tagOutOfOrder: "Tag specified out of required order"
        case groupOutOfOrder: "Repeating group fields out of order"
        case groupCountIncorrect: "Incorrect NumInGroup count for repeating group"
        default: "Other"
        }
    }
}
