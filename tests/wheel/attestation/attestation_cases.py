"""Attestations that are wrong in one thing each, and what is said of them."""

import base64
import copy
import datetime
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from attested import CIRCLECI, GITHUB, GITLAB, GOOGLE, Authority, Bent, Log, b64  # noqa: E402

FILE = "demo-1.0-py3-none-any.whl"
DIGEST = "ab" * 32
OTHER_DIGEST = "cd" * 32

# What is refused here and accepted by pypi-attestations 0.0.30 with sigstore 4.5.1, and why.
STRICTER = {
    "log not trusted any more": "the times of a log's key are not compared there",
    "certificate log not trusted any more": "the times of a log's key are not compared there",
    "authority not trusted any more": "the times of an authority are not compared there",
    "checkpoint of another size": "the size in the checkpoint is not compared there",
    "tree of another size": "the size in the checkpoint is not compared there",
}


class Case:
    def __init__(self, name, provenance, trusted_root, reason=None, file=FILE, digest=DIGEST):
        self.name, self.provenance, self.trusted_root = name, provenance, trusted_root
        self.reason, self.file, self.digest = reason, file, digest  # reason None: accepted

    @property
    def accepted_elsewhere(self):
        return self.reason is None or self.name in STRICTER


def bundle(publisher, *attestations):
    return {"version": 1, "attestation_bundles": [{"publisher": publisher, "attestations": list(attestations)}]}


def good_cases(sigstore):
    root = sigstore.trusted_root()
    for publisher in (GITHUB, GITLAB, GOOGLE, CIRCLECI):
        yield Case(f"of {publisher['kind']}", bundle(publisher, sigstore.attest(FILE, DIGEST, publisher)), root)
    by_commit = Bent(claims={18: "https://github.com/axle/demo/.github/workflows/release.yml@" +
                             "0123456789abcdef0123456789abcdef01234567"})
    yield Case("workflow by commit", bundle(GITHUB, sigstore.attest(FILE, DIGEST, GITHUB, by_commit)), root)
    no_commit = Bent(claims={13: None})
    yield Case("no commit", bundle(GITHUB, sigstore.attest(FILE, DIGEST, GITHUB, no_commit)), root)
    slsa = Bent(statement={"predicateType": "https://slsa.dev/provenance/v1", "predicate": {"buildDefinition": {}}})
    yield Case("slsa", bundle(GITHUB, sigstore.attest(FILE, DIGEST, GITHUB, slsa)), root)
    yield Case("two attestations", bundle(GITHUB, sigstore.attest(FILE, DIGEST),
                                          sigstore.attest(FILE, DIGEST, GITHUB, slsa)), root)
    spelled = Bent(subjects=[{"name": "Demo-1.0.0-py3-none-any.whl", "digest": {"sha256": DIGEST}}])
    yield Case("another spelling of the name", bundle(GITHUB, sigstore.attest(FILE, DIGEST, GITHUB, spelled)), root)
    unknown = bundle({**GITHUB, "new-key": 1}, {**sigstore.attest(FILE, DIGEST), "new-key": 1})
    yield Case("keys that are not known", {**unknown, "new-key": 1}, root)
    more = sigstore.trusted_root(certificateAuthorities=[Authority().trusted(), sigstore.authority.trusted()])
    yield Case("a second authority", bundle(GITHUB, sigstore.attest(FILE, DIGEST)), more)


