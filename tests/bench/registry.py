"""A package index on loopback that answers with pages and metadata files recorded from a real one.

usage: registry.py FOLDER [--record URL] [--delay-ms N] [--max-age SECONDS] [--log FILE]
       registry.py FOLDER --write ROOT --origin URL

Prints its port, and ends when its standard input does. With --record what is asked for and not in FOLDER is fetched from the index
at URL, once, and kept: only what a client asks for by name, and nothing but pages and metadata files. Every request waits N ms first. FILE gets a line for each: when it came and when its answer was
sent, in ms after the first one, the bytes of the body, the path. With --write nothing is served: the files of a server that needs no
program are written below ROOT.
"""

import argparse
import asyncio
import gzip
import hashlib
import http.client
import io
import json
import pathlib
import re
import ssl
import sys
import time
import urllib.error
import urllib.request
import zipfile

# A client that asks for more is not solving a few dozen sets of requirements: a registry is no catalogue to scan.
MOST_ENTRIES = 20000
ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"


def asked(url, headers=None, method="GET"):
    """(status, headers, body). Once more and once again where the network fails: one failure in thousands of requests would
    be a wrong answer of whoever is compared."""
    for pause in (1, 5, None):
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}, method=method), timeout=60) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError:
            raise
        except (OSError, http.client.HTTPException):
            if pause is None:
                raise
            time.sleep(pause)


class RemoteFile(io.RawIOBase):
    """As much of a file on a server as a reader of archives reads."""

    def __init__(self, url):
        self.url, self.position = url, 0
        self.size = int(asked(url, method="HEAD")[1]["Content-Length"])

    def seekable(self):
        return True

    def readable(self):
        return True

    def tell(self):
        return self.position

    def seek(self, offset, whence=io.SEEK_SET):
        self.position = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.position, io.SEEK_END: self.size}[whence]
        return self.position

    def readinto(self, buffer):
        end = min(self.position + len(buffer), self.size)
        if end == self.position:
            return 0
        status, _, data = asked(self.url, {"Range": f"bytes={self.position}-{end - 1}", "Accept-Encoding": "identity"})
        if status != 206:
            data = data[self.position:end]
        buffer[:len(data)] = data
        self.position += len(data)
        return len(data)


