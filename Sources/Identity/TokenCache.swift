import Cryptography

/// Verified tokens by the SHA-256 of their text, so that a session's later requests cost a digest and not a signature.
///
/// Two halves of bounded size: when the young one is full it becomes the old one, and what nobody asked for since is gone. So the bound
/// holds with constant work per call, and a flood of new tokens cannot push out all those in use at once.
struct TokenCache {
    struct Entry {
        let principal: Principal
        /// The key that signed it: the entry is good only as long as the same key stands under that name.
        let keyName: KeyName
        let thumbprint: [UInt8]
    }

    private var young: [[UInt8]: Entry] = [:]
    private var old: [[UInt8]: Entry] = [:]
    private let halfCapacity: Int

    init(capacity: Int) {
        precondition(capacity >= 2, "A cache of tokens has room for two at least.")
        halfCapacity = capacity / 2
    }

    var count: Int { young.count + old.count }

    mutating func find(_ digest: [UInt8]) -> Entry? {
        if let entry = young[digest] { return entry }
        guard let entry = old.removeValue(forKey: digest) else { return nil }
        insert(entry, for: digest)
        return entry
    }

    mutating func insert(_ entry: Entry, for digest: [UInt8]) {
        if young.count >= halfCapacity, young[digest] == nil {
            old = young
            young = [:]
        }
        young[digest] = entry
    }

    mutating func remove(_ digest: [UInt8]) {
        young[digest] = nil
        old[digest] = nil
    }
}