def bent_cases(sigstore):
    """Everything else is right, and signed."""
    root = sigstore.trusted_root()

    def case(name, reason, publisher=GITHUB, **bent):
        return Case(name, bundle(publisher, sigstore.attest(FILE, DIGEST, publisher, Bent(**bent))), root, reason)

    yield case("another file", "it is about another file",
               subjects=[{"name": "demo-2.0-py3-none-any.whl", "digest": {"sha256": DIGEST}}])
    yield case("another tag", "it is about another file",
               subjects=[{"name": "demo-1.0-py2-none-any.whl", "digest": {"sha256": DIGEST}}])
    yield case("another build", "it is about another file",
               subjects=[{"name": "demo-1.0-1-py3-none-any.whl", "digest": {"sha256": DIGEST}}])
    yield case("another digest", "it is about a file with the sha256",
               subjects=[{"name": FILE, "digest": {"sha256": OTHER_DIGEST}}])
    yield case("no digest", 'the key "sha256" is missing', subjects=[{"name": FILE, "digest": {"sha512": DIGEST * 2}}])
    yield case("two subjects", "not about exactly one file",
               subjects=[{"name": FILE, "digest": {"sha256": DIGEST}}] * 2)
    yield case("no subject", "not about exactly one file", subjects=[])
    yield case("another kind of attestation", "a kind of attestation that is not known",
               statement={"predicateType": "https://example.com/other"})
    for url in ("https:///attestations/publish/v1", "https://example.com/other/attestations/publish/v1",
                "http://example.com/attestations/publish/v1", "https://example.com/attestations/publish/v1/more"):
        yield case(f"the kind {url}", "a kind of attestation that is not known", statement={"predicateType": url})
    yield case("another kind of statement", "_type", statement={"_type": "https://in-toto.io/Statement/v0.1"})
    yield case("another payload signed", "its signature is not one of its statement", signature_of=b"{}")
    yield case("another issuer", "who signed it in", claims={8: "https://example.com"})
    yield case("no issuer", "who signed it in", claims={8: None})
    yield case("another repository", "the repository", claims={12: "https://github.com/axle/demo2"})
    yield case("another workflow", "the workflow",
               claims={18: "https://github.com/axle/demo/.github/workflows/test.yml@refs/tags/v1.0"})
    yield case("workflow of another ref", "the workflow",
               claims={18: "https://github.com/axle/demo/.github/workflows/release.yml@refs/heads/main"})
    yield case("no workflow", "the workflow", claims={18: None})
    yield case("neither commit nor ref", "neither a commit nor a branch or tag", claims={13: None, 14: None})
    yield case("another repository of GitLab", "the repository", GITLAB, claims={12: "https://gitlab.com/axle/demo"})
    yield case("another workflow of GitLab", "the workflow", GITLAB,
               claims={18: "https://gitlab.com/axle/tools/demo//other.yml@refs/tags/v1.0"})
    yield case("another issuer of Google", "who signed it in", GOOGLE, claims={8: "https://example.com"})
    yield case("another pipeline", "the pipeline", CIRCLECI, claims={9: "https://circleci.com/api/v2/projects/x"})
    yield case("another origin", "the repository", CIRCLECI, claims={12: "github.com/axle/other"})
    yield case("another ref of CircleCI", "the branch or tag", CIRCLECI, claims={14: "refs/heads/other"})
    yield case("not for code", "not for signing code", signing_purpose=False)
    yield case("not for signatures", "not for signatures", digital_signature=False)
    yield case("no timestamp", "no timestamp of a log of certificates", timestamp=False)
    yield case("timestamp of another log", "in a log that is not trusted", timestamp_log=Log("other.example"))
    yield case("another authority", "not one of the trusted authority", issuer=Authority())
    yield case("another log", "in a log that is not trusted", log=Log("rekor.axle.example"))
    yield case("logged too late", "not one of the trusted authority: certificate has expired",
               logged_after=datetime.timedelta(minutes=11))
    yield case("logged too early", "was not trusted at the time", logged_after=datetime.timedelta(minutes=-1))
    yield case("checkpoint of another size", "another size or root", checkpoint_size=12)
    yield case("checkpoint of another root", "another size or root", checkpoint_root=b"r" * 32)
    yield case("entry of another payload", "about another statement",
               spec={"payloadHash": {"algorithm": "sha256", "value": OTHER_DIGEST}})
    yield case("entry of another algorithm", "about another statement",
               spec={"payloadHash": {"algorithm": "sha512", "value": OTHER_DIGEST}})
    yield case("entry of another signature", "another signature or certificate",
               spec={"signatures": [{"signature": b64(b"s"), "verifier": b64(b"v")}]})
    yield case("entry without a signature", "another signature or certificate", spec={"signatures": []})
    yield case("entry of a kind that is not stated", "another kind than is stated", body={"kind": "hashedrekord"})
    yield case("entry of an unknown kind", "not known here", kind_version={"kind": "hashedrekord"})
    yield case("entry of an unknown version", "not known here", kind_version={"version": "0.0.2"})


def untrusted_cases(sigstore):
    """The trusted root is another one."""
    provenance = bundle(GITHUB, sigstore.attest(FILE, DIGEST))
    early, late = datetime.datetime(2025, 1, 1), datetime.datetime(2026, 1, 1)
    expired = {"start": early, "end": late}
    yield Case("other authorities", provenance,
               sigstore.trusted_root(certificateAuthorities=[Authority().trusted()]), "not one of the trusted authority")
    yield Case("other logs", provenance, sigstore.trusted_root(tlogs=[Log("a.example").trusted()]), "not trusted")
    yield Case("other certificate logs", provenance, sigstore.trusted_root(ctlogs=[Log("a.example").trusted()]),
               "its certificate is in a log that is not trusted")
    yield Case("log not trusted any more", provenance, sigstore.trusted_root(tlogs=[sigstore.log.trusted(**expired)]),
               "was not trusted at the time of its entry")
    yield Case("certificate log not trusted any more", provenance,
               sigstore.trusted_root(ctlogs=[sigstore.certificate_log.trusted(**expired)]),
               "was not trusted when it got the certificate")
    yield Case("authority not trusted any more", provenance,
               sigstore.trusted_root(certificateAuthorities=[sigstore.authority.trusted(**expired)]),
               "no certificate authority was trusted")
    yield Case("publisher stated otherwise", bundle({**GITHUB, "repository": "axle/other"},
                                                    provenance["attestation_bundles"][0]["attestations"][0]),
               sigstore.trusted_root(), "the repository")
    yield Case("workflow stated otherwise", bundle({**GITHUB, "workflow": "other.yml"},
                                                   provenance["attestation_bundles"][0]["attestations"][0]),
               sigstore.trusted_root(), "the workflow")
    yield Case("mail stated otherwise", bundle({**GOOGLE, "email": "other@demo.example"},
                                               sigstore.attest(FILE, DIGEST, GOOGLE)), sigstore.trusted_root(),
               "and the publisher is")


