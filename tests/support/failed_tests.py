"""The output of the tests that failed, from what `ctest --output-junit` wrote; of each the end.

usage: failed_tests.py RESULTS.xml
"""

import sys
import xml.etree.ElementTree

LINES = 80


def failed(path):
    """[(name, output)]"""
    for test in xml.etree.ElementTree.parse(path).iter("testcase"):
        if test.get("status") == "fail":
            yield test.get("name"), test.findtext("system-out") or ""


if __name__ == "__main__":
    for name, output in failed(sys.argv[1]):
        lines = output.splitlines()
        print(f"\n== {name} failed" + (f"; the last {LINES} of {len(lines)} lines:" if len(lines) > LINES else ":"))
        print("\n".join(lines[-LINES:]))
