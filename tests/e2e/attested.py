"""A Sigstore of the tests' own: an authority, a log of certificates, a log of signatures, and attestations (PEP 740)
that it vouches for. What it makes is right; `Bent` names what a test may make otherwise.

Needs the library `cryptography`; `missing` is why there is none, or None."""

import base64
import dataclasses
import datetime
import hashlib
import json
import struct

try:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
    missing = None
except ImportError as error:
    missing = f"Python's library cryptography is not installed ({error})"

GITHUB = {"kind": "GitHub", "repository": "axle/demo", "workflow": "release.yml", "environment": None}
GITLAB = {"kind": "GitLab", "repository": "axle/tools/demo", "workflow_filepath": ".gitlab-ci.yml", "environment": None}
GOOGLE = {"kind": "Google", "email": "builder@demo.example"}
CIRCLECI = {"kind": "CircleCI", "project_id": "11111111-2222-3333-4444-555555555555",
            "pipeline_definition_id": "66666666-7777-8888-9999-000000000000",
            "vcs_origin": "github.com/axle/demo", "vcs_ref": "refs/heads/main"}
PUBLISHED = "https://docs.index.example/attestations/publish/v1"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
REF = "refs/tags/v1.0"
TIMESTAMPS = "1.3.6.1.4.1.11129.2.4.2"
BEGIN = datetime.datetime(2026, 3, 1, 12, 0, 0)


def b64(data):
    return base64.b64encode(data).decode()


def rfc3339(time):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds(time):
    return int(time.replace(tzinfo=datetime.timezone.utc).timestamp())


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def key_bytes(key):
    return key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def utf8_string(text):
    data = text.encode()
    assert len(data) < 128 * 2
    length = bytes([len(data)]) if len(data) < 128 else bytes([0x81, len(data)])
    return b"\x0c" + length + data


def claims_of(publisher):
    """The numbers of Fulcio's extensions and what they say of a run of `publisher`, and its subjectAltName."""
    if publisher["kind"] == "GitHub":
        repository = "https://github.com/" + publisher["repository"]
        config = f"{repository}/.github/workflows/{publisher['workflow']}@{REF}"
        return {8: "https://token.actions.githubusercontent.com", 9: config, 12: repository, 13: COMMIT, 14: REF,
                18: config}, x509.UniformResourceIdentifier(config)
    if publisher["kind"] == "GitLab":
        repository = "https://gitlab.com/" + publisher["repository"]
        config = f"{repository}//{publisher['workflow_filepath']}@{COMMIT}"
        return {8: "https://gitlab.com", 12: repository, 13: COMMIT, 14: REF, 18: config}, \
            x509.UniformResourceIdentifier(config)
    if publisher["kind"] == "Google":
        return {8: "https://accounts.google.com"}, x509.RFC822Name(publisher["email"])
    pipeline = (f"https://circleci.com/api/v2/projects/{publisher['project_id']}/pipeline-definitions/"
                f"{publisher['pipeline_definition_id']}")
    return {8: "https://oidc.circleci.com", 9: pipeline, 12: publisher["vcs_origin"], 14: publisher["vcs_ref"]}, \
        x509.UniformResourceIdentifier(pipeline)


@dataclasses.dataclass
class Bent:
    """What of one attestation is otherwise than it should be."""
    claims: dict = dataclasses.field(default_factory=dict)  # number -> text, or None: the extension is missing
    statement: dict = dataclasses.field(default_factory=dict)
    subjects: list = None
    body: dict = dataclasses.field(default_factory=dict)  # of the log's entry: top-level keys
    spec: dict = dataclasses.field(default_factory=dict)  # and of its `spec`
    kind_version: dict = dataclasses.field(default_factory=dict)
    logged_after: datetime.timedelta = datetime.timedelta(minutes=1)
    signature_of: bytes = None  # instead of the statement
    signing_purpose: bool = True
    digital_signature: bool = True
    timestamp: bool = True
    timestamp_log: object = None  # a Log instead of the one that is trusted
    log: object = None
    issuer: object = None  # an Authority instead
    checkpoint_size: int = None
    checkpoint_root: bytes = None


