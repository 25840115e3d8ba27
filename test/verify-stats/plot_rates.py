#!/usr/bin/env python3
"""Draws the table of field_rates as an SVG: for each wrong pair, the measured false-accept rate (with its 95 % interval)
and the bound, over the size of q. Plain Python, no packages.

    plot_rates.py field-rates.csv field-rates.svg
"""
import csv
import math
import sys

COLUMNS, WIDTH, HEIGHT = 4, 250, 150  # panels a row; size of a panel's plot in pixels
LEFT, TOP, GAP_X, GAP_Y = 55, 60, 50, 56
LOWEST = -7  # log10 of the least rate shown


def read(path):
    with open(path, encoding="utf-8") as file:
        head = file.readline().lstrip("# ").strip()
        pairs = {}
        for row in csv.DictReader(file):
            pairs.setdefault((row["pair"], row["kind"]), []).append(row)
    return head, pairs


def interval(passed, draws):
    """Wilson's 95 % interval of a binomial rate."""
    z, p = 1.96, passed / draws
    middle = (p + z * z / (2 * draws)) / (1 + z * z / draws)
    half = z / (1 + z * z / draws) * math.sqrt(p * (1 - p) / draws + z * z / (4 * draws * draws))
    return max(middle - half, 0.0), middle + half


def panel(name, kind, rows, x0, y0):
    first, last = int(rows[0]["q bits"]), int(rows[-1]["q bits"])

    def x(bits):
        return x0 + WIDTH * (bits - first + 0.5) / (last - first + 1)

    def y(rate):
        return y0 + HEIGHT * min(max(math.log10(max(rate, 1e-12)), LOWEST), 0) / LOWEST

    out = [f'<text class="name" x="{x0}" y="{y0 - 20}">{name.replace("<", "&lt;")}</text>',
           f'<text x="{x0}" y="{y0 - 7}">{kind}</text>',
           f'<rect x="{x0}" y="{y0}" width="{WIDTH}" height="{HEIGHT}" class="frame"/>']
    for power in range(LOWEST, 1, 2):
        out.append(f'<text x="{x0 - 6}" y="{y(10.0 ** power) + 4:.1f}" text-anchor="end">1e{power}</text>')
        out.append(f'<path class="grid" d="M{x0} {y(10.0 ** power):.1f}h{WIDTH}"/>')
    for row in rows:
        bits, passed, draws = int(row["q bits"]), int(row["passed"]), int(row["draws"])
        low, high = interval(passed, draws)
        out.append(f'<text x="{x(bits):.1f}" y="{y0 + HEIGHT + 14}" text-anchor="middle">{bits}</text>')
        out.append(f'<path class="bar" d="M{x(bits):.1f} {y(low):.1f}V{y(high):.1f}"/>')
        if passed:
            out.append(f'<circle class="rate" cx="{x(bits):.1f}" cy="{y(passed / draws):.1f}" r="3"/>')
    line = "L".join(f'{x(int(r["q bits"])):.1f} {y(float(r["bound"])):.1f}' for r in rows)
    out.append(f'<path class="bound" d="M{line}"/>')
    return out


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    head, pairs = read(sys.argv[1])
    lines = math.ceil(len(pairs) / COLUMNS)
    width, height = LEFT + COLUMNS * (WIDTH + GAP_X), TOP + lines * (HEIGHT + GAP_Y) + 20
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
           "<style>text{font:11px sans-serif;fill:#333}.name{font-weight:bold}.frame{fill:none;stroke:#999}"
           ".grid{stroke:#e4e4e4}.bar{stroke:#2166ac;stroke-width:1.5}.rate{fill:#2166ac}"
           ".bound{fill:none;stroke:#b2182b;stroke-width:1.5}</style>",
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{LEFT}" y="18">Wrong pairs that pass one draw, over the bits of q (p has twice as many). Blue: measured, '
           "with its 95 % interval. Red: the computed bound.</text>",
           f'<text x="{LEFT}" y="33" fill="#777">{head}</text>']
    for i, ((name, kind), rows) in enumerate(pairs.items()):
        out += panel(name, kind, rows, LEFT + i % COLUMNS * (WIDTH + GAP_X), TOP + 20 + i // COLUMNS * (HEIGHT + GAP_Y))
    out.append("</svg>")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
