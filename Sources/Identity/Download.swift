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
    }

    private struct State {
        var data = Data()
        var refusal: Refusal?
        var continuation: CheckedContinuation<Data, any Error>?
    }

    private let limitBytes: Int
    private let state = Mutex(State())

    init(limitBytes: Int) { self.limitBytes = limitBytes }

    func data(from url: URL, timeout: Duration) async throws -> Data {
        let configuration = URLSessionConfiguration.ephemeral
        let seconds = Double(timeout.components.seconds) + Double(timeout.components.attoseconds) * 1e-18
        configuration.timeoutIntervalForRequest = seconds
        configuration.timeoutIntervalForResource = seconds
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        let task = session.dataTask(with: url)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { $0.continuation = continuation }
                task.resume()
            }
        } onCancel: {
            task.cancel()
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