class Log:
    def __init__(self, name):
        self.name = name
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id = hashlib.sha256(key_bytes(self.key)).digest()

    def sign(self, data):
        return self.key.sign(data, ec.ECDSA(hashes.SHA256()))

    def trusted(self, start=BEGIN, end=None):
        valid = {"start": rfc3339(start), **({"end": rfc3339(end)} if end else {})}
        return {"baseUrl": f"https://{self.name}", "hashAlgorithm": "SHA2_256",
                "publicKey": {"rawBytes": b64(key_bytes(self.key)), "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                              "validFor": valid},
                "logId": {"keyId": b64(self.id)}}


class Authority:
    """A root and an intermediate certificate."""

    def __init__(self):
        self.root_key = ec.generate_private_key(ec.SECP384R1())
        self.key = ec.generate_private_key(ec.SECP384R1())
        self.root = self.certify("root", self.root_key.public_key(), "root", self.root_key, 1)
        self.certificate = self.certify("intermediate", self.key.public_key(), "root", self.root_key, 0)

    @staticmethod
    def name(text):
        return x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, "axle.example"),
                          x509.NameAttribute(NameOID.COMMON_NAME, text)])

    def certify(self, subject, public_key, issuer, key, length):
        usage = x509.KeyUsage(digital_signature=False, content_commitment=False, key_encipherment=False,
                              data_encipherment=False, key_agreement=False, key_cert_sign=True, crl_sign=True,
                              encipher_only=False, decipher_only=False)
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())
        return (x509.CertificateBuilder().subject_name(self.name(subject)).issuer_name(self.name(issuer))
                .public_key(public_key).serial_number(x509.random_serial_number())
                .not_valid_before(BEGIN).not_valid_after(BEGIN + datetime.timedelta(days=3650))
                .add_extension(usage, True).add_extension(x509.BasicConstraints(True, length), True)
                .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), False)
                .add_extension(authority, False).sign(key, hashes.SHA384()))

    def trusted(self, start=BEGIN, end=None):
        certificates = [{"rawBytes": b64(one.public_bytes(serialization.Encoding.DER))}
                        for one in (self.certificate, self.root)]
        valid = {"start": rfc3339(start), **({"end": rfc3339(end)} if end else {})}
        return {"subject": {"organization": "axle.example", "commonName": "root"}, "uri": "https://fulcio.axle.example",
                "certChain": {"certificates": certificates}, "validFor": valid}


def leaf_hash(data):
    return hashlib.sha256(b"\0" + data).digest()


