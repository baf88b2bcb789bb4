"""docs/pip-and-uv.md: every option that pip and uv show in --help, and what `variant` has in its place.

    python3 tests/e2e/settings/option_table.py    # writes the page again

The options come from the installed pip and uv (build/peers); what is said of them from docs/settings.md, which is made from the
setting table of the program, and from pip_and_uv.rows where a command differs."""

import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve()
SOURCE = HERE.parents[3]
PEERS = SOURCE / "build/peers/bin"
ROWS = HERE.with_name("pip_and_uv.rows")
PAGE = SOURCE / "docs/pip-and-uv.md"
OURS = SOURCE / "docs/commands.md"
SETTINGS = SOURCE / "docs/settings.md"

# The first of each program stands for all: its options are those of every command.
COMMANDS = {
    "pip": ["", "install", "uninstall", "download", "wheel", "list", "freeze", "show", "check", "cache", "config"],
    "uv": ["pip", "pip install", "pip uninstall", "pip sync", "pip compile", "pip list", "pip freeze", "pip show",
           "pip tree", "pip check", "venv", "cache clean", "cache prune", "cache dir", "cache size"],
}
VERDICTS = ("have", "differs", "not")

INTRO = """# From pip and uv

Every option in the `--help` of pip {pip} and uv {uv} for the commands that install, list and remove packages, and what
`variant` has in its place. *have*: the same option, or the one that is named. *differs*: an option with another effect, or
with part of it. *not*: refused, with the reason. The same options as variables and in configuration files are in
[settings.md](settings.md).

`tests/e2e/settings/option_table.py` makes this page from what pip and uv print, from settings.md and from
`tests/e2e/settings/pip_and_uv.rows`. A test fails for an option of which nothing is said, and for an option that is said to be
there and is not.
"""


