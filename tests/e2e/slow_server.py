"""A server that does not end, and a command that is ended while it waits for it."""

import http.server
import pathlib
import signal
import subprocess
import threading
import time

from support import VARIANT


class SlowServer(http.server.ThreadingHTTPServer):
    """Serves the files of a folder, by ranges too. Of those whose name begins with `slow` only so many bytes, then nothing."""

    def __init__(self, case, root, given):
        self.given, self.requested = given, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                place = pathlib.Path(str(root) + self.path)
                place = place / "index.json" if place.is_dir() else place
                if not place.exists():
                    self.send_error(404)
                    return
                data, status = place.read_bytes(), 200
                whole = len(data)
                asked = self.headers.get("Range")
                begin = 0
                if asked:
                    first, _, last = asked.removeprefix("bytes=").partition("-")
                    begin = int(first) if first else max(0, whole - int(last))
                    data, status = data[begin:int(last) + 1 if first and last else None], 206
                self.send_response(status)
                json_page = place.name == "index.json"
                self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json" if json_page else "application/octet-stream")
                if asked:
                    self.send_header("Content-Range", f"bytes {begin}-{begin + len(data) - 1}/{whole}")
                self.send_header("Accept-Ranges", "bytes")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                slow = place.name.startswith("slow") and len(data) > 1 << 20
                if not json_page:
                    outer.requested.append((place.name, begin, len(data)))
                try:
                    self.wfile.write(data[:outer.given] if slow and outer.given else data)
                    self.wfile.flush()
                    if slow and outer.given:
                        time.sleep(60)
                except OSError:
                    pass

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        case.addCleanup(self.server_close)
        case.addCleanup(self.shutdown)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def interrupt(case, words, part, size, by=signal.SIGKILL):
    """Runs the program with `words` until the file `part` has `size` bytes."""
    running = subprocess.Popen([VARIANT, *words], env=case.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        if part.exists() and part.stat().st_size >= size:
            break
        time.sleep(0.05)
    else:
        running.kill()
        case.fail("the beginning did not come")
    running.send_signal(by)
    running.wait(30)
