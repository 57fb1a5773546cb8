package import HTTPServer
import Trading

/// The switches of a running venue over plain HTTP, for a shell: on this machine alone, for there is no token.
package struct SimulatorAdmin: HTTPHandler {
    private let venue: SimulatedVenue

    /// Where it may listen.
    package static let hosts: Set = ["127.0.0.1", "::1", "localhost"]

    package init(_ venue: SimulatedVenue) { self.venue = venue }

    /// 200 with text; 400 a call that cannot be done as it was made; 404 no such call; 405 GET and POST taken for one another; 500 a venue that cannot do it.
    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        guard let call = AdminCall.all.first(where: { $0.path == request.path }) else {
            return Self.answer(404, "no such call; GET / lists them")
        }
        guard request.method == (call.isReading ? .get : .post) else {
            return Self.answer(405, "\(call.path) is \(call.isReading ? "GET" : "POST")")
        }
        // Taken for a call without values it would do something else.
        guard request.body.isEmpty else { return Self.answer(400, "values stand behind the path, as in /mute?on=yes, not in the body") }
        do {
            return Self.answer(200, try call.run(venue, AdminQuery(request.query, of: call)))
        } catch let wrong as AdminCall.Wrong {
            return Self.answer(400, wrong.text)
        } catch let error as SimulatorError where error.code == .unknownTrade {
            return Self.answer(400, "\(error.message): GET /trades order= lists those of an order")
        } catch let error as SimulatorError where error.code == .outOfRange {
            return Self.answer(400, error.message)
        } catch {
            return Self.answer(500, String(describing: error))
        }
    }

    private static func answer(_ status: Int, _ text: String) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "text/plain; charset=utf-8", body: Array((text.isEmpty ? "" : text + "\n").utf8))
    }
}
