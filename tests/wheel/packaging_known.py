"""Where packaging_differential.py expects a difference, and why."""

from packaging.specifiers import InvalidSpecifier, Specifier
from packaging.version import InvalidVersion, Version

NEWEST = (26, 3)  # measured with this release and with 23.0; what lies between is taken for old

# What releases of `packaging` before NEWEST do otherwise.
KNOWN = {
    "less-post": '"<1.0.post1" left out every pre-release of 1.0, not only those of post1',
    "greater-same-base": '">1.0a1" left out post-releases and local versions of 1.0',
    "compatible-spelling": '"~=1.2.ALPHA1" took an unnormalised suffix for a release number',
    "epoch-prefix": '"==0.*" and "~=0.0" took in versions of another epoch',
    "prerelease-operators": '"<2.0a1" and ">2.0a1" did not admit pre-releases',
    "arbitrary-prerelease": '"===text" raised where its text is not a valid version',
    "text-as-version": "every marker variable was compared as a version where the text looked like one",
    "text-order": "what is not a valid version was ordered by its characters in markers",
    "not-a-version": "a marker raised where the value on its left is not a valid version; \"3.14.0a2+\" was none",
    "nested-parentheses": 'a doubly parenthesised group was printed bare: "((a or b)) and c"',
    "inner-quote": "a literal with a double quote inside was printed between double quotes",
    "extras": "the variables extras and dependency_groups were not known, names were normalised later",
    "mutated-marker": "what followed a complete marker was ignored; and all the above at once",
    "url": "the URL of a requirement had to have a scheme and a host",
    "line-end": "a line end after a requirement was ignored",
    "wheel-parts": "empty names, empty and non-identifier parts of tags were accepted in wheel names",
    "linux-first": "linux_* came after manylinux and musllinux",
    "free-threaded": "free-threaded interpreters accepted abi3, abi3t was not known",
    "armv8l": "armv8l did not accept armv7l",
    "fat3": "the format fat3 of macOS was called fat32",
}

# What we do otherwise than every release, on purpose.
OURS = {
    "literals": "a marker of two literals or two variables is malformed; packaging fails to evaluate it, "
                "or compares with the variable's name",
    "undefined": "a comparison without a meaning is false; packaging raises for the whole marker",
    "trailing-underscore": 'a name or an extra that ends in "_" is malformed (PEP 508)',
    "control": "control characters in URLs are malformed",
    "wide-number": "a number above 64 bits is malformed",
}


def clause_difference(specifier, candidate):
    """The KNOWN kind that this clause and candidate are a case of, or None."""
    if specifier.operator == "===":
        return None
    if candidate.epoch and (specifier.operator == "~=" or specifier.version.endswith(".*")):
        return "epoch-prefix"
    if specifier.version.endswith(".*"):
        return None
    wanted = Version(specifier.version)
    same_base = Version(wanted.base_version) == Version(candidate.base_version)
    if specifier.operator == "<" and same_base and wanted.post is not None and candidate.is_prerelease:
        return "less-post"
    if specifier.operator == ">" and same_base and (candidate.post is not None or candidate.local):
        return "greater-same-base"
    if specifier.operator == "~=" and str(wanted) != specifier.version:
        return "compatible-spelling"
    return None




def marker_difference(is_version, op, left, right):
    """The KNOWN kind that comparing two texts in a marker is a case of, or None."""
    try:
        specifier = Specifier(op + right)
    except InvalidSpecifier:
        return "text-order" if op in ("<", "<=", ">", ">=") else None
    if not is_version:
        return "text-as-version"
    try:
        return clause_difference(specifier, Version(left))
    except InvalidVersion:
        return "not-a-version"
