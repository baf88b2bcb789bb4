"""The linear layers of bench_runtime under their roofs, as a plot.

usage: roofline.py BIN TO.svg [ROUNDS]

Runs bench_runtime with each kernel set that it has a peak for, ROUNDS times (3), and takes the medians. A point is a
layer of 4096 x 4096: operations for each byte of weights that is read, and operations per second. The slope is what
plain reads allow, the flat lines what the multiplying instructions allow, both of the same run.
"""

import math
import pathlib
import statistics
import subprocess
import sys

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 860, 530, 70, 60, 66, 190
COLOURS = {"amx_int8": "#0b5fa5", "avx512_vnni": "#b3520a", "avx_vnni": "#3d7a2b"}
MARKS = {"da8w8": "circle", "a16w8": "square", "da8w4 g128": "triangle"}


def rows_of(table):
    """(mode, rows, kernel) and its figures, from what bench_runtime prints."""
    found = {}
    for line in table.splitlines():
        fields = line.rsplit(maxsplit=10)
        if len(fields) != 11 or not fields[1].isdigit():
            continue
        microseconds, rate, read, _, operations, peak = map(float, fields[3:9])
        found[fields[0].strip(), int(fields[1]), fields[2]] = {"bytes": rate * microseconds * 1e3, "read": read, "gigaops": operations,
                                                                "peak": peak, "microseconds": microseconds}
    return found


def medians(tables):
    """Of each figure over the runs that have the row."""
    keys = {key for table in tables for key in table}
    return {key: {name: statistics.median(table[key][name] for table in tables if key in table) for name in
                  ("bytes", "read", "gigaops", "peak", "microseconds")} for key in keys}


def intensity(row):
    return row["gigaops"] * row["microseconds"] * 1e3 / row["bytes"]


class Axes:
    """Both logarithmic."""

    def __init__(self, points, roofs):
        xs = [intensity(row) for row in points.values()]
        ys = [row["gigaops"] for row in points.values()] + list(roofs.values())
        self.x_range = math.floor(math.log2(min(xs))), math.ceil(math.log2(max(xs)))
        self.y_range = math.floor(math.log2(min(ys))), math.ceil(math.log2(max(ys)))

    def x(self, value):
        low, high = self.x_range
        return LEFT + (math.log2(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        low, high = self.y_range
        return HEIGHT - BOTTOM - (math.log2(value) - low) / (high - low) * (HEIGHT - BOTTOM - TOP)


def text(x, y, words, size=12, anchor="start", colour="#222"):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def line(x1, y1, x2, y2, colour, dashes=""):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-dasharray="{dashes}"/>'


def mark(kind, x, y, colour):
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>'
    if kind == "square":
        return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="{colour}"/>'
    return f'<path d="M{x:.1f} {y - 5:.1f} l5 9 h-10 z" fill="{colour}"/>'


def grid(axes):
    parts = []
    for power in range(axes.x_range[0], axes.x_range[1] + 1):
        at = axes.x(2**power)
        parts += [line(at, TOP, at, HEIGHT - BOTTOM, "#e4e4e4"), text(at, HEIGHT - BOTTOM + 18, f"{2**power:g}", anchor="middle")]
    for power in range(axes.y_range[0], axes.y_range[1] + 1):
        at = axes.y(2**power)
        parts += [line(LEFT, at, WIDTH - RIGHT, at, "#e4e4e4"), text(LEFT - 8, at + 4, f"{2**power:g}", anchor="end")]
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 18, "operations for each byte of weights", 13, "middle"))
    parts.append(text(LEFT - 8, TOP - 12, "operations a second, 10\u2079", 13))
    return parts


def roof_lines(axes, reads, roofs):
    """The slope of reads up to the highest flat line, and the flat lines from the slope on."""
    parts = []
    start, top = 2.0 ** axes.x_range[0], max(roofs.values())
    parts.append(line(axes.x(max(start, 2.0 ** axes.y_range[0] / reads)), axes.y(max(start * reads, 2.0 ** axes.y_range[0])), axes.x(top / reads), axes.y(top), "#555"))
    parts.append(text(axes.x(top / reads) - 6, axes.y(top) - 6, f"reads, {reads:.0f} GB/s", anchor="end", colour="#555"))
    for kernel, peak in roofs.items():
        parts.append(line(axes.x(peak / reads), axes.y(peak), WIDTH - RIGHT, axes.y(peak), COLOURS[kernel], "6 3"))
        parts.append(text(WIDTH - RIGHT + 6, axes.y(peak) + 4, f"{kernel}, {peak:.0f}", colour=COLOURS[kernel]))
    return parts


def row_numbers(axes, points):
    """One for each column of da8w8, right of its lowest point: those of several sets may lie on each other."""
    lowest = {}
    for (mode, rows, _), row in points.items():
        if mode == "da8w8":
            lowest[rows] = min(row, lowest.get(rows, row), key=lambda one: one["gigaops"])
    return [text(axes.x(intensity(row)) + 8, axes.y(row["gigaops"]) + 8, str(rows), 10, colour="#555") for rows, row in sorted(lowest.items())]


def plot(points, processor):
    roofs = {kernel: statistics.median(row["peak"] for key, row in points.items() if key[2] == kernel) for kernel in COLOURS
             if any(key[2] == kernel for key in points)}
    reads = statistics.median(row["read"] for row in points.values())
    axes = Axes(points, roofs)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>', text(LEFT, 22, f"Linear layers and what the machine allows: {processor}", 15)]
    parts += grid(axes) + roof_lines(axes, reads, roofs)
    for (mode, rows, kernel), row in sorted(points.items()):
        x, y = axes.x(intensity(row)), axes.y(row["gigaops"])
        parts.append(mark(MARKS[mode], x, y, COLOURS[kernel]))
    parts += row_numbers(axes, points)
    for number, (mode, kind) in enumerate(MARKS.items()):
        y = HEIGHT - BOTTOM - 60 + 20 * number
        parts += [mark(kind, WIDTH - RIGHT + 14, y - 4, "#555"), text(WIDTH - RIGHT + 26, y, mode)]
    parts.append(text(WIDTH - RIGHT + 8, HEIGHT - BOTTOM - 84, "numbers: rows of da8w8", 11))
    return "\n".join([*parts, "</svg>\n"])


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    program, rounds = pathlib.Path(sys.argv[1], "bench_runtime"), int(sys.argv[3]) if len(sys.argv) == 4 else 3
    tables = []
    for _ in range(rounds):
        run = subprocess.run([program, *COLOURS], stdout=subprocess.PIPE, text=True)  # a set that cannot run here is an error that it prints
        tables.append(rows_of(run.stdout))
    points = {key: row for key, row in medians(tables).items() if key[0] in MARKS and row["peak"] > 0}
    if not points:
        sys.exit("roofline.py: this machine has none of " + ", ".join(COLOURS))
    names = [part.split(":", 1)[1].strip() for part in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if part.startswith("model name")]
    pathlib.Path(sys.argv[2]).write_text(plot(points, names[0] if names else "an unknown processor"))
    for key, row in sorted(points.items()):
        floor = max(row["bytes"] / row["read"] / 1e3, row["gigaops"] * row["microseconds"] / row["peak"]) / row["microseconds"]
        print(f"{key[0]:<12} {key[1]:>4}  {key[2]:<12} {row['microseconds']:8.0f} us  {floor:.2f} of its floor")


if __name__ == "__main__":
    main()
