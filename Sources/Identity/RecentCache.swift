/// What was asked for lately, of bounded size: verified tokens by their digest, credentials by their account.
///
/// Two halves: when the young one is full it becomes the old one, and what nobody asked for since is gone. So the bound holds with
/// constant work per call, and a flood of new entries cannot push out all those in use at once.
struct RecentCache<Key: Hashable, Value> {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let halfCapacity: Int

    init(capacity: Int) {
        precondition(capacity >= 2, "A cache has room for two at least.")
        halfCapacity = capacity / 2
    }

    var count: Int { young.count + old.count }

    mutating func find(_ key: Key) -> Value? {
        if let value = young[key] { return value }
        guard let value = old.removeValue(forKey: key) else { return nil }
        insert(value, for: key)
        return value
    }

    mutating func insert(_ value: Value, for key: Key) {
        if young.count >= halfCapacity, young[key] == nil {
            old = young
            young = [:]
        }
        young[key] = value
    }

    mutating func remove(_ key: Key) {
        young[key] = nil
        old[key] = nil
    }
}
