"""A storage of S3's kind on loopback. It checks each signature with code of its own, remembers what it was asked, and
misbehaves as a test wants it to."""

import datetime
import hashlib
import hmac
import html
import itertools
import re
import threading
import urllib.parse

from misbehaving import serve_stub

KEY_ID = "AKIDTESTSTORAGE00001"
SECRET = "sEcReT/key+of/the/storage/0123456789abcd"


def error(status, code, message="", more="", headers=None):
    """A refusal as S3 words it."""
    text = f"<?xml version='1.0'?>\n<Error><Code>{code}</Code><Message>{html.escape(message or code)}</Message>{more}</Error>"
    return status, {"Content-Type": "application/xml", **(headers or {})}, text.encode()


class Request:
    def __init__(self, handler, body):
        self.method, self.headers, self.body = handler.command, handler.headers, body
        self.raw_path, _, self.raw_query = handler.path.partition("?")
        self.bucket, _, self.key = urllib.parse.unquote(self.raw_path)[1:].partition("/")
        self.query = dict(urllib.parse.parse_qsl(self.raw_query, keep_blank_values=True))
        self.is_signed = "Authorization" in handler.headers

    @property
    def what(self):
        """"PUT simple/demo/", "PART simple/demo/x.whl 3": for tests, without the prefix of the key."""
        for name, word in (("uploads", "BEGIN"), ("partNumber", "PART"), ("uploadId", "ABORT" if self.method == "DELETE" else "JOIN")):
            if name in self.query:
                return f"{word} {self.key}" + (f" {self.query['partNumber']}" if word == "PART" else "")
        return f"{self.method} {self.key or '?' + self.raw_query}"


def quoted(text, safe="-_.~"):
    return urllib.parse.quote(text, safe=safe)


def etag_of(data):
    """As S3 makes it of an object in one piece; it is no hash that anybody may rely on."""
    return f'"{hashlib.md5(data).hexdigest()}"'


