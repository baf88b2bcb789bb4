"""HTTP/2, where the server has it: all requests on one connection, and what breaks off is asked again or said once."""

import http.server
import pathlib
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import http2
from http2 import Break, Http2Server
from loopback import serve
from support import TestCase, Wheel

MANY = 20


def pages(wheels):
    """path -> body: the page of each wheel, and its metadata."""
    files = {}
    for wheel in wheels:
        files[f"/simple/{wheel.name}/"] = f'<a data-core-metadata="true" href="/files/{wheel.file_name}">{wheel.file_name}</a>'
        files[f"/files/{wheel.file_name}.metadata"] = wheel.members[f"{wheel.dist_info}/METADATA"]
    return files


def wide():
    """`top` needs MANY packages, all of which need one more."""
    names = [f"p{i}" for i in range(MANY)]
    return [Wheel("top", "1.0", requires=names), Wheel("last", "1.0"), *(Wheel(name, "1.0", requires=["last"]) for name in names)]


@unittest.skipIf(http2.missing(), f"{http2.missing()} is not installed (./dev setup)")
class Http2(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.server = Http2Server(self, self.root, delay=0.05)
        self.files = pages(wide())
        self.server.answers = {path: (200, {"Content-Type": "text/html"}, body) for path, body in self.files.items()}

    def resolve(self, *arguments, url=None, certificate=None):
        return self.variant("resolve", "top", *arguments, "--index-url", url or self.server.url("/simple"), "--python", self.venv,
                            "--cert", certificate or self.server.certificate)

    def assert_resolved(self, result):
        self.assert_ok(result)
        self.assertEqual(len(result.json["packages"]), MANY + 2)
        self.assertEqual(result.err, "")

    def break_first(self, broken, times=1):
        """Each path is answered properly after so many times."""
        counts = {}

        def answering(path, answer):
            def give():
                counts[path] = counts.get(path, 0) + 1
                return broken if counts[path] <= times else answer
            return give

        for path, answer in list(self.server.answers.items()):
            self.server.answers[path] = answering(path, answer)

    def test_one_connection_and_many_requests_at_once(self):
        self.assert_resolved(self.resolve("--json"))
        self.assertEqual(self.server.connections, 1)
        self.assertEqual(set(self.server.protocols), {"h2"})
        self.assertEqual(self.server.asked(), dict.fromkeys(self.files, 1), "each once")
        self.assertGreaterEqual(self.server.most, MANY // 2, "at the same time")
        self.assertLessEqual(self.server.most, 50)

    def test_a_stream_that_is_refused_or_reset_is_asked_again(self):
        for how in (Break("refuse"), Break("reset"), Break("reset", sent=100)):
            with self.subTest(how.how, sent=how.sent):
                self.setUp()
                self.break_first(how)
                self.assert_resolved(self.resolve("--json"))
                self.assertEqual(set(self.server.asked().values()), {2})

    def test_a_connection_that_the_server_gives_up_or_that_is_cut(self):
        """Half of the requests are answered on a connection; what was under way then is asked again on another one."""
        for how in ("goaway", "cut"):
            with self.subTest(how):
                self.setUp()
                left = {}

                def breaking(path, answer, how=how, left=left):
                    def give():
                        connection = self.server.seen[-1][0]
                        left[connection] = left.get(connection, len(self.files) // 2) - 1
                        return Break(how) if left[connection] < 0 else answer
                    return give

                for path, answer in list(self.server.answers.items()):
                    self.server.answers[path] = breaking(path, answer)
                self.assert_resolved(self.resolve("--json"))
                self.assertGreater(self.server.connections, 1)

    def test_what_stays_broken_is_one_error(self):
        for how in ("refuse", "reset", "goaway", "cut"):
            with self.subTest(how):
                self.setUp()
                self.server.answers["/simple/p7/"] = Break(how)
                begin = time.monotonic()
                result = self.assert_fails(self.resolve(), 1, self.server.host, "try again")
                self.assertLess(time.monotonic() - begin, 60)
                self.assertEqual(result.err.count("error:"), 1, result.err)
                # What else was under way on a connection that is cut is cut, too: any of it may be named.
                self.assertIn("/simple/p7/" if how in ("refuse", "reset") else "/simple/p", result.err)

    def test_http_1_1_is_as_before(self):
        """With TLS but without HTTP/2: a connection for each request that is under way."""
        files, connections, lock = self.files, set(), threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                with lock:
                    connections.add(self.client_address)
                time.sleep(0.05)
                body = files.get(self.path, "").encode()
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        context, certificate = http2.server_context(self.root, ["http/1.1"])
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        serve(self, server)
        self.assert_resolved(self.resolve("--json", url=f"https://localhost:{server.server_port}/simple", certificate=certificate))
        self.assertGreaterEqual(len(connections), MANY // 2)
        self.assertLessEqual(len(connections), 50 + 4)


if __name__ == "__main__":
    unittest.main()
