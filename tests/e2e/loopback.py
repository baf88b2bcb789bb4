"""HTTP servers on loopback whose answers a test writes down, and which remember what they were asked."""

import base64
import contextlib
import hashlib
import html
import http.server
import socket
import threading
import urllib.error
import urllib.request


class Loopback:
    """`answers`: path -> (status, headers, body) or a function of the handler; everything else is 404."""

    def __init__(self, case):
        self.answers, self.seen = {}, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else each body waits for the client to confirm its headers

            def do_GET(self):
                outer.seen.append((self.path, self.headers.get("Authorization")))
                answer = outer.answers.get(self.path) or outer.answers.get(self.path.split("?")[0], (404, {}, b""))
                if callable(answer):
                    answer = answer(self)
                if answer is None:
                    return
                status, headers, body = answer
                body = body.encode() if isinstance(body, str) else body
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            do_HEAD = do_GET

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *_):
                pass  # a client that goes away is part of the tests

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        case.addCleanup(self.server.server_close)
        case.addCleanup(self.server.shutdown)

    @property
    def host(self):
        return f"127.0.0.1:{self.server.server_port}"

    def url(self, path="", login=""):
        return f"http://{login + '@' if login else ''}{self.host}{path}"

    def page(self, place, name, *links):
        """The page of project `name` in the index at `place`; `links` as they stand in href."""
        rows = "".join(f'<a href="{html.escape(link)}">{link.split("?")[0].split("#")[0].split("/")[-1]}</a>\n' for link in links)
        self.answers[f"{place}/{name}/"] = (200, {"Content-Type": "text/html"}, f"<!DOCTYPE html><html><head><title>Links for {name}</title></head><body><h1>Links for {name}</h1>{rows}</body></html>")

    def publish(self, place, *wheels):
        """Wheels of any projects, as the index at `place`."""
        by_name = {}
        for wheel in wheels:
            by_name.setdefault(wheel.name, []).append(wheel)
        for name, own in by_name.items():
            data = {f"{place}/files/{wheel.file_name}": wheel.bytes() for wheel in own}
            self.page(place, name, *[f"{path}#sha256={hashlib.sha256(one).hexdigest()}" for path, one in data.items()])
            for path, one in data.items():
                self.answers[path] = (200, {}, one)

    def asked(self, ending=""):
        return [path for path, _ in self.seen if path.endswith(ending)]


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def behind_login(answer, user, password):
    """401 until the credentials are right."""
    def guarded(handler):
        if handler.headers.get("Authorization") != basic(user, password):
            return 401, {"WWW-Authenticate": 'Basic realm="index"'}, b"who are you"
        return answer(handler) if callable(answer) else answer
    return guarded


class Proxy:
    """Answers for http from `web`, and tunnels for https to `tls` (a port), whatever the host; `asked` has the hosts."""

    def __init__(self, case, web, tls):
        self.asked = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                host, _, path = self.path.removeprefix("http://").partition("/")
                outer.asked.append(host)
                try:
                    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{web}/{path}") as answer:
                        data, kind = answer.read(), answer.headers["Content-Type"]
                except urllib.error.HTTPError as error:
                    return self.send_error(error.code)
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(data)

            do_HEAD = do_GET

            def do_CONNECT(self):
                outer.asked.append(self.path.split(":")[0])
                self.send_response(200)
                self.end_headers()
                with socket.create_connection(("127.0.0.1", tls)) as there:
                    back = threading.Thread(target=pump, args=(there, self.connection))
                    back.start()
                    pump(self.connection, there)
                    back.join()

            def log_message(self, *_):
                pass

        def pump(source, sink):
            with contextlib.suppress(OSError):
                while data := source.recv(65536):
                    sink.sendall(data)
                sink.shutdown(socket.SHUT_WR)

        serve(case, http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler), self)


def serve(case, server, keeper=None):
    server.daemon_threads, server.block_on_close = True, False
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    case.addCleanup(server.server_close)
    case.addCleanup(server.shutdown)
    if keeper:
        keeper.port = server.server_address[1]
    return server.server_address[1]