def run(program, *words):
    line = [PEERS / "python", "-m", "pip"] if program == "pip" else [PEERS / "uv"]
    env = {**os.environ, "COLUMNS": "400", "PIP_CONFIG_FILE": "/dev/null", "UV_NO_CONFIG": "1", "NO_COLOR": "1",
           "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run([*map(str, line), *words], env=env, text=True, capture_output=True, check=True)
    return done.stdout


def version(program):
    return re.search(r"\d[\w.]*", run(program, "--version")).group()


def options(program, command):
    """[(long name, short name or "")] in the order of the command's help."""
    text = run(program, *command.split(), "--help")
    found = re.findall(r"^ {1,6}(?:(-\w), |)(--[a-z][a-z0-9-]*)(?=[ .\n])", text, re.M)
    return list(dict.fromkeys((name, short) for short, name in found))


def settings():
    """(program, option) -> (heading of its table, what is said of it), of docs/settings.md."""
    found, heading = {}, ""
    for line in SETTINGS.read_text().splitlines():
        if line.startswith("## "):
            heading = line[3:]
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("| ") else []
        if len(cells) != 3 or not heading or cells[0] == "pip":
            continue
        for program, cell in zip(("pip", "uv"), cells):
            for option in re.findall("`(--[^`]+)`", cell):
                found[program, option] = (heading, cells[2])
    return found


class Row:
    def __init__(self, verdict, ours, words, line=0):
        self.verdict, self.ours, self.words, self.line = verdict, ours, words, line
        self.used = False

    @property
    def said(self):
        return (self.verdict, tuple(self.ours), self.words)


class Rows:
    """`[PROGRAM COMMAND, COMMAND]` begins a section; `--a --b = VERDICT --ours: words` is a row for each option on the left.
    A row of a section that names the command wins over one of `[PROGRAM *]`, and that over the page of settings. `command = NAME:
    words` or `command = not: words` says which of our commands it is about."""

    def __init__(self, text):
        self.rows = {}  # (program, command or "*", option) -> Row
        self.commands = {}
        self.settings, self.ours = settings(), our_options()
        section = []
        for number, line in enumerate(text.splitlines(), 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            if line.startswith("["):
                program, _, names = line[1:-1].partition(" ")
                section = [(program, name.strip()) for name in names.split(",")]
                continue
            left, _, right = line.partition(" = ")
            head, _, words = right.partition(": ")
            first, *ours = head.split()
            if left == "command":
                for place in section:
                    self.commands[place] = (" ".join([first, *ours]), words)
                continue
            if first not in VERDICTS or not section:
                raise ValueError(f"{ROWS.name}:{number}: {line}")
            for option in left.split():
                row = Row(first, ours, words, number)
                for place in section:
                    if (*place, option) in self.rows:
                        raise ValueError(f"{ROWS.name}:{number}: {option} is there already")
                    self.rows[(*place, option)] = row

    def of(self, program, command, option):
        """None: nothing is said of it."""
        row = self.rows.get((program, command, option)) or self.rows.get((program, "*", option))
        if row is not None:
            row.used = True
            return row
        heading, words = self.settings.get((program, option), ("", ""))
        if option in self.of_ours(program, command):
            return Row("have", [], "no effect: " + words if heading == "Irrelevant" and option in self.ours["no effect"] else "")
        return Row("not", [], words) if heading and heading != "Honoured" else None

    def of_ours(self, program, command):
        """The options of the command of ours that stands for it."""
        return self.ours.get(self.commands[program, command][0], set()) | self.ours[""]


def our_options():
    """command -> the names of its options, from the page that a test keeps equal to --help. "": those before the command; "no
    effect": those that are accepted and change nothing."""
    found, command = {"": set(), "no effect": set()}, ""
    for line in OURS.read_text().splitlines():
        if line.startswith("## "):
            command = line.removeprefix("## variant ") if line.startswith("## variant ") else line
            found[command] = set()
        elif re.match(r" {2,6}-", line):
            found[command].update(re.match(r" *([-\w,]+)", line).group(1).split(","))
        elif command == "## Options without effect" and line.startswith("- "):
            names, _, places = line.partition(":")
            found["no effect"].update(re.findall("`(-[^`]+)`", names))
            for place in re.findall("`variant ([^`]+)`", places):
                found[place].update(re.findall("`(-[^`]+)`", names))
    return found


# Ours of that name are about a project and its lock, not about requirements files and environments.
OF_PROJECTS = {"pip sync", "pip tree"}


def problems(rows):
    """What is wrong with the rows, in words."""
    found = []
    for program, commands in COMMANDS.items():
        for command in commands:
            name, _ = rows.commands.get((program, command), ("", ""))
            if not name:
                found.append(f"{program} {command}: no line `command = …`")
                continue
            if name == "not":
                if command not in OF_PROJECTS and command.removeprefix("pip ") in rows.ours:
                    found.append(f"{program} {command}: there is `variant {command.removeprefix('pip ')}`")
                continue
            if name not in rows.ours:
                found.append(f"{program} {command}: there is no `variant {name}`")
                continue
            for option, short in options(program, command):
                row = rows.of(program, command, option)
                if row is not None and row.verdict == "have" and not row.ours and short and short not in rows.of_ours(program, command):
                    found.append(f"{program} {command} {option}: `variant {name}` has no {short}")
                if row is None:
                    found.append(f"{program} {command} {option}: no row")
                    continue
                for one in row.ours or ([option] if row.verdict == "have" else []):
                    if one not in rows.of_ours(program, command):
                        found.append(f"{program} {command} {option}: `variant {name}` has no {one} (line {row.line})")
                if row.verdict != "have" and not row.words:
                    found.append(f"{program} {command} {option}: no reason (line {row.line})")
    for (program, command, option), row in rows.rows.items():
        if not row.used:
            row.used = True
            found.append(f"{ROWS.name}:{row.line}: {program} {command} has no {option}")
    return found


def code(*names):
    return ", ".join(f"`{name}`" for name in names if name)


def table(rows, program, command, shown):
    """The rows of one command; those that say the same stand together. `shown`: what the table for all commands says."""
    groups = {}
    for option, short in options(program, command):
        row = rows.of(program, command, option)
        if shown.get(option) == row.said:
            continue
        groups.setdefault(row.said, (row, []))[1].append((short, option))
    lines = []
    for row, names in groups.values():
        spelled = code(*(name for pair in names for name in pair))
        text = "; ".join(part for part in (code(*row.ours), row.words) if part)
        lines.append(f"| {spelled} | {row.verdict} | {text} |\n")
    return "| option | | with `variant` |\n|---|---|---|\n" + "".join(lines) if lines else ""


def page(rows):
    text = INTRO.format(pip=version("pip"), uv=version("uv"))
    for program, commands in COMMANDS.items():
        shown = {}
        for command in commands:
            name, words = rows.commands[(program, command)]
            general = command == commands[0]
            title = f"Every command of {program}" if general else f"{program} {command}"
            text += f"\n## {title}\n\n"
            if name == "not":
                listed = code(*(option for option, _ in options(program, command) if option not in shown))
                text += words + (f"\n\nIts options: {listed}.\n" if listed else "\n")
                continue
            if not general:
                text += f"`variant {name}`" + (f": {words}" if words else "") + "\n"
            lines = table(rows, program, command, shown)
            if lines:
                text += ("" if general else "\n") + lines
            if general:
                shown = {option: rows.of(program, command, option).said for option, _ in options(program, command)}
    return text


def main():
    rows = Rows(ROWS.read_text())
    wrong = problems(rows)
    if wrong:
        sys.exit("\n".join(wrong))
    PAGE.write_text(page(rows))


if __name__ == "__main__":
    main()
