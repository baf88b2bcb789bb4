"""Versions, specifiers, markers, requirements and file names: packaging_differential.py's cases."""

import re

from packaging._parser import Variable
from packaging.markers import Marker, UndefinedComparison
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from packaging_known import clause_difference
from packaging_marker_texts import ENVIRONMENTS, MarkerTexts
from packaging_texts import mutate, requirement_text, wheel_stem

def unescape(text):
    return re.sub(r"\\(.)", lambda m: {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}[m[1]], text)


def attempt(function, *errors):
    """function(), or "ERR" where `packaging` raises one of its errors."""
    try:
        return function()
    except (ValueError, SyntaxError, *errors):
        return "ERR"


VERSION_ALPHABET = "0123456789.-_+!*abcdevprostlnghiuwx V\n\t"


def too_wide(run, text):
    return re.search(r"\d{20}", text) is not None and run.differs("wide-number")


def version_cases(run, texts, rng):
    run.begin("versions")
    for i in range(6000):
        text = texts.version()
        if i % 3 == 0:
            text = mutate(rng, text, VERSION_ALPHABET)
        if i % 7 == 0:
            text = rng.choice([" ", "\t", "\n"]) + text + rng.choice(["", " ", "\n"])
        if too_wide(run, text):
            continue
        run.ask("version", text, expect=attempt(lambda: str(Version(text))))
    run.begin("order of versions")
    for i in range(6000):
        left = texts.version()
        right = texts.near(left) if i % 2 else texts.version()
        a, b = Version(left), Version(right)
        run.ask("compare", left, right, expect=str((a > b) - (a < b)))


def contains_case(run, spec_text, candidate_text):
    candidate = Version(candidate_text)
    parsed = attempt(lambda: SpecifierSet(spec_text))
    if isinstance(parsed, str):
        run.ask("contains", spec_text, candidate_text, expect="ERR")
        return
    for specifier in parsed:
        kind = clause_difference(specifier, candidate)
        if kind and run.differs(kind):
            return
    inside = parsed.contains(candidate, prereleases=True)
    run.ask("contains", spec_text, candidate_text, expect="1" if inside else "0")


def prerelease_case(run, spec_text):
    parsed = attempt(lambda: SpecifierSet(spec_text))
    if isinstance(parsed, str):
        return
    if any(s.operator in ("<", ">") for s in parsed) and run.differs("prerelease-operators"):
        return
    if any(s.operator == "===" for s in parsed) and run.differs("arbitrary-prerelease"):
        return
    run.ask("prereleases", spec_text, expect="1" if parsed.prereleases else "0")


def specifier_cases(run, texts, rng):
    run.begin("specifiers, parsed")
    canonical = lambda text: attempt(lambda: str(SpecifierSet(text)))
    for i in range(5000):
        text = texts.clauses()
        if i % 2 == 0:
            text = mutate(rng, text, VERSION_ALPHABET + "<>=~!,;)(")
        if too_wide(run, text):
            continue
        run.ask("specifiers", text, expect=canonical(text), read=lambda answer: canonical(unescape(answer)))
    run.begin("specifiers, contains")
    for i in range(12000):
        text = texts.clauses() if i % 4 == 0 else texts.clause()
        version = re.search(r"[vV]?\d[^,]*", text)
        candidate = texts.near(version[0]) if version and i % 5 else texts.version()
        contains_case(run, text, candidate)
    run.begin("specifiers, pre-releases admitted")
    for _ in range(3000):
        prerelease_case(run, texts.clauses())


def evaluate_marker(text, environment):
    """[text, "0" or "1"]; what has no meaning is false."""
    marker = Marker(text)
    try:
        return [str(marker), "1" if marker.evaluate(dict(environment)) else "0"]
    except (UndefinedComparison, KeyError):
        return [str(marker), "0"]


def known_kinds(run, kinds):
    return any([run.differs(kind) for kind in sorted(kinds)])


def undefined_part(run, text, environment):
    """A marker of several clauses, one of them without a meaning: cannot be compared."""
    parsed = attempt(lambda: Marker(text))
    if parsed == "ERR" or (len(parsed._markers) == 1 and isinstance(parsed._markers[0], tuple)):
        return False
    try:
        parsed.evaluate(dict(environment))
    except UndefinedComparison:
        return run.differs("undefined")
    except ValueError:
        return False
    return False


MARKER_ALPHABET = "()'\"<>=!~ \tandorinot_.3;x"


def marker_cases(run, texts, rng):
    run.begin("markers")
    read = lambda answer: [unescape(part) for part in answer.split("\t")]
    for environment in ENVIRONMENTS:
        for key, value in environment.items():
            run.tell("env", key, value)
        generator = MarkerTexts(texts, rng, environment)
        for i in range(4000):
            generator.kinds = set()
            text = generator.tree() if i % 2 else generator.clause()
            mutated = i % 5 == 0
            if mutated:
                text = mutate(rng, text, MARKER_ALPHABET)
                generator.kinds.add("mutated-marker")
            if known_kinds(run, generator.kinds) or (mutated and two_of_a_kind(run, text)):
                continue
            if undefined_part(run, text, environment):
                continue
            run.ask("marker", text, expect=attempt(lambda: evaluate_marker(text, environment)), read=read)


def two_of_a_kind(run, text):
    """A mutation can make a clause of two literals or two variables."""
    def clauses(markers):
        for marker in markers:
            if isinstance(marker, tuple):
                yield marker
            elif isinstance(marker, list):
                yield from clauses(marker)
    parsed = attempt(lambda: Marker(text))
    if isinstance(parsed, str):
        return False
    for left, _, right in clauses(parsed._markers):
        if isinstance(left, Variable) == isinstance(right, Variable):
            return run.differs("literals")
    return False


