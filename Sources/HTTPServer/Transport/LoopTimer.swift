import CLibEvent

/// A timer of a loop; lives and fires on the loop's thread. Owns its event.
@safe final class LoopTimer {
    private let loop: HTTPLoop
    private let action: () -> Void
    private var event: OpaquePointer?
    private let isRepeating: Bool

    init(loop: HTTPLoop, isRepeating: Bool = false, action: @escaping () -> Void) {
        self.loop = loop
        self.isRepeating = isRepeating
        self.action = action
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let flags = isRepeating ? Int16(EV_PERSIST) : 0
        unsafe event = unsafe event_new(
            loop.base,
            -1,
            flags,
            { _, _, context in
                guard let context = unsafe context else { preconditionFailure("A timer has lost its owner.") }
                let timer = unsafe Unmanaged<LoopTimer>.fromOpaque(context).takeUnretainedValue()
                timer.action()
                timer.loop.drain()
            },
            context
        )
    }

    deinit {
        if let event = unsafe event { unsafe event_free(event) }
    }

    /// (Re)starts the timer; false when memory is short.
    @discardableResult
    func start(after interval: Duration) -> Bool {
        guard let event = unsafe event else { return false }
        let nanoseconds = interval.nanoseconds
        var time = timeval(tv_sec: Int(nanoseconds / 1_000_000_000), tv_usec: Int(nanoseconds % 1_000_000_000 / 1000))
        return unsafe event_add(event, &time) == 0
    }
}
