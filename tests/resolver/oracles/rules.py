"""Where our answers may differ from uv's: the titles are those of docs/requirements.md, which has the rules."""

import pathlib

NAMED = "A pre-release that you name"
NO_FINAL = "No final release will do"
AT_LAST = "Pre-releases come last"
PINNED = "Pinned yanked releases"
BOUND = "Requires-Python as written"
WHEELS = "Wheels alone"
ELSEWHERE = "One environment"
FIRST_ASKED = "What is asked for first"

ALL = [NAMED, NO_FINAL, AT_LAST, PINNED, BOUND, WHEELS, ELSEWHERE, FIRST_ASKED]


def undocumented():
    page = (pathlib.Path(__file__).resolve().parents[3] / "docs/requirements.md").read_text()
    return [title for title in ALL if f"**{title}.**" not in page]