def variant_marker_cases(run, texts, rng):
    """`packaging` does not know the variant variables: a text and a set that it knows stand in."""
    run.begin("variant markers")
    label, members = "cu128", ["nvidia", "x86_64"]
    run.tell("env", "variant_label", label)
    run.tell("set", "variant_namespaces", *members)
    environment = {"sys_platform": label, "extras": frozenset(members)}
    if run.differs("extras"):
        return
    for _ in range(500):
        if rng.randrange(2):
            op = rng.choice(["==", "!=", "in", "not in", "<", ">="])
            clause = f'{{}} {op} "{rng.choice([label, "cpu", ""])}"'
            ours, theirs = clause.format("variant_label"), clause.format("sys_platform")
        else:
            clause = f"\"{rng.choice(members + ['amd'])}\" {rng.choice(['in', 'not in'])} {{}}"
            ours, theirs = clause.format("variant_namespaces"), clause.format("extras")
        holds = Marker(theirs.replace("x86_64", "x86-64")).evaluate(environment, context="lock_file")
        run.ask("marker", ours, expect=[ours, "1" if holds else "0"], read=lambda answer: answer.split("\t"))


REQUIREMENT_ALPHABET = "[]();,@<>=!~ \t.*-_ax0\"'\n"


def describe_requirement(text):
    parsed = Requirement(text)
    return [parsed.name, ",".join(sorted({canonicalize_name(extra) for extra in parsed.extras})),
            str(parsed.specifier), parsed.url or "", str(parsed.marker) if parsed.marker else ""]


def read_requirement(answer):
    fields = [unescape(field) for field in answer.split("\t")]
    fields[2] = str(SpecifierSet(fields[2]))
    return fields


def requirement_cases(run, texts, rng):
    run.begin("requirements")
    markers = MarkerTexts(texts, rng, ENVIRONMENTS[0])
    for i in range(6000):
        markers.kinds = set()
        text = requirement_text(texts, rng, markers)
        kinds = markers.kinds & {"nested-parentheses", "inner-quote", "extras"}
        if i % 2:
            text = mutate(rng, text, REQUIREMENT_ALPHABET)
            kinds |= ({"url"} if "@" in text else set()) | ({"mutated-marker"} if ";" in text else set())
        if "\n" in text:
            kinds.add("line-end")
        if known_kinds(run, kinds) or too_wide(run, text):
            continue
        marker = text.partition(";")[2]
        if i % 2 and marker and two_of_a_kind(run, marker):
            continue
        head = re.split(r"[<>=!~;(@]", text)[0]
        if re.search(r"_(?![\w.-])", head) and run.differs("trailing-underscore"):
            continue
        url = re.search(r"@[ \t]*[^ \t]*\n", text)
        if url and run.differs("control"):
            continue
        run.ask("requirement", text, expect=attempt(lambda: describe_requirement(text)), read=read_requirement)


def name_cases(run, texts, rng):
    run.begin("names")
    valid = re.compile(r"([A-Z0-9]|[A-Z0-9][A-Z0-9._-]*[A-Z0-9])\Z", re.IGNORECASE)
    for _ in range(2000):
        name = texts.name()
        run.ask("name", name, expect=[canonicalize_name(name), "1" if valid.match(name) else "0"],
                read=lambda answer: answer.split("\t"))


WHEEL_ALPHABET = "abcxyz0129._-+AZ~"


def describe_wheel(file_name, label=""):
    name, version, build, tags = parse_wheel_filename(file_name)
    return [name, str(version), f"{build[0]}:{build[1]}" if build else "", label, *sorted(map(str, tags))]


def odd_parts(parts):
    tags = [part.split(".") for part in parts[-3:]]
    return not parts[0] or any("" in tag for tag in tags) or not all(map(str.isidentifier, tags[0]))


def wheel_cases(run, texts, rng):
    run.begin("wheel names")
    read = lambda answer: [unescape(field) for field in answer.split("\t")]
    for i in range(4000):
        stem = wheel_stem(texts, rng)
        if i % 3 == 0:
            stem = mutate(rng, stem, WHEEL_ALPHABET)
            parts = stem.split("-")
            variant = len(parts) == 7 or (len(parts) == 6 and not parts[2][:1].isdigit())
            if variant or (odd_parts(parts) and run.differs("wheel-parts")) or too_wide(run, stem):
                continue
        run.ask("wheel", stem + ".whl", expect=attempt(lambda: describe_wheel(stem + ".whl")), read=read)
    run.begin("wheel names with labels")
    for i in range(2000):
        stem = wheel_stem(texts, rng)
        label = "".join(rng.choice("abcxyz0189_.") for _ in range(rng.randint(1, 20)))
        if i % 4 == 0:
            label = mutate(rng, label, "ABC -+~:")
        file_name = f"{stem}-{label}.whl"
        expect = "ERR"
        if re.fullmatch("[0-9a-z_.]+", label):
            expect = attempt(lambda: describe_wheel(stem + ".whl", label))
        run.ask("wheel", file_name, expect=expect, read=read)
        # With a label in place of the build tag `packaging` must refuse the name: so variants can stand
        # beside plain wheels.
        if "ERR" != attempt(lambda: describe_wheel(file_name)):
            raise AssertionError(f"packaging takes {file_name}")


