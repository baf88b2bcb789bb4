"""Requests travel together: as many as needed, none twice, and what goes wrong with them is said once, soon, and to whom it concerns."""

import collections
import http.server
import pathlib
import socket
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from loopback import Loopback, serve
from support import TestCase, Wheel

LAYERS, WIDTH = 4, 8


def layered():
    """Wheels in layers: each needs two of the next layer, the first layer is what `top` needs."""
    wheels = [Wheel("top", "1.0", requires=[f"p0-{i}" for i in range(WIDTH)])]
    for layer in range(LAYERS):
        for i in range(WIDTH):
            needs = [f"p{layer + 1}-{(i + k) % WIDTH}" for k in (0, 1)] if layer + 1 < LAYERS else []
            wheels += [Wheel(f"p{layer}-{i}", version, requires=needs) for version in ("1.0", "2.0")]
    return wheels


class Ahead(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.server = Loopback(self)
        self.lock, self.now, self.most = threading.Lock(), 0, 0

    def publish(self, wheels, metadata=True, delay=0.0):
        """With metadata files (PEP 658) or without them and with ranges; every answer takes `delay`."""
        self.server.publish("/simple", *wheels)
        for wheel in wheels:
            path = f"/simple/files/{wheel.file_name}"
            data = self.server.answers[path][2]
            self.server.answers[path] = lambda handler, data=data: part_of(handler, data)
            if metadata:
                self.server.answers[path + ".metadata"] = (200, {}, wheel.members[f"{wheel.dist_info}/METADATA"])
        for path, answer in list(self.server.answers.items()):
            if metadata and path.endswith("/"):
                status, headers, body = answer
                answer = (status, headers, body.replace('<a href', '<a data-core-metadata="true" href'))
            self.server.answers[path] = lambda handler, answer=answer: self.take_time(handler, answer, delay)

    def take_time(self, handler, answer, delay):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(delay)
        with self.lock:
            self.now -= 1
        return answer(handler) if callable(answer) else answer

    def resolve(self, *arguments, **options):
        return self.variant("resolve", *arguments, "--index-url", self.server.url("/simple"), "--python", self.venv, **options)

    def test_many_at_once_and_each_once(self):
        self.publish(layered(), delay=0.05)
        result = self.assert_ok(self.resolve("top", "--json"))
        self.assertEqual(len(result.json["packages"]), 1 + LAYERS * WIDTH)
        asked = collections.Counter(self.server.asked())
        self.assertEqual({path: count for path, count in asked.items() if count > 1}, {})
        self.assertEqual(len(asked), 2 * (1 + LAYERS * WIDTH), "a page and the metadata of one wheel each")
        self.assertGreaterEqual(self.most, 4, "at the same time")
        self.assertLessEqual(self.most, 50)

    def test_from_servers_with_ranges_too(self):
        self.publish(layered(), metadata=False, delay=0.02)
        self.assert_ok(self.resolve("top"))
        asked = collections.Counter(self.server.asked())
        self.assertEqual(len(asked), 2 * (1 + LAYERS * WIDTH))
        self.assertEqual(max(asked.values()), 1)
        self.assertGreaterEqual(self.most, 4)

    def test_to_the_index_of_pip_too(self):
        self.publish(layered(), delay=0.05)
        models = self.site() / "pip/_internal/models"
        models.mkdir(parents=True)
        (models / "index.py").write_text(f"class PyPI:\n    simple_url = {self.server.url('/simple')!r}\n")
        self.assert_ok(self.variant("resolve", "top", "--python", self.venv))
        self.assertEqual(max(collections.Counter(self.server.asked()).values()), 1)
        self.assertGreaterEqual(self.most, 4)

    def test_what_is_needed_is_followed_while_others_are_waited_for(self):
        """A chain of ten packages beside one whose answers take as long as all of it: two after the other would take twice as long."""
        chain = [Wheel(f"c{i}", "1.0", requires=[f"c{i + 1}"] if i < 9 else []) for i in range(10)]
        self.publish([Wheel("top", "1.0", requires=["slow", "c0"]), Wheel("slow", "1.0"), *chain])
        begun = {}

        def watched(path, answer):
            def give(handler):
                begun[path] = time.monotonic()
                if path == "/simple/slow/":
                    late = time.monotonic() + 20
                    while "/simple/c9/" not in begun and time.monotonic() < late:
                        time.sleep(0.01)
                return answer(handler)
            return give

        for path, answer in list(self.server.answers.items()):
            self.server.answers[path] = watched(path, answer)
        begin = time.monotonic()
        self.assert_ok(self.resolve("top"))
        self.assertLess(time.monotonic() - begin, 20, "the chain is not followed while the page of slow is waited for")
        self.assertEqual(max(collections.Counter(self.server.asked()).values()), 1)

    def test_what_is_settled_or_offline_asks_for_nothing(self):
        self.publish(layered())
        self.assert_ok(self.install("top", index=self.server.url("/simple")))
        self.server.seen.clear()
        self.assert_ok(self.install("top", "p0-1", index=self.server.url("/simple")))
        self.assertEqual(self.server.asked(), [])
        self.assert_ok(self.resolve("top", "--offline"))
        self.assert_fails(self.resolve("top", "more", "--offline"), 1, "more", "--offline")
        self.assertEqual(self.server.asked(), [])

    def test_offline_a_version_whose_metadata_was_never_read_is_left_out(self):
        """As for uv, which says that there is no version but 1.0 of what needs 2.0 (0.13.9)."""
        wheels = [Wheel("a", "1.0"), Wheel("a", "2.0", requires=["b"])]
        for metadata in (True, False):
            with self.subTest(metadata=metadata):
                self.publish(wheels, metadata=metadata)
                self.offline_takes_the_older()

    def offline_takes_the_older(self):
        self.assert_ok(self.resolve("a<2", "--refresh"))
        taken = self.assert_ok(self.resolve("a", "--offline"))
        self.assertIn("a 1.0", taken.out)
        self.assertRegex(taken.err, r"a 1\.0 is chosen, not the newest: .*a-2\.0.* is not in the cache, and --offline is set")
        refused = self.assert_fails(self.resolve("a>=2", "--offline"), 1, "a-2.0", "--offline")
        self.assertIn("without --offline", refused.err)

    def test_what_nobody_asks_for_does_not_matter(self):
        """The metadata of `a` 2.0 is sent for before `c` excludes it: it fails, hangs, or is nonsense."""
        wheels = [Wheel("top", "1.0", requires=["c", "a"]), Wheel("c", "1.0", requires=["a<2"]), Wheel("a", "1.0"), Wheel("a", "2.0")]
        self.publish(wheels)
        path = f"/simple/files/{wheels[-1].file_name}.metadata"
        hang = threading.Event()
        self.addCleanup(hang.set)
        for name, answer in (("fails", (500, {}, b"")), ("hangs", lambda handler: hang.wait(100) and None), ("nonsense", (200, {}, b"?")), ("absent", (404, {}, b""))):
            with self.subTest(name):
                self.server.answers[path] = answer
                self.server.seen.clear()
                begin = time.monotonic()
                result = self.assert_ok(self.resolve("top", "--json", "--no-cache"))
                self.assertLess(time.monotonic() - begin, 30)
                self.assertEqual({one["name"]: one["version"] for one in result.json["packages"]}["a"], "1.0")
                self.assertEqual(result.err, "")
                self.assertIn(path, self.server.asked())

    def test_an_index_that_dies_half_way(self):
        self.publish(layered())
        answers = self.server.answers
        left = [12]

        def dying(answer):
            def give(handler):
                left[0] -= 1
                if left[0] < 0:
                    handler.connection.shutdown(socket.SHUT_RDWR)
                    handler.close_connection = True
                    return None
                return answer(handler)
            return give

        for path, answer in list(answers.items()):
            answers[path] = dying(answer)
        begin = time.monotonic()
        result = self.assert_fails(self.resolve("top"), 1, self.server.host, "interrupted", "try again")
        self.assertLess(time.monotonic() - begin, 40)
        self.assertEqual(result.err.count("error:"), 1, result.err)

    def test_a_busy_server_gets_its_time(self):
        """429 and 503 with Retry-After: asked again after that time, with fewer at once."""
        self.publish(layered())
        seen = collections.Counter()
        answers = self.server.answers

        def busy(path, answer):
            def give(handler):
                seen[path] += 1
                if seen[path] == 1:
                    return (429 if len(path) % 2 else 503), {"Retry-After": "1"}, b""
                return answer(handler)
            return give

        for path, answer in list(answers.items()):
            answers[path] = busy(path, answer)
        begin = time.monotonic()
        self.assert_ok(self.resolve("top"))
        self.assertGreater(time.monotonic() - begin, 1)
        self.assertEqual(set(seen.values()), {2})

    def test_a_busy_server_names_a_date(self):
        """By its own clock, which is wrong."""
        self.publish([Wheel("top", "1.0")])
        answer = self.server.answers["/simple/top/"]
        asked = []

        def busy(handler):
            asked.append(time.monotonic())
            if len(asked) == 1:
                # BaseHTTPRequestHandler writes its own Date.
                handler.date_time_string = lambda timestamp=None: "Sun, 06 Nov 1994 08:49:35 GMT"
                return 503, {"Retry-After": "Sun, 06 Nov 1994 08:49:38 GMT"}, b""
            return answer(handler) if callable(answer) else answer

        self.server.answers["/simple/top/"] = busy
        self.assert_ok(self.resolve("top"))
        self.assertEqual(len(asked), 2)
        self.assertGreaterEqual(asked[1] - asked[0], 3)

    def test_a_server_that_stays_busy_is_an_error(self):
        self.publish([Wheel("top", "1.0")])
        self.server.answers["/simple/top/"] = (429, {"Retry-After": "1"}, b"")
        begin = time.monotonic()
        self.assert_fails(self.resolve("top"), 1, "429", "try again later")
        self.assertLess(time.monotonic() - begin, 40)

    def test_a_server_that_wants_a_long_pause_is_not_waited_for(self):
        self.publish([Wheel("top", "1.0")])
        asked = []
        for after, words in (("86400", "24 hours"), ("100", "2 minutes")):
            with self.subTest(after=after):
                asked.clear()

                def busy(handler):
                    asked.append(handler.path)
                    return 503, {"Retry-After": after}, b""

                self.server.answers["/simple/top/"] = busy
                begin = time.monotonic()
                self.assert_fails(self.resolve("top"), 1, "503", f"try again in {words}")
                self.assertLess(time.monotonic() - begin, 20)
                self.assertEqual(len(asked), 1)

    def test_http_1_0_and_connections_that_end_with_each_answer(self):
        wheels = {wheel.name: wheel for wheel in (Wheel("top", "1.0", requires=["a", "b", "c"]), *(Wheel(name, "1.0") for name in "abc"))}

        class Old(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"

            def do_GET(self):
                name = self.path.strip("/").split("/")[-1]
                if name in wheels:
                    body, kind = f'<a href="/{wheels[name].file_name}">{wheels[name].file_name}</a>'.encode(), "text/html"
                else:
                    body, kind = next(w for w in wheels.values() if w.file_name == name).bytes(), "application/zip"
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.end_headers()  # the body ends with the connection
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        port = serve(self, http.server.ThreadingHTTPServer(("127.0.0.1", 0), Old))
        self.assert_ok(self.install("top", index=f"http://127.0.0.1:{port}/simple"))
        self.assertEqual(sorted(self.installed()), ["a", "b", "c", "top"])

    def test_slow_answers_overlap(self):
        """Each answer takes a second: one after the other they would take a minute."""
        self.publish(layered(), delay=0.5)
        begin = time.monotonic()
        self.assert_ok(self.resolve("top"))
        self.assertLess(time.monotonic() - begin, 0.5 * len(self.server.seen) / 2)


def part_of(handler, data):
    asked = handler.headers.get("Range")
    if not asked:
        return 200, {"Content-Type": "application/zip"}, data
    first, last = asked.removeprefix("bytes=").split("-")
    begin, end = (max(0, len(data) - int(last)), len(data)) if not first else (int(first), min(int(last) + 1, len(data)))
    return 206, {"Content-Range": f"bytes {begin}-{end - 1}/{len(data)}"}, data[begin:end]


if __name__ == "__main__":
    unittest.main()