ENTRY = ("verification_material", "transparency_entries", 0)
BYTES = [("envelope", "statement"), ("envelope", "signature"), ("verification_material", "certificate"),
         (*ENTRY, "canonicalizedBody"), (*ENTRY, "logId", "keyId"), (*ENTRY, "inclusionProof", "rootHash"),
         (*ENTRY, "inclusionProof", "hashes", 0), (*ENTRY, "inclusionProof", "hashes", -1),
         (*ENTRY, "inclusionPromise", "signedEntryTimestamp")]
NUMBERS = [(*ENTRY, "logIndex"), (*ENTRY, "integratedTime"), (*ENTRY, "inclusionProof", "logIndex")]
REQUIRED = [("version",), ("envelope",), ("verification_material",), ("verification_material", "certificate"),
            ("verification_material", "transparency_entries"), ("envelope", "statement"), ("envelope", "signature"),
            (*ENTRY, "canonicalizedBody"), (*ENTRY, "kindVersion"), (*ENTRY, "logId"), (*ENTRY, "logIndex"),
            (*ENTRY, "integratedTime"), (*ENTRY, "inclusionPromise"), (*ENTRY, "inclusionProof"),
            (*ENTRY, "inclusionProof", "checkpoint"), (*ENTRY, "inclusionProof", "hashes"),
            (*ENTRY, "inclusionProof", "treeSize"), (*ENTRY, "inclusionProof", "rootHash")]


def changed(attestation, path, change):
    """A copy with `change(container, key)` done at `path`."""
    made = copy.deepcopy(attestation)
    place = made
    for key in path[:-1]:
        place = place[key]
    change(place, path[-1])
    return made


def flipped(at):
    def change(place, key):
        data = bytearray(base64.b64decode(place[key]))
        data[at % len(data)] ^= 1
        place[key] = b64(bytes(data))
    return change


def counted(place, key):
    place[key] = str(int(place[key]) + 1)


def removed(place, key):
    del place[key]


def mutated_cases(sigstore, rng):
    """One byte of one field, one number, or one field that is missing."""
    root = sigstore.trusted_root()
    good = sigstore.attest(FILE, DIGEST)

    def case(name, path, change, reason):
        return Case(name, bundle(GITHUB, changed(good, path, change)), root, reason)

    for path in BYTES:
        size = len(base64.b64decode(json.loads(json.dumps(at_path(good, path)))))
        places = {0, size - 1, *(rng.randrange(size) for _ in range(6))}
        for at in sorted(places):
            yield case(f"byte {at} of {'.'.join(map(str, path))}", path, flipped(at), "")
    for path in NUMBERS:
        yield case(f"{'.'.join(map(str, path))} is one more", path, counted, "")
    for path in REQUIRED:
        yield case(f"no {'.'.join(map(str, path))}", path, removed, "is missing")
    yield case("tree of another size", (*ENTRY, "inclusionProof", "treeSize"), counted, "another size or root")
    note = (*ENTRY, "inclusionProof", "checkpoint", "envelope")
    text = at_path(good, note)

    def noted(replaced):
        def change(place, key):
            place[key] = replaced
        return change
    yield case("checkpoint of another origin", note, noted(text.replace("- 77", "- 78", 1)), "not valid")
    yield case("checkpoint without a signature", note, noted(text[:text.index("\n\n") + 2]), "signed note")
    yield case("checkpoint without a blank line", note, noted(text.replace("\n\n", "\n")), "not a signed note")
    yield case("checkpoint without its last line end", note, noted(text[:-1]), "not a signed note")
    yield case("checkpoint signed by another key", note, noted(text[:text.rindex(" ") + 1] + b64(b"k" * 75) + "\n"),
               "is not signed by the log")
    yield case("no entries", ("verification_material", "transparency_entries"),
               lambda place, key: place.__setitem__(key, []), "it is empty")
    yield case("a hash less", (*ENTRY, "inclusionProof", "hashes"), lambda place, key: place[key].pop(), "hashes")
    yield case("a hash more", (*ENTRY, "inclusionProof", "hashes"),
               lambda place, key: place[key].append(b64(b"h" * 32)), "hashes")
    yield case("another version", ("version",), lambda place, key: place.__setitem__(key, 2), "not a version")


def at_path(value, path):
    for key in path:
        value = value[key]
    return value


def all_cases(sigstore, rng):
    for cases in (good_cases(sigstore), bent_cases(sigstore), untrusted_cases(sigstore), mutated_cases(sigstore, rng)):
        yield from cases
