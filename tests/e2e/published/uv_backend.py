"""uv's `--torch-backend auto`, asked in earnest: the host of torch's indexes is stood in for by a proxy on loopback.

uv has no option for a mirror of those indexes. So it gets a proxy that opens every tunnel onto itself, with a
certificate that uv is told not to check, and serves a folder that torch_index.TorchIndex has written.
"""

import http.server
import os
import pathlib
import re
import ssl
import subprocess
import threading
import urllib.parse


class _Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_CONNECT(self):
        self.send_response(200)
        self.end_headers()
        with self.server.tls.wrap_socket(self.connection, server_side=True) as tunnel:
            # The same handler again, inside of the tunnel.
            self.rfile, self.wfile = tunnel.makefile("rb"), tunnel.makefile("wb", 0)
            self.close_connection = False
            while not self.close_connection:
                self.handle_one_request()
            self.rfile.close()

    def translate_path(self, path):
        below = urllib.parse.unquote(urllib.parse.urlsplit(path).path).removeprefix(self.server.prefix)
        return str(self.server.folder / below.lstrip("/"))

    def log_message(self, *_):
        pass


class StandInHost:
    """A proxy to `url` whose content is `folder`. Needs the program openssl, for the certificate."""

    def __init__(self, url, folder, scratch):
        parts = urllib.parse.urlsplit(url)
        self.host = parts.hostname
        key, certificate = pathlib.Path(scratch) / "host.key", pathlib.Path(scratch) / "host.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-days", "2", "-subj", "/CN=" + self.host, "-addext",
                        "subjectAltName=DNS:" + self.host, "-keyout", str(key), "-out", str(certificate)],
                       check=True, capture_output=True)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self.server.daemon_threads = True
        self.server.folder, self.server.prefix = pathlib.Path(folder), parts.path
        self.server.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.server.tls.load_cert_chain(certificate, key)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def proxy(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Uv:
    """Real uv, which sees no GPU of this machine, only what it is told."""

    def __init__(self, program, python, host, scratch, env):
        self.program, self.python, self.host, self.scratch = program, python, host, pathlib.Path(scratch)
        self.env = {key: value for key, value in env.items() if not key.startswith("UV_")}
        self.cache = {}

    def run(self, *arguments, told=(), agents=None):
        """`told`: (variable, value) pairs; `agents`: what ROCm's own program would say of the GPUs."""
        env = {**self.env, **dict(told), "HTTPS_PROXY": self.host.proxy, "UV_NO_CONFIG": "1",
               "UV_CACHE_DIR": str(self.scratch / "uv-cache"), "UV_HTTP_RETRIES": "0"}
        if agents is not None:
            program = self.scratch / "agents" / "rocm_agent_enumerator"
            program.parent.mkdir(exist_ok=True)
            program.write_text("#!/bin/sh\necho gfx000\n" + "".join(f"echo {gfx}\n" for gfx in agents))
            program.chmod(0o755)
            env["PATH"] = f"{program.parent}:{os.environ['PATH']}"
        return subprocess.run([self.program, "-v", "pip", "install", "--dry-run", "--python", self.python,
                               "--allow-insecure-host", self.host.host, *arguments],
                              env=env, text=True, capture_output=True, timeout=120)

    def choose(self, requirement="torch", told=(), agents=None):
        """(version, label), or the text of the error."""
        question = (requirement, tuple(told), tuple(agents) if agents is not None else None)
        if question not in self.cache:
            done = self.run(requirement, "--torch-backend", "auto", told=told, agents=agents)
            found = re.search(r"^ \+ torch==([0-9.]+)\+(\S+)$", done.stderr, re.MULTILINE)
            self.cache[question] = found.groups() if found else done.stderr
        return self.cache[question]
