import Testing

@testable import Identity

@Suite struct `A cache of what was asked for lately` {
    @Test func `finds what was put in and nothing else`() {
        var cache = RecentCache<[UInt8], String>(capacity: 10)
        cache.insert("a", for: [1])
        #expect(cache.find([1]) == "a")
        #expect(cache.find([2]) == nil)
        cache.insert("b", for: [1])
        #expect(cache.find([1]) == "b")
        #expect(cache.count == 1)
        cache.remove([1])
        #expect(cache.find([1]) == nil)
    }

    @Test func `never holds more than its bound and keeps what is in use`() {
        var cache = RecentCache<[UInt8], String>(capacity: 10)
        cache.insert("used", for: [255])
        for number in 0..<200 as Range<UInt8> {
            cache.insert("\(number)", for: [number])
            #expect(cache.find([255]) != nil)
            #expect(cache.find([number]) != nil)
            #expect(cache.count <= 10)
        }
        #expect(cache.find([0]) == nil)
        #expect(cache.find([199]) != nil)
    }

    @Test func `forgets from both halves`() {
        var cache = RecentCache<[UInt8], String>(capacity: 4)
        for number in 0..<3 as Range<UInt8> { cache.insert("x", for: [number]) }
        for number in 0..<3 as Range<UInt8> { cache.remove([number]) }
        #expect(cache.count == 0)
    }
}
