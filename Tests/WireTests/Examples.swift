import Cryptography
import Testing
import Trading
import Wire

/// The example of the published contract, and small changes of it.
enum Example {
    static let body = """
        {"account_id":"acc_998124a87","symbol":"NVDA","side":"BUY","order_type":"LIMIT","limit_price":125.50,
         "quantity":100,"time_in_force":"DAY","estimated_total_usd":12550.00}
        """
    static let keyText = "018e3d2a-7f12-7000-8000-123456789abc"
    static let key = IdempotencyKey(keyText)!
    static let account = AccountID("acc_998124a87")!
    static let orderID = OrderID("ord_20240314_77777777777777777777777774")!
    static let signature: [UInt8] = Array(0..<64)

    static let headers = PlaceOrderHeaders(
        idempotencyKey: keyText,
        signature: Base64.standard.encode(signature),
        credential: nil,
        clientTimestamp: "1773648000120",
        quoteReferenceTimestamp: "1773647999800"
    )

    static let terms = OrderTerms(
        symbol: Symbol("NVDA")!,
        side: .buy,
        type: .limit,
        timeInForce: .day,
        quantity: 100,
        limitPrice: Amount("125.50"),
        stopPrice: nil
    )

    static let order = OrderView(
        orderID: orderID,
        accountID: account,
        key: key,
        terms: terms,
        filledQuantity: 40,
        averagePrice: Amount("125.5025"),
        status: .partiallyFilled,
        reason: nil,
        reservedFunds: Amount("12550")!,
        createdAt: 1_773_648_000_180,
        updatedAt: 1_773_648_000_900
    )

    static let orderJSON =
        #"{"order_id":"ord_20240314_77777777777777777777777774","account_id":"acc_998124a87","#
        + #""idempotency_key":"018e3d2a-7f12-7000-8000-123456789abc","symbol":"NVDA","side":"BUY","order_type":"LIMIT","#
        + #""limit_price":125.50,"stop_price":null,"time_in_force":"DAY","quantity":100,"filled_quantity":40,"average_price":125.5025,"#
        + #""status":"PARTIALLY_FILLED","reason":null,"reserved_funds_usd":12550.00,"created_at":1773648000180,"updated_at":1773648000900}"#

    /// The example with the raw JSON of some fields replaced, or left out (nil).
    static func body(_ changes: KeyValuePairs<String, String?>) -> [UInt8] {
        var fields: [(String, String)] = [
            ("account_id", "\"acc_998124a87\""), ("symbol", "\"NVDA\""), ("side", "\"BUY\""), ("order_type", "\"LIMIT\""),
            ("limit_price", "125.50"), ("quantity", "100"), ("time_in_force", "\"DAY\""), ("estimated_total_usd", "12550.00"),
        ]
        for (name, json) in changes {
            fields.removeAll { $0.0 == name }
            if let json { fields.append((name, json)) }
        }
        return Array(("{" + fields.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}").utf8)
    }

    static func read(_ changes: KeyValuePairs<String, String?> = [:]) throws(Problem) -> PlaceOrderRequest {
        try PlaceOrderRequest.read(body: body(changes), headers: headers)
    }
}

/// The problem that the work ends in; a failure of the test when it ends well.
func problem<Value>(_ work: () throws(Problem) -> Value, _ location: SourceLocation = #_sourceLocation) -> Problem? {
    do throws(Problem) {
        let value = try work()
        Issue.record("No problem, but \(value)", sourceLocation: location)
        return nil
    } catch {
        return error
    }
}

func field(_ name: String) -> [Problem.Extra] { [.field(name)] }

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
