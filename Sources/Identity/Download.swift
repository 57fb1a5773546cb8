import Foundation
import FoundationNetworking
import Synchronization

/// One GET whose answer must be 200 and small. Follows no redirect: it could lead from https to http, or to a host that the operator
/// never named, and whoever answers there would make our tokens.
///
/// A delegate of the session, not a completion handler: with the latter FoundationNetworking follows redirects without asking.
final class Download: NSObject, URLSessionDataDelegate {
    enum Refusal: String, Error {
        case status = "the server's answer is not 200"
        case size = "the answer is too large"
        case time = "the answer is not there in time"
    }

    private struct State {
        var data = Data()
        var refusal: Refusal?
        var continuation: CheckedContinuation<Data, any Error>?
        var isCancelled = false
    }

    private let limitBytes: Int
    private let state = Mutex(State())

    /// The timeout is for the whole answer: URLSession's own counts from byte to byte, and a dripping server would hold it for ever.
    static func data(from url: URL, limitBytes: Int, timeout: Duration) async throws -> Data {
        try await withThrowingTaskGroup(of: Data.self) { group in
            group.addTask { try await Download(limitBytes: limitBytes).data(from: url) }
            group.addTask {
                try await Task.sleep(for: timeout, clock: .continuous)
                throw Refusal.time
            }
            defer { group.cancelAll() }
            guard let data = try await group.next() else { preconditionFailure("A group of two tasks has a first result.") }
            return data
        }
    }

    private init(limitBytes: Int) { self.limitBytes = limitBytes }

    private func data(from url: URL) async throws -> Data {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: url)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if !state.isCancelled { state.continuation = continuation }
                    return state.isCancelled
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) } else { task.resume() }
            }
        } onCancel: {
            // Answered here: whether a task that is cancelled before it begins still calls its delegate is nowhere promised.
            let continuation = state.withLock { state in
                state.isCancelled = true
                defer { state.continuation = nil }
                return state.continuation
            }
            task.cancel()
            continuation?.resume(throwing: CancellationError())
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let isGood = (response as? HTTPURLResponse)?.statusCode == 200
        if !isGood { state.withLock { $0.refusal = .status } }
        completionHandler(isGood ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooMuch = state.withLock { state in
            state.data.append(data)
            guard state.data.count > limitBytes else { return false }
            state.refusal = state.refusal ?? .size
            return true
        }
        if isTooMuch { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let status = (task.response as? HTTPURLResponse)?.statusCode
        let (continuation, result) = state.withLock { state -> (CheckedContinuation<Data, any Error>?, Result<Data, any Error>) in
            defer { state.continuation = nil }
            if let refusal = state.refusal { return (state.continuation, .failure(refusal)) }
            if let error { return (state.continuation, .failure(error)) }
            return (state.continuation, status == 200 ? .success(state.data) : .failure(Refusal.status))
        }
        continuation?.resume(with: result)
    }
}
