"""A WebDAV server on loopback: one of our own that misbehaves as a test wants it to, and Debian's apache2, alone and behind one that
cuts connections."""

import base64
import contextlib
import hashlib
import http.client
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse
import uuid

from loopback import basic
from misbehaving import serve_stub

APACHE = shutil.which("apache2", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
MODULES = pathlib.Path("/usr/lib/apache2/modules")
LOCK_BODY = b'<?xml version="1.0" encoding="utf-8"?>\n<D:prop xmlns:D="DAV:"><D:lockdiscovery/></D:prop>'


class Request:
    def __init__(self, handler, body):
        self.method, self.headers, self.body = handler.command, handler.headers, body
        self.raw_path = handler.path
        self.path = urllib.parse.unquote(handler.path)

    @property
    def what(self):
        return f"{self.method} {self.path}"


class Dav:
    """`fault`: a function of a Request that gives an answer, "cut" (the connection ends before anything is done), "lose" (it ends after) or
    None. `gate`: one that may wait, called before anything is done. `login`: (user, password) that each request must have. `locking`: whether
    there are locks; `longest_lock`: for how many seconds."""

    def __init__(self, case, login=None):
        self.files, self.folders, self.locks, self.seen = {}, {"/"}, {}, []
        self.login, self.locking, self.longest_lock = login, True, 1 << 30
        self.fault = self.gate = lambda request: None
        self.mutex = threading.RLock()
        serve_stub(case, self, Request, ("GET", "HEAD", "PUT", "DELETE", "MKCOL", "MOVE", "LOCK", "UNLOCK"))

    def url(self, path="/", login=""):
        return f"http://{login}{'@' if login else ''}127.0.0.1:{self.port}{path}"

    def answer(self, request):
        with self.mutex:
            self.seen.append(request.what)
        answer = self.fault(request)
        if answer is not None and answer != "lose":
            return answer
        if self.login and request.headers.get("Authorization") != basic(*self.login):
            return 401, {"WWW-Authenticate": 'Basic realm="wheels"'}, b"<html><body><h1>Unauthorized</h1></body></html>"
        self.gate(request)
        done = self.do(request)
        return "cut" if answer == "lose" else done

    def do(self, request):
        with self.mutex:
            return getattr(self, request.method.lower())(request, request.path)

    def writes(self):
        return [what for what in self.seen if not what.startswith(("GET", "HEAD"))]

    # What a server does.

    def parent(self, path):
        return path.rstrip("/").rpartition("/")[0] + "/"

    def get(self, request, path):
        if path in self.folders:
            path += "index.html"
        if path not in self.files:
            return 404, {}, b"not found"
        data = self.files[path]
        span = re.fullmatch(r"bytes=(\d*)-(\d*)", request.headers.get("Range", ""))
        if not span:
            return 200, {"ETag": f'"{hashlib.md5(data).hexdigest()}"', "Accept-Ranges": "bytes"}, data
        begin = int(span[1]) if span[1] else max(0, len(data) - int(span[2]))
        part = data[begin:int(span[2]) + 1 if span[1] and span[2] else None]
        return 206, {"Content-Range": f"bytes {begin}-{begin + len(part) - 1}/{len(data)}"}, part

    head = get

    def put(self, request, path):
        if self.parent(path) not in self.folders:
            return 409, {}, b"conflict"
        wanted = request.headers.get("If-Match")
        if wanted and (path not in self.files or wanted != f'"{hashlib.md5(self.files[path]).hexdigest()}"'):
            return 412, {}, b"precondition failed"
        fresh = path not in self.files
        self.files[path] = request.body
        return (201 if fresh else 204), {}, b""

    def mkcol(self, request, path):
        path = path.rstrip("/") + "/"
        if path in self.folders:
            return 405, {}, b"is there"
        if self.parent(path) not in self.folders:
            return 409, {}, b"conflict"
        self.folders.add(path)
        return 201, {}, b""

    def move(self, request, path):
        to = urllib.parse.unquote(urllib.parse.urlsplit(request.headers["Destination"]).path)
        if path not in self.files:
            return 404, {}, b"not found"
        if self.parent(to) not in self.folders:
            return 409, {}, b"conflict"
        if request.headers.get("Overwrite") == "F" and to in self.files:
            return 412, {}, b"is there"
        self.files[to] = self.files.pop(path)
        return 201, {}, b""

    def delete(self, request, path):
        if path not in self.files and path not in self.folders:
            return 404, {}, b"not found"
        self.files.pop(path, None)
        self.folders.discard(path)
        return 204, {}, b""

    def lock(self, request, path):
        if not self.locking:
            return 405, {}, b"no locks"
        token, until = self.locks.get(path, (None, 0))
        seconds = min(self.longest_lock, int(request.headers["Timeout"].removeprefix("Second-")))
        if request.headers.get("If"):
            if until < time.monotonic() or request.headers["If"] != f"(<{token}>)":
                return 412, {}, b"precondition failed"
            self.locks[path] = (token, time.monotonic() + seconds)
            return 200, {}, LOCK_BODY
        if until > time.monotonic():
            return 423, {}, b"locked"
        token = f"opaquelocktoken:{uuid.uuid4()}"
        self.locks[path] = (token, time.monotonic() + seconds)
        return 200, {"Lock-Token": f"<{token}>"}, LOCK_BODY

    def unlock(self, request, path):
        if request.headers["Lock-Token"] != f"<{self.locks.get(path, ('',))[0]}>":
            return 409, {}, b"no such lock"
        del self.locks[path]
        return 204, {}, b""

class Apache:
    """Debian's apache2 with mod_dav, as the user nobody if root runs the tests. `login`: (user, password). `tls`: with a certificate of
    its own, `certificate`."""

    def __init__(self, case, login=None, largest_file=None, dav="On", tls=False, settings=""):
        if not APACHE or not (MODULES / "mod_dav_fs.so").exists():
            case.skipTest("apache2 with mod_dav is not there: ./dev setup brings Debian's apache2-bin")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="axle-apache-"))
        case.addCleanup(shutil.rmtree, self.folder, True)
        self.root = self.folder / "root"
        self.root.mkdir()
        (self.folder / "locks").mkdir()
        with contextlib.closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.scheme = "https" if tls else "http"
        if tls:
            self.certificate, key = self.folder / "own.pem", self.folder / "own.key"
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                            "-keyout", key, "-out", self.certificate], check=True, capture_output=True)
            settings += f"\nLoadModule ssl_module {MODULES}/mod_ssl.so\nSSLEngine On\nSSLCertificateFile {self.certificate}\nSSLCertificateKeyFile {key}\nMutex pthread"
        modules = "mpm_event authn_core authn_file authz_core authz_user auth_basic dir mime dav dav_fs".split()
        access = "Require all granted"
        if login:
            digest = base64.b64encode(hashlib.sha1(login[1].encode()).digest()).decode()
            (self.folder / "users").write_text(f"{login[0]}:{{SHA}}{digest}\n")
            access = f"AuthType Basic\nAuthName wheels\nAuthUserFile {self.folder}/users\n<RequireAny>\nRequire method GET HEAD\nRequire valid-user\n</RequireAny>"
        (self.folder / "apache.conf").write_text("\n".join([
            f"ServerRoot {self.folder}", "ServerName 127.0.0.1", f"Listen 127.0.0.1:{self.port}", f"PidFile {self.folder}/pid",
            f"DefaultRuntimeDir {self.folder}", f"ErrorLog {self.folder}/error.log", "TypesConfig /dev/null", "AddType text/html .html", "AddType application/json .json", "StartServers 1", "ThreadsPerChild 25",
            *(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in modules), f"DocumentRoot {self.root}", f"DavLockDB {self.folder}/locks/db",
            f"<Directory {self.root}>", f"Dav {dav}", access, "DirectoryIndex index.html", "</Directory>", settings, ""]))
        as_nobody = {}
        if os.geteuid() == 0:
            for path in (self.folder, *self.folder.iterdir()):
                os.chown(path, 65534, 65534)
            as_nobody = {"user": 65534, "group": 65534, "extra_groups": []}

        def limit():
            if largest_file:
                import resource
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

        self.server = subprocess.Popen([APACHE, "-f", str(self.folder / "apache.conf"), "-DFOREGROUND"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                       preexec_fn=limit, **as_nobody)
        case.addCleanup(self.stop)
        for _ in range(400):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=5):
                return
            if self.server.poll() is not None:
                break
            time.sleep(0.05)
        case.fail(f"apache2 did not start: {self.log()}")

    def stop(self):
        if self.server.poll() is None:
            self.server.terminate()
        self.server.wait(30)
        self.server.stderr.close()

    def log(self):
        return (self.folder / "error.log").read_text() if (self.folder / "error.log").exists() else self.server.stderr.read()

    def url(self, path="/", login=""):
        return f"{self.scheme}://{login}{'@' if login else ''}127.0.0.1:{self.port}{path}"


