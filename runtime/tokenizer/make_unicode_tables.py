"""make_unicode_tables.py FOLDER OUT: the tables of unicode.cpp from the Unicode character database in FOLDER (Debian's
package unicode-data), as a C++ file."""

import pathlib
import re
import sys

# By general category, or its first letter; the order is that of CharacterClass.
CLASSES = ["other", "upper_case", "lower_case", "other_letter", "number", "nonspacing_mark", "mark", "punctuation", "symbol",
           "space", "control"]
OF_CATEGORY = {"Lu": "upper_case", "Lt": "upper_case", "Ll": "lower_case", "L": "other_letter", "N": "number",
               "Mn": "nonspacing_mark", "M": "mark", "P": "punctuation", "S": "symbol", "Z": "symbol", "Cc": "control",
               "Cf": "control", "Co": "control"}
WORD = 0x10
YOUNG = 0x20
BERT_AGE = 8.0
NORMAL_FORM_AGE = 9.0  # as of Hugging Face's tokenizers: no marks or compositions that came later
PAGE = 256


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


def in_set(folder, file, names):
    """The characters that `file` gives one of these properties."""
    return {code for field in rows(folder / file) if field[1] in names
            for code in range(span(field[0])[0], span(field[0])[1] + 1)}


def younger_than(age, folder):
    return {code for field in rows(folder / "DerivedAge.txt") if float(field[1]) > age
            for code in range(span(field[0])[0], span(field[0])[1] + 1)}


def class_values(table, folder):
    """A byte for each character: its class, and the flags of unicode.cpp."""
    values = bytearray(0x110000)
    for first, last, category, *_ in table:
        of_class = OF_CATEGORY.get(category, OF_CATEGORY.get(category[0], "other"))
        # \\w of Unicode's technical standard 18, annex C.
        word = WORD if category[0] == "M" or category in ("Nd", "Pc") else 0
        values[first:last + 1] = bytes([CLASSES.index(of_class) | word]) * (last + 1 - first)
    for code in in_set(folder, "PropList.txt", {"White_Space"}):
        values[code] = CLASSES.index("space")
    for code in in_set(folder, "DerivedCoreProperties.txt", {"Alphabetic"}) | in_set(folder, "PropList.txt", {"Join_Control"}):
        values[code] |= WORD
    for code in younger_than(BERT_AGE, folder):
        values[code] |= YOUNG
    return bytes(values)


def pages(values):
    """(the number of each page of PAGE characters, the pages that differ, one behind the other)."""
    own = {}
    numbers = []
    for start in range(0, len(values), PAGE):
        numbers.append(own.setdefault(values[start:start + PAGE], len(own)))
    assert len(own) < 256, len(own)
    return numbers, b"".join(own)


def decompositions(table, young):
    """Canonical ones, as they are and whole."""
    own = {first: [int(code, 16) for code in text.split()] for first, _, _, _, text, _ in table
           if text and not text.startswith("<") and first not in young}

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
    numbers, values = pages(class_values(table, folder))
    young = younger_than(NORMAL_FORM_AGE, folder)
    own, whole = decompositions(table, young)
    excluded = {code for field in rows(folder / "DerivedNormalizationProps.txt") if field[1] == "Full_Composition_Exclusion"
                for code in range(span(field[0])[0], span(field[0])[1] + 1)}
    pool = []
    places = []
    for code, parts in sorted(whole.items()):
        places.append(f"{{{code}, {len(pool)}, {len(parts)}}}")
        pool += parts
    pairs = sorted((parts[0], parts[1], code) for code, parts in own.items() if len(parts) == 2 and code not in excluded)
    combining = merged((first, last, value) for first, last, _, value, _, _ in table
                       if value and first not in young)
    lower = sorted((first, int(text, 16)) for first, _, _, _, _, text in table if text)
    out.write_text("\n".join([
        f"// Unicode {version}. Made by runtime/tokenizer/make_unicode_tables.py.",
        "namespace tables {",
        array("class_pages", "std::uint8_t", map(str, numbers)),
        array("class_values", "std::uint8_t", map(str, values)),
        "}  // namespace tables",
        "namespace {",
        array("combining_ranges", "CombiningRange", (f"{{{first}, {last}, {value}}}" for first, last, value in combining)),
        array("lower_cases", "LowerCase", (f"{{{code}, {to}}}" for code, to in lower)),
        array("decompositions", "Decomposition", places),
        array("decomposed", "char32_t", map(str, pool)),
        array("compositions", "Composition", (f"{{{a}, {b}, {to}}}" for a, b, to in pairs)),
        "}  // namespace",
        "",
    ]))


main()
