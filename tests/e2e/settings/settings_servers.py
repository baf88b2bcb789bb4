"""Servers that settings are about: with a certificate that nobody knows, behind a proxy, broken."""

import http.server
import socket
import ssl
import subprocess

from loopback import Loopback, Proxy, serve


class Servers:
    """Of a SettingsCase; what a server needs to be reached is in `base`, the index that is asked."""

    def certificate(self, asks=False):
        """A server that speaks https with a certificate of an authority that nobody knows; its URL, the authority's certificate.
        `asks`: for one of its clients, too."""
        ca, ca_key, pem, key, request, more = (self.root / name for name in ("ca.pem", "ca.key", "own.pem", "own.key", "own.csr", "own.ext"))
        more.write_text("subjectAltName=IP:127.0.0.1,DNS:index.test\nbasicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth,clientAuth\n"
                        "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n")
        for command in (["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=an authority", "-keyout", ca_key, "-out", ca,
                         "-addext", "keyUsage=critical,keyCertSign"],
                        ["req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=index.test", "-keyout", key, "-out", request],
                        ["x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial", "-days", "2", "-extfile", more, "-out", pem]):
            subprocess.run(["openssl", *command], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem, key)
        if asks:
            context.load_verify_locations(ca)
            context.verify_mode = ssl.CERT_REQUIRED
            (self.root / "client.pem").write_bytes(pem.read_bytes() + key.read_bytes())
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.server.RequestHandlerClass)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        self.tls = serve(self, server)
        return f"https://127.0.0.1:{self.tls}", str(ca)

    def dead(self):
        """The address of a proxy that is not there."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            return f"http://127.0.0.1:{free.getsockname()[1]}"

    def proxy(self, scheme):
        url, pem = self.certificate()
        proxy = Proxy(self, self.server.url("").rstrip("/"), self.tls)
        self.base = f"{scheme}://index.test/a"
        return f"http://127.0.0.1:{proxy.port}", {"SSL_CERT_FILE": pem, "PIP_TRUSTED_HOST": "index.test"}

    def broken(self):
        """An index that answers 503, always."""
        server = Loopback(self)
        server.answers["/simple/demo/"] = (503, {}, b"")
        self.base = server.url("/simple")
        return server
