import CAllocations
import Glibc
import Synchronization

/// Counts the objects that one thread makes: arrays, boxes, closures' contexts and instances all come from the runtime's one function.
enum AllocationCount {
    private static let counted = Atomic(UInt(0))
    private static let made = Atomic(0)
    /// Set once, before anybody counts.
    private static let original: swift_allocate_object? = {
        let original = unsafe _swift_allocObject
        unsafe _swift_allocObject = { metadata, size, mask in
            if AllocationCount.counted.load(ordering: .relaxed) == UInt(pthread_self()) { AllocationCount.made.add(1, ordering: .relaxed) }
            return unsafe AllocationCount.original?(metadata, size, mask)
        }
        return unsafe original
    }()

    /// How many objects the body makes, which must be code without strings; the process should end soon after: with the hook on, the runtime retains in a way
    /// that strings do not bear, also afterwards.
    static func of(_ body: () -> Void) -> Int {
        precondition(unsafe original != nil, "The runtime allocates objects.")
        made.store(0, ordering: .relaxed)
        counted.store(UInt(pthread_self()), ordering: .relaxed)
        unsafe _swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly = true
        body()
        unsafe _swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly = false
        counted.store(0, ordering: .relaxed)
        return made.load(ordering: .relaxed)
    }
}
