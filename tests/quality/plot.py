"""A plot in SVG of what modes cost over the size of a model: both axes logarithmic."""

import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 860, 480
LEFT, RIGHT, TOP, BOTTOM = 70, 250, 40, 60  # margins; the names of the lines are at the right
LABEL_STEP = 16
COLORS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2"]


class Axis:
    """Values onto pixels; from a power of ten to one if `whole`."""

    def __init__(self, values, first, last, whole, padding=0.0):
        low, high = math.log10(min(values)) - padding, math.log10(max(values)) + padding
        self.low, self.high = (math.floor(low), math.ceil(high)) if whole else (low, high)
        if self.high - self.low < 1e-9:
            self.low, self.high = self.low - 0.5, self.high + 0.5
        self.first, self.last = first, last

    def at(self, value):
        return self.first + (math.log10(value) - self.low) / (self.high - self.low) * (self.last - self.first)

    def decades(self):
        return [10.0 ** power for power in range(math.ceil(self.low), math.floor(self.high) + 1)]


def line(x1, y1, x2, y2, color, dashes=""):
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"{dashed}/>'


def words(x, y, text, anchor="start", color="#222", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}"{more}>{escape(text)}</text>'


def apart(heights):
    """Heights of labels, in the given order, moved down until none covers another."""
    moved = []
    for height in heights:
        moved.append(max(height, moved[-1] + LABEL_STEP) if moved else height)
    below = moved[-1] - (HEIGHT - BOTTOM) if moved else 0
    return [height - max(0, below) for height in moved]


def plot(title, sizes, lines, goals):
    """sizes: {name: weights}; lines: {name: [percent of each size]}; goals: {name: percent}. What costs nothing, or less, is drawn at the
    lower edge as a ring."""
    positive = [value for values in lines.values() for value in values if value > 0] + list(goals.values())
    x = Axis(list(sizes.values()), LEFT, WIDTH - RIGHT, whole=False, padding=0.1)
    y = Axis(positive, HEIGHT - BOTTOM, TOP, whole=True)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', words(LEFT, TOP - 16, title, more=' font-size="14"')]
    for decade in y.decades():
        out += [line(LEFT, y.at(decade), WIDTH - RIGHT, y.at(decade), "#ddd"), words(LEFT - 8, y.at(decade) + 4, f"{decade:g} %", "end")]
    for name, weights in sizes.items():
        out += [line(x.at(weights), TOP, x.at(weights), HEIGHT - BOTTOM, "#ddd"), words(x.at(weights), HEIGHT - BOTTOM + 18, name, "middle")]
    out.append(words((LEFT + WIDTH - RIGHT) / 2, HEIGHT - BOTTOM + 40, "weights of the model", "middle"))
    for name, goal in goals.items():
        out += [line(LEFT, y.at(goal), WIDTH - RIGHT, y.at(goal), "#555", "6 4"), words(LEFT + 6, y.at(goal) - 5, name, color="#555")]

    def height(value):
        return y.at(value) if value > 0 else HEIGHT - BOTTOM

    ordered = sorted(lines.items(), key=lambda entry: height(entry[1][-1]))
    labels = apart([height(values[-1]) for _, values in ordered])
    for i, ((name, values), label) in enumerate(zip(ordered, labels)):
        color = COLORS[i % len(COLORS)]
        points = [(x.at(weights), height(value)) for weights, value in zip(sizes.values(), values)]
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.5"/>')
        out += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3.5" stroke="{color}" fill="{color if value > 0 else "white"}"/>'
                for (px, py), value in zip(points, values)]
        out += [line(points[-1][0] + 6, points[-1][1], WIDTH - RIGHT + 14, label, "#bbb"), words(WIDTH - RIGHT + 18, label + 4, name, color=color)]
    return "\n".join([*out, "</svg>", ""])
