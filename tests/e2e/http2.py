"""A server on loopback that speaks HTTP/2 over TLS, with a certificate made for it, and breaks off where a test says so."""

import collections
import contextlib
import itertools
import select
import shutil
import socket
import ssl
import subprocess
import threading
import time

with contextlib.suppress(ImportError):
    import h2.config
    import h2.connection
    import h2.errors
    import h2.events


def missing():
    """What this needs and the machine does not have; empty: nothing."""
    lacks = [] if "h2" in globals() else ["python3-h2"]
    return " and ".join(lacks + ([] if shutil.which("openssl") else ["openssl"]))


def server_context(folder, protocols):
    """TLS for "localhost" that offers `protocols`, and the file with its certificate."""
    certificate, key = folder / "localhost.pem", folder / "localhost.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "1",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(list(protocols))
    return context, certificate


class Break:
    """Instead of an answer: what `how` says happens to the stream or to the connection, after `sent` bytes of a body."""

    def __init__(self, how, sent=0):
        assert how in ("refuse", "reset", "goaway", "cut")
        self.how, self.sent = how, sent


class Http2Server:
    """`answers`: path -> (status, headers, body), a Break, or a function that gives one of both; everything else is 404. Every answer
    takes `delay`. `seen` has (connection, path), `most` how many requests of one connection were open at once."""

    def __init__(self, case, folder, delay=0.0):
        self.answers, self.seen, self.most, self.delay, self.protocols = {}, [], 0, delay, []
        self.lock, self.numbers, self.open = threading.Lock(), itertools.count(1), []
        self.context, self.certificate = server_context(folder, ["h2"])
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        threading.Thread(target=self.accept, daemon=True).start()
        case.addCleanup(self.close)

    @property
    def host(self):
        return f"localhost:{self.listener.getsockname()[1]}"

    def url(self, path=""):
        return f"https://{self.host}{path}"

    @property
    def connections(self):
        return len({number for number, _ in self.seen})

    def asked(self):
        return collections.Counter(path for _, path in self.seen)

    def close(self):
        self.listener.close()
        for connection in self.open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                plain, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(plain, next(self.numbers)), daemon=True).start()

    def serve(self, plain, number):
        with contextlib.suppress(OSError):
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.context.wrap_socket(plain, server_side=True) as wire:
                self.open.append(wire)
                self.protocols.append(wire.selected_alpn_protocol())
                Conversation(self, wire, number).hold()

    def answer_to(self, number, path):
        with self.lock:
            self.seen.append((number, path))
            answer = self.answers.get(path, (404, {}, b""))
            return answer() if callable(answer) else answer


class Conversation:
    """One connection."""

    def __init__(self, server, wire, number):
        self.server, self.wire, self.number = server, wire, number
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.due = []       # (when, stream, answer)
        self.bodies = {}    # stream -> what is left of its body
        self.streams = set()

    def hold(self):
        self.h2.initiate_connection()
        self.send()
        while True:
            ready = self.wire.pending() or select.select([self.wire], [], [], 0.005)[0]
            if ready and not self.receive():
                return
            for item in [one for one in self.due if one[0] <= time.monotonic()]:
                self.due.remove(item)
                if not self.give(*item[1:]):
                    return
            self.go_on()

    def send(self):
        self.wire.sendall(self.h2.data_to_send())

    def receive(self):
        data = self.wire.recv(65536)
        if not data:
            return False
        for event in self.h2.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                path = dict(event.headers)[":path"]
                self.streams.add(event.stream_id)
                self.server.most = max(self.server.most, len(self.streams))
                self.due.append((time.monotonic() + self.server.delay, event.stream_id, self.server.answer_to(self.number, path)))
            elif isinstance(event, h2.events.StreamReset):
                self.forget(event.stream_id)
            elif isinstance(event, h2.events.ConnectionTerminated):
                return False
        self.send()
        return True

    def forget(self, stream):
        self.streams.discard(stream)
        self.bodies.pop(stream, None)
        self.due = [one for one in self.due if one[1] != stream]

    def give(self, stream, answer):
        """False: the connection ends."""
        if isinstance(answer, Break):
            return self.break_off(stream, answer)
        status, headers, body = answer
        body = body.encode() if isinstance(body, str) else body
        self.h2.send_headers(stream, [(":status", str(status)), *((name.lower(), value) for name, value in headers.items()),
                                      ("content-length", str(len(body)))])
        self.bodies[stream] = body
        return True

    def go_on(self):
        for stream, body in list(self.bodies.items()):
            room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size, len(body))
            if body and room == 0:
                continue
            self.h2.send_data(stream, body[:room], end_stream=room == len(body))
            self.bodies[stream] = body[room:]
            if room == len(body):
                self.forget(stream)
        self.send()

    def break_off(self, stream, how):
        if how.sent:
            self.h2.send_headers(stream, [(":status", "200"), ("content-type", "text/html"), ("content-length", str(how.sent + 1))])
            self.h2.send_data(stream, b" " * how.sent)
        if how.how in ("refuse", "reset"):
            code = h2.errors.ErrorCodes.REFUSED_STREAM if how.how == "refuse" else h2.errors.ErrorCodes.INTERNAL_ERROR
            self.h2.reset_stream(stream, code)
            self.forget(stream)
            self.send()
            return True
        if how.how == "goaway":  # this stream and those after it were not looked at
            self.h2.close_connection(last_stream_id=max(stream - 2, 0))
        self.send()
        return False