def signature_of(request, secret, scope, time, names):
    """Amazon S3's reference, "Signature Calculations for the Authorization Header"."""
    pairs = sorted((quoted(name), quoted(value)) for name, value in urllib.parse.parse_qsl(request.raw_query, keep_blank_values=True))
    lines = "".join(f"{name}:{' '.join(request.headers[name].split())}\n" for name in names)
    canonical = "\n".join([request.method, quoted(urllib.parse.unquote(request.raw_path), "/-_.~"),
                           "&".join(f"{name}={value}" for name, value in pairs), lines, ";".join(names),
                           request.headers["x-amz-content-sha256"]])
    text = "\n".join(["AWS4-HMAC-SHA256", time, "/".join(scope), hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in scope:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


class Storage:
    """`fault`: a function of a Request that gives an answer, "cut" (the connection ends) or None. `gate`: one that may wait,
    called before anything is stored. `folder_keys`: whether keys may end with "/". `compares`: the parts that are named with
    those that it has. `conditional`: whether it compares an object before it replaces it; False refuses to, None disregards it."""

    def __init__(self, case, bucket="wheels", region="us-east-1", token=""):
        self.buckets, self.uploads, self.seen, self.bad = {bucket: {}}, {}, [], []
        self.region, self.token, self.public, self.folder_keys, self.compares = region, token, True, True, True
        self.conditional = True
        self.fault = self.gate = lambda request: None
        self.sent = 0
        self.lock = threading.Lock()
        self.ids = itertools.count(1)
        serve_stub(case, self, Request, ("GET", "HEAD", "PUT", "POST", "DELETE"))

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def env(self):
        return {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_ENDPOINT_URL_S3": self.url,
                **({"AWS_SESSION_TOKEN": self.token} if self.token else {})}

    def objects(self, bucket="wheels"):
        return self.buckets[bucket]

    def writes(self):
        return [what for what in self.seen if not what.startswith(("GET", "HEAD"))]

    def answer(self, request):
        with self.lock:
            self.seen.append(request.what)
        answer = self.fault(request)
        if answer is not None:
            return answer
        refused = self.why_not(request)
        if refused:
            self.bad.append((request.what, refused[2]))
            return refused
        if request.bucket not in self.buckets:
            return error(404, "NoSuchBucket", "The specified bucket does not exist")
        self.gate(request)
        with self.lock:
            return self.do(request, self.buckets[request.bucket])

    def why_not(self, request):
        """None: it is signed as it must be."""
        if not request.is_signed:
            return None if self.public and request.method in ("GET", "HEAD") else error(403, "AccessDenied", "Access Denied")
        given = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/([^,]+), SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})",
                             request.headers["Authorization"])
        if not given:
            return error(400, "AuthorizationHeaderMalformed", "The authorization header is malformed")
        key_id, scope, names, signature = given[1], given[2].split("/"), given[3].split(";"), given[4]
        time = request.headers.get("x-amz-date", "")
        if key_id != KEY_ID:
            return error(403, "InvalidAccessKeyId", "The Access Key Id you provided does not exist")
        if scope[1:] != [self.region, "s3", "aws4_request"]:
            return error(400, "AuthorizationHeaderMalformed", f"the region '{scope[1]}' is wrong; expecting '{self.region}'", f"<Region>{self.region}</Region>")
        if request.headers.get("x-amz-security-token", "") != self.token:
            return error(400, "InvalidToken", "The provided token is malformed")
        if scope[0] != time[:8] or not re.fullmatch(r"\d{8}T\d{6}Z", time):
            return error(403, "SignatureDoesNotMatch", "The date is not that of the scope")
        then = datetime.datetime.strptime(time, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
        if abs(datetime.datetime.now(datetime.timezone.utc) - then) > datetime.timedelta(minutes=15):
            return error(403, "RequestTimeTooSkewed")
        must = {"host"} | {name.lower() for name in request.headers if name.lower().startswith("x-amz-") or name.lower() == "content-type"}
        if names != sorted(names) or not must <= set(names):
            return error(403, "SignatureDoesNotMatch", f"{sorted(must - set(names))} must be signed")
        if not hmac.compare_digest(signature_of(request, SECRET, scope, time, names), signature):
            return error(403, "SignatureDoesNotMatch", f"The request signature we calculated does not match, AWSAccessKeyId {key_id}")
        if hashlib.sha256(request.body).hexdigest() != request.headers["x-amz-content-sha256"]:
            return error(400, "XAmzContentSHA256Mismatch")
        return None

    def do(self, request, objects):
        query, key = request.query, request.key
        kept = {name.lower(): value for name, value in request.headers.items()
                if name.lower() in ("content-type", "cache-control") or name.lower().startswith("x-amz-meta-")}
        if not key:
            found = sorted(one for one in objects if one.startswith(query.get("prefix", "")))[:int(query.get("max-keys", 1000))]
            keys = "".join(f"<Contents><Key>{html.escape(one)}</Key></Contents>" for one in found)
            return 200, {"Content-Type": "application/xml"}, f"<ListBucketResult>{keys}</ListBucketResult>".encode()
        if "uploads" in query:
            upload = f"up/{next(self.ids)}+=&"
            self.uploads[upload] = (key, kept, {})
            return 200, {}, f"<InitiateMultipartUploadResult><UploadId>{html.escape(upload)}</UploadId></InitiateMultipartUploadResult>".encode()
        if "uploadId" in query:
            return self.part(request, objects)
        if request.method == "PUT":
            if key.endswith("/") and not self.folder_keys:
                return error(400, "XMinioInvalidObjectName", "Object name contains unsupported characters.")
            wanted = {name: request.headers[name] for name in ("If-Match", "If-None-Match") if name in request.headers}
            if wanted and self.conditional is False:
                return error(501, "NotImplemented", "A header you provided implies functionality that is not implemented.")
            if wanted and self.conditional:
                now = etag_of(objects[key][0]) if key in objects else None
                if "If-Match" in wanted and now is None:
                    return error(404, "NoSuchKey", "The specified key does not exist.")
                if wanted.get("If-Match", now) != now or ("If-None-Match" in wanted and now is not None):
                    return error(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
            objects[key] = (request.body, kept)
            self.sent += len(request.body)
            return 200, {"ETag": etag_of(request.body)}, b""
        if request.method == "DELETE":
            objects.pop(key, None)
            return 204, {}, b""
        if key not in objects:
            return error(404, "NoSuchKey", "The specified key does not exist.")
        data, headers = objects[key]
        span = re.fullmatch(r"bytes=(\d*)-(\d*)", request.headers.get("Range", ""))
        if not span:
            return 200, {**headers, "Accept-Ranges": "bytes", "ETag": etag_of(data)}, data
        begin = int(span[1]) if span[1] else max(0, len(data) - int(span[2]))
        part = data[begin:int(span[2]) + 1 if span[1] and span[2] else None]
        return 206, {**headers, "Content-Range": f"bytes {begin}-{begin + len(part) - 1}/{len(data)}"}, part

    def part(self, request, objects):
        upload = request.query["uploadId"]
        if upload not in self.uploads:
            return error(404, "NoSuchUpload", "The specified upload does not exist.")
        key, kept, parts = self.uploads[upload]
        if request.method == "DELETE":
            del self.uploads[upload]
            return 204, {}, b""
        if request.method == "PUT":
            number = int(request.query["partNumber"])
            parts[number] = request.body
            self.sent += len(request.body)
            return 200, {"ETag": f'"{hashlib.md5(request.body).hexdigest()}"'}, b""
        named = re.findall(r"<PartNumber>(\d+)</PartNumber><ETag>&quot;([0-9a-f]+)&quot;</ETag>", request.body.decode())
        sizes = [len(parts[number]) for number in sorted(parts)]
        etags = [(str(number), hashlib.md5(parts[number]).hexdigest()) for number in sorted(parts)]
        if (self.compares and etags != named) or not parts or min(sizes[:-1], default=5 << 20) < 5 << 20:
            return error(400, "InvalidPart", "One or more of the specified parts could not be found.")
        objects[key] = (b"".join(parts[number] for number in sorted(parts)), kept)
        del self.uploads[upload]
        return 200, {}, b"<CompleteMultipartUploadResult><ETag>x-2</ETag></CompleteMultipartUploadResult>"
