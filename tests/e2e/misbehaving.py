"""A server on loopback whose answers a test can replace: what the stubs of a storage and of WebDAV share."""

import http.server

from loopback import serve


def serve_stub(case, stub, request_of, methods):
    """`stub.answer(request)` gives (status, headers, body), or "cut": the connection ends. `request_of(handler, body)` makes the request."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def answer(self):
            size = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(size)
            if len(body) < size:  # the client was killed
                self.close_connection = True
                return
            answer = stub.answer(request_of(self, body))
            if answer == "cut":
                self.close_connection = True
                return
            status, headers, data = answer
            self.send_response(status)
            for name, value in {"Content-Length": str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def log_message(self, *_):
            pass

    for method in methods:
        setattr(Handler, "do_" + method, Handler.answer)
    serve(case, http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler), stub)


def answer_to(stub, begin, answer, times=1000):
    """Answers so for requests whose `what` begins like this; returns those that were."""
    hit = []

    def fault(request):
        if request.what.startswith(begin) and len(hit) < times:
            hit.append(request)
            return answer(request) if callable(answer) else answer
        return None

    stub.fault = fault
    return hit