def metadata_of(url):
    """Not every index publishes the metadata of its wheels beside them."""
    try:
        return asked(url + ".metadata")[2]
    except urllib.error.HTTPError as error:
        if error.code not in (403, 404):
            raise
    with zipfile.ZipFile(io.BufferedReader(RemoteFile(url), 1 << 16)) as wheel:
        name = next(name for name in wheel.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
        return wheel.read(name)


class Recording:
    """FOLDER/<hash of the path>: a line of JSON (status and headers), then the body."""

    def __init__(self, folder, upstream):
        self.folder, self.upstream = pathlib.Path(folder), upstream
        self.folder.mkdir(parents=True, exist_ok=True)
        self.entries = len(list(self.folder.iterdir()))

    def file_of(self, path):
        return self.folder / hashlib.sha256(path.encode()).hexdigest()

    def read(self, path):
        try:
            head, body = self.file_of(path).read_bytes().split(b"\n", 1)
        except (OSError, http.client.HTTPException):
            return None
        return json.loads(head), body

    def pages(self):
        for file in self.folder.iterdir():
            head, body = file.read_bytes().split(b"\n", 1)
            if json.loads(head).get("content-type") == "application/vnd.pypi.simple.v1+json":
                yield body

    def fetch(self, path):
        """Pages come from the index, "/files/HOST/PATH" from where its links lead."""
        self.entries += 1
        if self.entries > MOST_ENTRIES:
            raise RuntimeError(f"{self.folder} holds {MOST_ENTRIES} recorded answers: {path} is not fetched")
        try:
            if path.endswith(".metadata"):
                head, body = {"status": 200}, metadata_of("https://" + path.removeprefix("/files/").removesuffix(".metadata"))
            else:
                head, body = self.fetch_page(self.upstream + path.removeprefix("/simple"))
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
            head, body = {"status": 404}, b""
        self.file_of(path).write_bytes(json.dumps(head).encode() + b"\n" + body)
        return head, body

    @staticmethod
    def fetch_page(url):
        _, headers, body = asked(url, {"Accept": ACCEPT})
        return {"status": 200, "content-type": headers.get("Content-Type", "")}, body


class Registry:
    def __init__(self, recording, delay, max_age, log=None):
        self.recording, self.delay, self.max_age, self.log = recording, delay, max_age, log
        self.origin, self.answers, self.requests, self.begin = "", {}, 0, None

    def announced(self, page):
        """The page with links to this server, and with the metadata of every wheel announced: with the hash of what was recorded (a
        made one stands for what nobody asked for), or while recording with none."""
        page = json.loads(page)
        for file in page["files"]:
            path = "/files/" + file["url"].removeprefix("https://")
            file["url"] = self.origin + path
            if not file["filename"].endswith(".whl"):
                continue
            found = None if self.recording.upstream else self.recording.read(path + ".metadata")
            known = hashlib.sha256(found[1] if found else path.encode()).hexdigest()
            file["core-metadata"] = True if self.recording.upstream else {"sha256": known}
        return json.dumps(page, separators=(",", ":")).encode()

    def write_below(self, root):
        for page in self.recording.pages():
            body = self.announced(page)
            folder = root / "simple" / re.sub(r"[-_.]+", "-", json.loads(body)["name"]).lower()
            folder.mkdir(parents=True)
            (folder / "index.json").write_bytes(body)
            (folder / "index.json.gz").write_bytes(gzip.compress(body, 6, mtime=0))
            for file in json.loads(body)["files"]:
                place = file["url"].removeprefix(self.origin) + ".metadata"
                found = self.recording.read(place)
                if found and found[0]["status"] == 200:
                    path = root / place.removeprefix("/")
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(found[1])

    async def answer(self, path):
        """(status, headers, body, compressed body): made once."""
        if path not in self.answers:
            found = self.recording.read(path)
            fetchable = path.startswith("/simple/") or path.endswith(".metadata")
            if found is None and self.recording.upstream and fetchable:
                found = await asyncio.get_running_loop().run_in_executor(None, self.recording.fetch, path)
            head, body = found or ({"status": 404}, b"")
            if path.startswith("/simple/") and body:
                body = self.announced(body)
            packed = gzip.compress(body, 6, mtime=0) if path.startswith("/simple/") else None
            headers = {"Content-Type": head.get("content-type", ""), "ETag": f'"{hashlib.sha256(body).hexdigest()[:32]}"',
                       "Cache-Control": f"max-age={self.max_age}, public" if path.startswith("/simple/") else "max-age=31536000, immutable"}
            self.answers[path] = head["status"], headers, body, packed
        return self.answers[path]

    async def serve(self, reader, writer):
        try:
            while True:
                request = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                came = time.monotonic()
                self.begin = self.begin or came
                if self.delay:
                    await asyncio.sleep(self.delay)
                self.requests += 1
                sent = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in request[1:] if line)}
                method, path, _ = request[0].split(" ")
                status, headers, body, packed = await self.answer(path)
                headers = dict(headers)
                if status == 200 and sent.get("if-none-match") == headers["ETag"]:
                    status, body, packed = 304, b"", None
                if packed is not None and "gzip" in sent.get("accept-encoding", ""):
                    headers["Content-Encoding"], body = "gzip", packed
                if status != 304:
                    headers["Content-Length"] = str(len(body))
                lines = [f"HTTP/1.1 {status} {'OK' if status == 200 else 'Other'}", *(f"{name}: {value}" for name, value in headers.items())]
                writer.write(("\r\n".join(lines) + "\r\n\r\n").encode() + (b"" if method == "HEAD" else body))
                await writer.drain()
                if self.log:
                    times = (f"{(moment - self.begin) * 1e3:8.1f}" for moment in (came, time.monotonic()))
                    print(*times, f"{len(body):9}", path, file=self.log, flush=True)
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--record")
    parser.add_argument("--delay-ms", type=int, default=0)
    parser.add_argument("--max-age", type=int, default=600)
    parser.add_argument("--log", type=argparse.FileType("w"))
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--origin", default="")
    chosen = parser.parse_args()
    if chosen.write:
        registry = Registry(Recording(chosen.folder, None), 0, chosen.max_age)
        registry.origin = chosen.origin
        return registry.write_below(chosen.write)
    # One context for all requests: to read the certificates takes longer than a request.
    tls = urllib.request.HTTPSHandler(context=ssl.create_default_context())
    urllib.request.install_opener(urllib.request.build_opener(tls))
    registry = Registry(Recording(chosen.folder, chosen.record and chosen.record.rstrip("/")), chosen.delay_ms / 1e3, chosen.max_age, chosen.log)
    server = await asyncio.start_server(registry.serve, "127.0.0.1", 0, limit=1 << 16)
    port = server.sockets[0].getsockname()[1]
    registry.origin = f"http://127.0.0.1:{port}"
    print(port, flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.close()


asyncio.run(main())
