"""make_unicode_tables.py FOLDER OUT: the tables of unicode.cpp from the Unicode character database in FOLDER (Debian's
package unicode-data), as a C++ file."""

import pathlib
import re
import sys

CLASSES = {"L": "letter", "No": "other_number", "N": "number", "Mn": "nonspacing_mark", "M": "mark", "P": "punctuation", "S": "symbol",
           "Z": "symbol", "C": "other"}


def rows(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        line = line.partition("#")[0].strip()
        if line:
            yield [field.strip() for field in line.split(";")]


def span(text):
    first, _, last = text.partition("..")
    return int(first, 16), int(last or first, 16)


def characters(folder):
    """(first, last, general category, combining class, decomposition, lower case) of UnicodeData.txt."""
    start = None
    for field in rows(folder / "UnicodeData.txt"):
        code = int(field[0], 16)
        if field[1].endswith(", First>"):
            start = code
            continue
        first, start = (start, None) if field[1].endswith(", Last>") else (code, None)
        yield first, code, field[2], int(field[3]), field[5], field[13]


def merged(ranges):
    """Neighbouring ranges of the same value as one."""
    result = []
    for first, last, value in sorted(ranges):
        if result and result[-1][1] + 1 == first and result[-1][2] == value:
            result[-1][1] = last
        else:
            result.append([first, last, value])
    return result


def classes(table, folder):
    found = [(first, last, CLASSES.get(category, CLASSES.get(category[0])))
             for first, last, category, *_ in table if category[0] in CLASSES]
    spaces = [span(field[0]) for field in rows(folder / "PropList.txt") if field[1] == "White_Space"]
    is_space = {code for first, last in spaces for code in range(first, last + 1)}
    found = [one for one in found if not (one[0] == one[1] and one[0] in is_space)]
    for first, last, _ in found:
        assert first == last or not is_space & set(range(first, last + 1)), (first, last)
    return merged(found + [(first, last, "space") for first, last in spaces])


def decompositions(table):
    """Canonical ones, whole."""
    own = {first: [int(code, 16) for code in text.split()] for first, _, _, _, text, _ in table
           if text and not text.startswith("<")}

    def whole(code):
        return [part for piece in own[code] for part in whole(piece)] if code in own else [code]

    return own, {code: whole(code) for code in own}


def array(name, kind, values):
    lines = [f"constexpr {kind} {name}[] = {{"]
    line = ""
    for value in values:
        if len(line) + len(value) > 110:
            lines.append(line)
            line = ""
        line += value + ", "
    return "\n".join([*lines, line, "};", ""])


def main():
    folder, out = map(pathlib.Path, sys.argv[1:])
    table = list(characters(folder))
    version = re.search(r"-([0-9.]+)\.txt", (folder / "PropList.txt").read_text(encoding="utf-8"))[1]
    own, whole = decompositions(table)
    excluded = {code for field in rows(folder / "DerivedNormalizationProps.txt") if field[1] == "Full_Composition_Exclusion"
                for code in range(span(field[0])[0], span(field[0])[1] + 1)}
    pool = []
    places = []
    for code, parts in sorted(whole.items()):
        places.append(f"{{{code}, {len(pool)}, {len(parts)}}}")
        pool += parts
    pairs = sorted((parts[0], parts[1], code) for code, parts in own.items() if len(parts) == 2 and code not in excluded)
    combining = merged((first, last, value) for first, last, _, value, _, _ in table if value)
    lower = sorted((first, int(text, 16)) for first, _, _, _, _, text in table if text)
    out.write_text("\n".join([
        f"// Unicode {version}. Made by runtime/tokenizer/make_unicode_tables.py.",
        array("class_ranges", "ClassRange",
              (f"{{{first}, {last}, CharacterClass::{value}}}" for first, last, value in classes(table, folder))),
        array("combining_ranges", "CombiningRange", (f"{{{first}, {last}, {value}}}" for first, last, value in combining)),
        array("lower_cases", "LowerCase", (f"{{{code}, {to}}}" for code, to in lower)),
        array("decompositions", "Decomposition", places),
        array("decomposed", "char32_t", map(str, pool)),
        array("compositions", "Composition", (f"{{{a}, {b}, {to}}}" for a, b, to in pairs)),
    ]))


main()
