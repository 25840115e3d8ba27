"""Charts of a report, as SVG text: bars, and a roofline. Colours are classes of the page's style sheet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Sequence
from xml.sax.saxutils import escape

WIDTH, LABEL, VALUE = 760, 190, 96  # of a chart; of the names at its left; of the numbers at its right
ROW, BAR = 26, 15


@dataclass(frozen=True)
class Row:
    """A row of bars: a name, and (value, class of its colour) for each bar; `note` stands behind the last number."""

    name: str
    bars: Sequence[tuple[float, str]]
    note: str = ""


def bars(rows: Sequence[Row], title: str, log: bool = False, unit: str = "",
         limit: tuple[float, str] | None = None) -> str:
    """Horizontal bars. log: lengths are logarithms (of 1 + value). limit: a line across all rows, with what it says.

    >>> "expression" in bars([Row("by expression", [(110925, "cut")])], "cut", log=True)
    True
    """
    length = (lambda v: math.log10(1 + max(v, 0.0))) if log else (lambda v: max(v, 0.0))
    values = [length(v) for row in rows for v, _ in row.bars] + ([length(limit[0])] if limit else [])
    scale = (WIDTH - LABEL - VALUE) / (max(values, default=0.0) or 1.0)
    parts, y = [], 22.0 if limit else 4.0
    for row in rows:
        parts.append(f'<text class="name" x="{LABEL - 10}" y="{y + ROW / 2 + 4:.1f}" text-anchor="end">'
                     f"{escape(row.name)}</text>")
        for value, style in row.bars:
            wide = max(length(value) * scale, 1.0)
            parts.append(f'<rect class="{style}" x="{LABEL}" y="{y + (ROW - BAR) / 2:.1f}" width="{wide:.1f}" '
                         f'height="{BAR}" rx="2"/>'
                         f'<text class="value" x="{LABEL + wide + 6:.1f}" y="{y + ROW / 2 + 4:.1f}">'
                         f"{escape(number(value) + unit + (' ' + row.note if row.note else ''))}</text>")
            y += ROW if len(row.bars) == 1 else BAR + 4
        y += 0 if len(row.bars) == 1 else 8
    if limit:
        x = LABEL + length(limit[0]) * scale
        parts.append(f'<path class="limit" d="M{x:.1f} 18V{y:.1f}"/>'
                     f'<text class="value" x="{x:.1f}" y="12" text-anchor="middle">{escape(limit[1])}</text>')
    return _svg(y + 6, title, parts)


def number(value: float) -> str:
    """A number as people read it.

    >>> number(110925), number(13.7128), number(0.00024)
    ('110,925', '13.71', '0.00024')
    """
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.2g}"


def roofline(points: Sequence[tuple[str, float, float, str]], bandwidth: float, peak: float, title: str) -> str:
    """Attained arithmetic over arithmetic intensity, both in logarithms, under what memory and arithmetic units allow.

    points:          (name, flops a byte, flops a microsecond, class of its colour).
    bandwidth, peak: bytes and flops a microsecond.
    """
    left, right, top, bottom = 64.0, WIDTH - 20.0, 14.0, 250.0
    ridge = peak / bandwidth
    xs = [p[1] for p in points] + [ridge]
    low_x, high_x = math.floor(math.log10(min(xs)) - 0.2), math.ceil(math.log10(max(xs)) + 0.5)
    ys = [p[2] for p in points] + [bandwidth * 10.0 ** low_x]
    low_y, high_y = math.floor(math.log10(min(ys))), math.ceil(math.log10(peak) + 0.05)

    def at(x: float, y: float) -> tuple[float, float]:
        return (left + (math.log10(x) - low_x) / (high_x - low_x) * (right - left),
                bottom - (math.log10(y) - low_y) / (high_y - low_y) * (bottom - top))

    parts = []
    for power in range(low_x, high_x + 1):
        x, _ = at(10.0 ** power, 10.0 ** low_y)
        parts.append(f'<path class="grid" d="M{x:.1f} {top}V{bottom}"/>'
                     f'<text class="value" x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{10.0 ** power:g}</text>')
    for power in range(low_y, high_y + 1):
        _, y = at(1.0, 10.0 ** power)
        parts.append(f'<path class="grid" d="M{left} {y:.1f}H{right}"/>'
                     f'<text class="value" x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">'
                     f"{10.0 ** power / 1e6:g}</text>")
    start, corner, end = at(10.0 ** low_x, bandwidth * 10.0 ** low_x), at(ridge, peak), at(10.0 ** high_x, peak)
    parts.append(f'<path class="roof" d="M{start[0]:.1f} {start[1]:.1f}L{corner[0]:.1f} {corner[1]:.1f}'
                 f'H{end[0]:.1f}"/>')
    parts.append(f'<text class="value" x="{(left + right) / 2}" y="{bottom + 34}" text-anchor="middle">flops a byte of '
                 f'device memory; upwards: TFLOP/s</text>')
    for name, x, y, style in points:
        px, py = at(x, y)
        parts.append(f'<circle class="{style}" cx="{px:.1f}" cy="{py:.1f}" r="5"><title>{escape(name)}</title>'
                     "</circle>")
    return _svg(bottom + 44, title, parts)


def _svg(height: float, title: str, parts: list[str]) -> str:
    return (f'<svg class="chart" role="img" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}">'
            f"<title>{escape(title)}</title>" + "".join(parts) + "</svg>")
