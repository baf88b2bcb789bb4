"""nginx on loopback: a server whose own work takes next to nothing of the two cores that the compared programs share with it."""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
CONFIGURATION = """
daemon off; pid {folder}/nginx.pid; worker_processes 2; error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000; gzip_static on;
  client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{
    listen 127.0.0.1:{port};
    root {folder}/root;
    location /simple/ {{
      types {{ }} default_type application/vnd.pypi.simple.v1+json; index index.json; add_header Cache-Control "max-age={max_age}, public";
    }}
    location /files/ {{ types {{ }} default_type application/octet-stream; alias {files}/; add_header Cache-Control "max-age=31536000, immutable"; }}
  }}
}}
"""


@contextlib.contextmanager
def served(write, files=None, max_age=600):
    """The URL of an index. `write(root, origin)` makes simple/NAME/index.json, and index.json.gz where a page is sent compressed, below root.
    `files`: the folder behind /files/, none: the one below root."""
    with tempfile.TemporaryDirectory(prefix="axle-nginx-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (folder / "root").mkdir()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        write(folder / "root", f"http://127.0.0.1:{port}")
        settings = CONFIGURATION.format(folder=folder, port=port, files=files or folder / "root/files", max_age=max_age)
        (folder / "nginx.conf").write_text(("user root;" if os.geteuid() == 0 else "") + settings)
        with subprocess.Popen([NGINX, "-c", str(folder / "nginx.conf")], stderr=subprocess.DEVNULL) as server:
            try:
                for _ in range(200):
                    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                        break
                    time.sleep(0.05)
                else:
                    sys.exit(f"nginx did not start: {(folder / 'error.log').read_text()}")
                yield f"http://127.0.0.1:{port}/simple"
            finally:
                server.terminate()