class BeforeApache(Dav):
    """Passes on what comes, with the faults and gates of its own."""

    def __init__(self, case, apache):
        super().__init__(case)
        self.apache, self.tokens = apache, {}

    def do(self, request):
        connection = http.client.HTTPConnection("127.0.0.1", self.apache.port, timeout=60)
        try:
            headers = {name: value for name, value in request.headers.items() if name.lower() not in ("host", "connection", "content-length")}
            if "Destination" in headers:
                headers["Destination"] = headers["Destination"].replace(f":{self.port}/", f":{self.apache.port}/", 1)
            connection.request(request.method, request.raw_path, request.body or (b"" if request.method == "PUT" else None), headers)
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        said = {name: value for name, value in answer.getheaders() if name.lower() not in ("connection", "keep-alive", "transfer-encoding", "date", "server")}
        if request.method == "LOCK" and "Lock-Token" in said:
            self.tokens[request.raw_path] = said["Lock-Token"]
        return answer.status, said, body

    def end_locks(self):
        """As time does, of a client that was killed."""
        for path, token in self.tokens.items():
            connection = http.client.HTTPConnection("127.0.0.1", self.apache.port, timeout=60)
            connection.request("UNLOCK", path, headers={"Lock-Token": token})
            connection.getresponse().read()
            connection.close()
        self.tokens.clear()
