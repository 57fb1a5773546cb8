import Foundation
import Wire

/// What the demo tells about itself: demo.json, a script that places an order, and the words on the terminal.
struct DemoDescription {
    struct Facts {
        let baseURL: String
        let account: String
        let token: String
        let credential: String
        let databaseURL: String
        /// host:port of the venue's FIX acceptor.
        let venue: String
    }

    let folder: String

    var keyPath: String { folder + "/device-key.pem" }
    private var descriptionPath: String { folder + "/demo.json" }
    private var scriptPath: String { folder + "/place-order.sh" }

    /// demo.json stands for a demo that is ready: there is none before and after.
    func remove() throws(CommandFailure) {
        guard FileManager.default.fileExists(atPath: descriptionPath) else { return }
        do {
            try FileManager.default.removeItem(atPath: descriptionPath)
        } catch {
            throw CommandFailure("\(descriptionPath) cannot be removed: \(error.localizedDescription)")
        }
    }

    /// Whoever sees demo.json sees all of it, and the script is there.
    func write(_ facts: Facts) throws {
        try Data(Self.script.utf8).write(to: URL(filePath: scriptPath), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: scriptPath)
        var json = JSONWriter(reservingBytes: 2_048)
        json.beginObject()
        json.member("base_url", facts.baseURL)
        json.member("account_id", facts.account)
        json.member("token", facts.token)
        json.member("credential_id", facts.credential)
        json.member("private_key", keyPath)
        json.member("database_url", facts.databaseURL)
        json.member("venue", facts.venue)
        json.endObject()
        try Data(json.bytes + [UInt8(ascii: "\n")]).write(to: URL(filePath: descriptionPath), options: .atomic)
    }

    func welcome(_ facts: Facts) -> String {
        """

        The demo is ready.

          service      \(facts.baseURL)
          account      \(facts.account), credential \(facts.credential)
          device key   \(keyPath)
          venue        FIX 4.4 on \(facts.venue)
          database     \(facts.databaseURL)
          all of it    \(descriptionPath)

        See a quote:
          curl -sS -H "Authorization: Bearer $(sed -n 's/.*"token":"\\([^"]*\\)".*/\\1/p' '\(descriptionPath)')" '\(facts.baseURL)/v1/quotes?symbols=NVDA,AAPL'
        Place an order, signed with openssl and sent with curl:
          '\(scriptPath)' NVDA BUY 10

        Ctrl-C ends it; the next start goes on with the same data.

        """
    }

    /// Reads everything from demo.json beside it, so that it serves every run.
    private static let script = #"""
        #!/bin/sh
        # Places a LIMIT order with the demo: place-order.sh [symbol] [BUY|SELL] [quantity] [limit price]
        # Without a price: the quote's, so that it fills at once. KEY in the environment repeats an earlier order.
        set -eu
        export LC_ALL=C
        demo=$(dirname "$0")/demo.json
        fact() { sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p' "$demo"; }
        base=$(fact base_url) account=$(fact account_id) token=$(fact token) key_file=$(fact private_key)

        symbol=${1:-NVDA} side=${2:-BUY} quantity=${3:-10}
        quoted=ask
        if [ "$side" = SELL ]; then quoted=bid; fi
        price=${4:-$(curl -sS -f -H "Authorization: Bearer $token" "$base/v1/quotes?symbols=$symbol" | sed -n 's/.*"'$quoted'":"\([0-9.]*\)".*/\1/p')}

        # A UUID of version 7: 48 bits of time in milliseconds, version, variant, random bits.
        now=$(date +%s%3N)
        random=$(openssl rand -hex 9)
        time=$(printf '%012x' "$now")
        new=$(printf '%s-%s-7%s-a%s-%s' "$(echo "$time" | cut -c1-8)" "$(echo "$time" | cut -c9-12)" "$(echo "$random" | cut -c1-3)" \
            "$(echo "$random" | cut -c4-6)" "$(echo "$random" | cut -c7-18)")
        key=${KEY:-$new}

        # What is signed: every line, LF between them and none at the end, money with four decimals.
        form=$(printf 'TRADING-ORDER-V1\naccount_id=%s\nsymbol=%s\nside=%s\norder_type=LIMIT\nquantity=%s\nlimit_price=%.4f\nstop_price=\ntime_in_force=DAY\nestimated_total_usd=\nidempotency_key=%s\nclient_timestamp=%s\nquote_reference_timestamp=%s' \
            "$account" "$symbol" "$side" "$quantity" "$price" "$key" "$now" "$now")
        signature=$(printf '%s' "$form" | openssl dgst -sha256 -sign "$key_file" | openssl base64 -A)

        echo "key $key" >&2
        curl -sS -i "$base/v1/trading/orders" \
            -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
            -H "Idempotency-Key: $key" -H "X-Biometric-Signature: $signature" \
            -H "X-Client-Timestamp: $now" -H "X-Quote-Reference-Timestamp: $now" \
            -d "{\"account_id\":\"$account\",\"symbol\":\"$symbol\",\"side\":\"$side\",\"order_type\":\"LIMIT\",\"limit_price\":$price,\"quantity\":$quantity,\"time_in_force\":\"DAY\"}"
        echo

        """#
}