def node_hash(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


def tree_hash(hashes_of_leaves):
    """RFC 6962 §2.1"""
    if len(hashes_of_leaves) == 1:
        return hashes_of_leaves[0]
    split = 1 << (len(hashes_of_leaves) - 1).bit_length() - 1
    return node_hash(tree_hash(hashes_of_leaves[:split]), tree_hash(hashes_of_leaves[split:]))


def tree_path(index, hashes_of_leaves):
    """RFC 6962 §2.1.1"""
    if len(hashes_of_leaves) == 1:
        return []
    split = 1 << (len(hashes_of_leaves) - 1).bit_length() - 1
    if index < split:
        return tree_path(index, hashes_of_leaves[:split]) + [tree_hash(hashes_of_leaves[split:])]
    return tree_path(index - split, hashes_of_leaves[split:]) + [tree_hash(hashes_of_leaves[:split])]


class Sigstore:
    def __init__(self):
        self.authority = Authority()
        self.log = Log("rekor.axle.example")
        self.certificate_log = Log("ctfe.axle.example")

    def trusted_root(self, **changes):
        return {"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
                "tlogs": [self.log.trusted()], "certificateAuthorities": [self.authority.trusted()],
                "ctlogs": [self.certificate_log.trusted()], "timestampAuthorities": [], **changes}

    def write_trusted_root(self, path, **changes):
        path.write_text(json.dumps(self.trusted_root(**changes)))
        return path

    def signing_certificate(self, publisher, key, bent):
        issuer = bent.issuer or self.authority
        claims, name = claims_of(publisher)
        claims.update(bent.claims)
        usage = x509.KeyUsage(digital_signature=bent.digital_signature, content_commitment=not bent.digital_signature,
                              key_encipherment=False, data_encipherment=False, key_agreement=False,
                              key_cert_sign=False, crl_sign=False, encipher_only=False, decipher_only=False)
        purpose = ExtendedKeyUsageOID.CODE_SIGNING if bent.signing_purpose else ExtendedKeyUsageOID.CLIENT_AUTH
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.key.public_key())
        builder = (x509.CertificateBuilder().subject_name(x509.Name([])).issuer_name(issuer.certificate.subject)
                   .public_key(key.public_key()).serial_number(x509.random_serial_number())
                   .not_valid_before(BEGIN).not_valid_after(BEGIN + datetime.timedelta(minutes=10))
                   .add_extension(usage, True).add_extension(x509.ExtendedKeyUsage([purpose]), False)
                   .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
                   .add_extension(authority, False)
                   .add_extension(x509.SubjectAlternativeName([name]), True))
        values = {number: utf8_string(text) for number, text in claims.items() if text is not None}
        if claims[8] is not None:
            values[1] = claims[8].encode()  # its older form, which is no DER
        for number, value in values.items():
            oid = x509.ObjectIdentifier(f"1.3.6.1.4.1.57264.1.{number}")
            builder = builder.add_extension(x509.UnrecognizedExtension(oid, value), False)
        if bent.timestamp:
            unlogged = builder.sign(issuer.key, hashes.SHA384())
            builder = builder.add_extension(
                x509.UnrecognizedExtension(x509.ObjectIdentifier(TIMESTAMPS),
                                           self.timestamp_list(unlogged, issuer, bent)), False)
        return builder.sign(issuer.key, hashes.SHA384())

    def timestamp_list(self, unlogged, issuer, bent):
        """RFC 6962 §3.2, §3.3: what a log of certificates promises of one that is not issued yet."""
        log = bent.timestamp_log or self.certificate_log
        time = seconds(BEGIN) * 1000 + 500
        body = unlogged.tbs_certificate_bytes
        signed = (struct.pack(">BBQH", 0, 0, time, 1) + hashlib.sha256(key_bytes(issuer.key)).digest()
                  + len(body).to_bytes(3, "big") + body + struct.pack(">H", 0))
        signature = log.sign(signed)
        one = (struct.pack(">B32sQH", 0, log.id, time, 0) + struct.pack(">BBH", 4, 3, len(signature)) + signature)
        listed = struct.pack(">HH", len(one) + 2, len(one)) + one
        assert len(listed) < 128
        return b"\x04" + bytes([len(listed)]) + listed

    def attest(self, file_name, sha256, publisher=GITHUB, bent=None):
        bent = bent or Bent()
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self.signing_certificate(publisher, key, bent)
        der = certificate.public_bytes(serialization.Encoding.DER)
        subjects = [{"name": file_name, "digest": {"sha256": sha256}}] if bent.subjects is None else bent.subjects
        statement = {"_type": "https://in-toto.io/Statement/v1", "subject": subjects, "predicateType": PUBLISHED,
                     "predicate": None, **bent.statement}
        payload = json.dumps({key: value for key, value in statement.items() if value != "missing"},
                             separators=(",", ":")).encode()
        kind = "application/vnd.in-toto+json"
        to_sign = payload if bent.signature_of is None else bent.signature_of
        signature = key.sign(f"DSSEv1 {len(kind)} {kind} {len(to_sign)} ".encode() + to_sign,
                             ec.ECDSA(hashes.SHA256()))
        envelope = {"payload": b64(payload), "payloadType": kind, "signatures": [{"sig": b64(signature)}]}
        pem = certificate.public_bytes(serialization.Encoding.PEM)
        spec = {"envelopeHash": {"algorithm": "sha256", "value": hashlib.sha256(canonical(envelope)).hexdigest()},
                "payloadHash": {"algorithm": "sha256", "value": hashlib.sha256(payload).hexdigest()},
                "signatures": [{"signature": b64(signature), "verifier": b64(pem)}], **bent.spec}
        body = canonical({"apiVersion": "0.0.1", "kind": "dsse", "spec": spec, **bent.body})
        return {"version": 1,
                "verification_material": {"certificate": b64(der), "transparency_entries": [self.entry(body, bent)]},
                "envelope": {"statement": b64(payload), "signature": b64(signature)}}

    def entry(self, body, bent, index=5, size=11):
        log = bent.log or self.log
        leaves = [leaf_hash(b"entry %d" % one) for one in range(size)]
        leaves[index] = leaf_hash(body)
        root = tree_hash(leaves)
        told = bent.checkpoint_size or size
        note = f"{log.name} - 77\n{told}\n{b64(bent.checkpoint_root or root)}\n"
        checkpoint = f"{note}\n— {log.name} {b64(log.id[:4] + log.sign(note.encode()))}\n"
        global_index = 1000 + index
        time = seconds(BEGIN + bent.logged_after)
        promise = canonical({"body": b64(body), "integratedTime": time, "logID": log.id.hex(),
                             "logIndex": global_index})
        return {"logIndex": str(global_index), "logId": {"keyId": b64(log.id)},
                "kindVersion": {"kind": "dsse", "version": "0.0.1", **bent.kind_version},
                "integratedTime": str(time), "inclusionPromise": {"signedEntryTimestamp": b64(log.sign(promise))},
                "inclusionProof": {"logIndex": str(index), "rootHash": b64(root), "treeSize": str(size),
                                   "hashes": [b64(one) for one in tree_path(index, leaves)],
                                   "checkpoint": {"envelope": checkpoint}},
                "canonicalizedBody": b64(body)}

    def provenance(self, file_name, data, publisher=GITHUB, bent=None):
        """The provenance of a file with these bytes."""
        attestation = self.attest(file_name, hashlib.sha256(data).hexdigest(), publisher, bent)
        return {"version": 1, "attestation_bundles": [{"publisher": publisher, "attestations": [attestation]}]}
