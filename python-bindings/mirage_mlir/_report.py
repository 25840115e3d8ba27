"""A search as one HTML page: the program, the µGraph, how it was found, why it is right, how fast it should be.

    best.report("attention.html")

The page needs no network and no script: its pictures are SVG within it, and its policy allows nothing from elsewhere.
"""

from __future__ import annotations

import dataclasses
import math
import os
import platform
from html import escape
from typing import Any, Iterable

from . import _mirage
from ._charts import Row, bars, number, roofline
from ._draw import Drawing

_BYTES = {"float16": 2, "bfloat16": 2, "float32": 4, "int8": 1, "int4": 0.5, "float8_e4m3fn": 1, "float8_e5m2": 1}
_MOST_BARS = 12


class Report:
    """One page. `html` is its text; notebooks show it in a frame of its own."""

    def __init__(self, html: str, title: str):
        self.html, self.title = html, title

    @classmethod
    def of(cls, result: Any, path: str | os.PathLike | None = None) -> "Report":
        """The report of a Result; written to `path` where one is given."""
        report = cls(_page(result), f"Mirage-MLIR: {result.program}")
        if path is not None:
            report.save(path)
        return report

    def save(self, path: str | os.PathLike) -> None:
        """Writes the page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{escape(self.html)}" style="width:100%;height:720px;border:0" '
                f'title="{escape(self.title)}"></iframe>')

    def __repr__(self) -> str:
        return f"<Report of {self.title}: {len(self.html)} characters of HTML>"


# ---------------------------------------------------------------------------------------------------------------- words


def proof_words(proof: Any) -> str:
    """A Proof in sentences."""
    if proof is None:
        return ("This is the program's own lowering, one kernel an operator: it is the program as written, so that "
                "there is nothing to prove.")
    where = ("at the full size of the program" if not proof.transferred else
             f"on a smaller instance ({proof.axes} axes are smaller, {proof.points} points), from which a theorem "
             "leads to full size")
    how = f", in {proof.pieces} pieces, one after the other" if proof.pieces else ""
    theorem = ""
    if proof.free_exponentials:
        theorem = " An exponential counts as any function with exp(a + b) = exp(a) exp(b)."
    return (f"The program and the µGraph were evaluated at {proof.trials} random point{'s' * (proof.trials != 1)} of "
            f"finite fields of {proof.prime_bits}-bit primes, {where}{how}, and agreed in every element. A µGraph that "
            f"computes something else would have agreed with a probability of at most 2^{proof.log2_bound:.1f} "
            f"(seed {proof.seed}).{theorem}")


def limit_us(cost: Any, target: dict) -> float:
    """The least time for the bytes that a µGraph moves and the flops that it does: the longer of the two."""
    return max(cost.bytes / target["dram_bytes_per_us"], cost.flops / target["matmul_flops_per_us"])


def program_bytes(description: dict) -> int:
    """Reading each input once, and writing each output once."""
    return sum(math.prod(v["dims"]) * _BYTES[v["dtype"]] for v in (*description["inputs"], *description["outputs"]))


def _time(graph: Any) -> float | None:
    cost = graph.cost
    return (cost.measured_us or cost.time_us) if cost else None


def _error(value: float | None) -> str:
    return "-" if value is None else f"{value:.2e}"


def _table(heads: Iterable[str], rows: Iterable[tuple[str, list[str]]]) -> str:
    """A table; each row is (attributes of its tr, cells), whose texts are escaped here."""
    body = "".join(f"<tr{attrs}>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
                   for attrs, cells in rows)
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    return (f'<div class="scroll"><table><thead><tr>{top}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")


# ------------------------------------------------------------------------------------------------------------- sections


def _summary(result: Any) -> str:
    best, own = result.best, result.funnel.get("own_us")
    cost = best.cost
    tiles = []
    if cost:
        measured = cost.measured_us is not None
        tiles.append((f"{_time(best):.2f} µs", f"{'measured' if measured else 'predicted'} on {cost.target}"))
        if own and not best.is_own_lowering:
            times = f"{own / cost.time_us:.2f}×"
            tiles.append((times, f"as fast as its own lowering ({own:.2f} µs), both predicted"))
        tiles.append((str(cost.kernels), "kernel" + "s" * (cost.kernels != 1)))
    if best.proof:
        tiles.append((f"2^{best.proof.log2_bound:.1f}", "bounds a wrong µGraph's chance to pass the proof"))
    tiles.append((str(sum(g.proof is not None for g in result)), "proven µGraphs"))
    words = "".join(f'<div class="tile"><b>{escape(large)}</b><span>{escape(small)}</span></div>'
                    for large, small in tiles)
    stopped = ("The search was interrupted: these are the best until then." if result.interrupted else
               result.funnel.get("reason"))
    return f'<div class="tiles">{words}</div>' + (f'<p class="warn">{escape(stopped)}</p>' if stopped else "")


def _program(result: Any) -> str:
    best = result.best
    drawing = Drawing.of_description(best.program_description, best._names())
    return (f'<pre>{escape(best.program_description["text"])}</pre>'
            f'<details><summary>The program, drawn</summary><div class="scroll">{drawing.svg}</div></details>')


def _graph(result: Any) -> str:
    best = result.best
    return (f"<p>@{escape(best.name)}: boxes are kernels, the loops within them, and operators on tiles. A load says "
            f"which dimensions of the tensor the grid and the loops split.</p>"
            f'<div class="scroll">{Drawing.of(best).svg}</div>'
            f'<details><summary>The µGraph as MLIR</summary><pre>{escape(best.description["text"])}</pre></details>')


def _funnel(result: Any) -> str:
    funnel = result.funnel
    if not funnel:
        return "<p>The search left no counts: the program was compiled as it is written.</p>"
    proven = sum(g.proof is not None for g in result)
    steps = [Row("states", [(funnel["states"], "seen")]),
             Row("graphs of the program", [(funnel["structures"], "seen")], "or of a piece of it"),
             Row("schedules tried", [(funnel["schedules"], "seen")]),
             Row("candidates", [(funnel["candidates"], "seen")]),
             Row("proven and kept", [(proven, "kept")])]
    cuts = [Row(f"by {name}", [(count, "cut")]) for name, count in funnel["cut"].items()]
    space = (f"Every graph up to {funnel['max_block_ops']} block operators was met or cut." if funnel["exhausted"] else
             f"The space up to {funnel['max_block_ops']} block operators was not exhausted.")
    stopped = f" Stopped by {funnel['stopped']}." if funnel.get("stopped") else ""
    return (f"<p>{escape(space + stopped)} The search took {funnel['seconds']:.2f} s.</p>"
            f"<h3>What was looked at</h3>{bars(steps, 'what the search looked at', log=True)}"
            f"<h3>What was cut, and why</h3>{bars(cuts, 'what the search cut', log=True)}"
            f'<p class="soft">Lengths are logarithms.</p>')


def _candidates(result: Any, target: dict | None) -> str:
    heads = ["", "µGraph", "kernels", "predicted", "measured", "limit", "× limit", "MB", "GFLOP", "proof", "error",
             "the program's"]
    rows = []
    for i, graph in enumerate(result):
        cost, proof, guard = graph.cost, graph.proof, graph.guard
        limit = limit_us(cost, target) if cost and target else None
        spread = 100 * (cost.measured_spread or 0) if cost else 0
        measured = f"{cost.measured_us:.2f} µs, spread {spread:.1f} %" if cost and cost.measured_us else "-"
        cells = ["best" if i == 0 else str(i + 1), graph.name, *(
            [str(cost.kernels), f"{cost.time_us:.2f} µs", measured, f"{limit:.2f} µs" if limit else "-",
             f"{cost.time_us / limit:.2f}" if limit else "-", f"{cost.bytes / 1e6:.2f}", f"{cost.flops / 1e9:.3f}"]
            if cost else ["-"] * 7),
            f"2^{proof.log2_bound:.1f}{', by transfer' if proof.transferred else ''}" if proof else "own lowering",
            _error(guard.candidate_relative if guard else None), _error(guard.program_relative if guard else None)]
        rows.append((f' data-graph="{escape(graph.name)}"' + (' class="best"' if i == 0 else ""), cells))
    note = ("<p class=\"soft\">limit: the longer of bytes by the memory's bandwidth and flops by the matrix units' "
            "rate; × limit: predicted by it. by transfer: proven on a smaller instance, at full size by a theorem. error: "
            "Frobenius-relative, in the real element types against float64, at the numeric guard's inputs.</p>")
    return _table(heads, rows) + note


def _times(result: Any, target: dict | None) -> str:
    graphs = [g for g in result if g.cost]
    if not graphs or not target:
        return "<p>No cost is known.</p>"
    rows, own = [], result.funnel.get("own_us")
    for graph in graphs[:_MOST_BARS]:
        shown = [(graph.cost.time_us, "predicted")]
        if graph.cost.measured_us:
            shown.append((graph.cost.measured_us, "measured"))
        rows.append(Row(graph.name, shown))
    if own:
        rows.append(Row("own lowering", [(own, "own")]))
    moved = program_bytes(result.best.program_description)
    least = moved / target["dram_bytes_per_us"]
    limit = (least, f"{least:.2f} µs: each input read once, each output written once")
    chart = bars(rows, "predicted and measured times", unit=" µs", limit=limit)
    points = []
    for graph in reversed(graphs[:_MOST_BARS]):
        cost = graph.cost
        if cost.flops > 0 and cost.bytes > 0:
            intensity = cost.flops / cost.bytes
            points.append((f"{graph.name}, predicted", intensity, cost.flops / cost.time_us, "predicted"))
            if cost.measured_us:
                points.append((f"{graph.name}, measured", intensity, cost.flops / cost.measured_us, "measured"))
    bandwidth, peak = target["dram_bytes_per_us"], target["matmul_flops_per_us"]
    roof = roofline(points, bandwidth, peak, "roofline") if points else ""
    legend = ('<p class="legend"><i class="predicted"></i>predicted <i class="measured"></i>measured '
              '<i class="own"></i>the program\'s own lowering, predicted</p>')
    return (f"{legend}{chart}<h3>Roofline of the {escape(target['name'])}</h3>{roof}"
            f"<p class=\"soft\">{bandwidth / 1e6:.2f} TB/s of device memory that a kernel attains, "
            f"{peak / 1e6:.0f} TFLOP/s of matrix products with float32 accumulation, "
            f"{target['launch_us']:.1f} µs a launch, {target['sms']} multiprocessors.</p>")


def _messages(result: Any) -> str:
    rows = [(f' class="{escape(severity)}"', [severity, f"{line}:{column}" if line else "", text])
            for severity, line, column, text in result.messages]
    return _table(["kind", "place", "what the compiler said"], rows) if rows else "<p>The compiler said nothing.</p>"


def _settings(result: Any) -> str:
    rows = []
    for item in dataclasses.fields(result.options):
        value = getattr(result.options, item.name)
        rows.append((' class="changed"' if value != item.default else "", [item.name, repr(value)]))
    from . import __version__
    versions = (f"Mirage-MLIR {__version__}, Python {platform.python_version()}, {platform.machine()} "
                f"{platform.system()}")
    return (f"<p>{escape(versions)}</p><details><summary>Options (in bold: not the defaults)</summary>"
            f"{_table(['option', 'value'], rows)}</details>")


# ----------------------------------------------------------------------------------------------------------------- page

_STYLE = """
:root{color-scheme:light dark;--paper:#fff;--card:#f6f8fb;--ink:#1c2330;--soft:#5b6577;--line:#dfe4ec;--seen:#5e86d6;
--kept:#3c9a66;--cut:#c2a05a;--measured:#d9803a;--own:#9aa3b2;--warn:#a85b00}
@media (prefers-color-scheme:dark){:root{--paper:#12161d;--card:#1a202a;--ink:#e6e9ef;--soft:#a3adbd;--line:#303846;
--seen:#6f97e6;--kept:#4fb37c;--cut:#b3934f;--measured:#e0924f;--own:#6d7788;--warn:#e0a050}}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1140px;margin:0 auto;padding:28px 20px 60px}
h1{font-size:26px;margin:0 0 4px}h2{font-size:19px;margin:36px 0 10px;padding-top:12px;border-top:1px solid var(--line)}
h3{font-size:15px;margin:16px 0 6px}.soft,.legend{color:var(--soft);font-size:13px}
.warn{color:var(--warn);font-weight:600}
.tiles{display:flex;flex-wrap:wrap;gap:12px;margin:18px 0}
.tile{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:10px 16px;min-width:110px;
max-width:230px}
.tile b{display:block;font-size:22px}.tile span{color:var(--soft);font-size:13px}
pre{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px;overflow-x:auto;font-size:12.5px}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:13px;width:100%}
th,td{text-align:left;padding:5px 8px;border-bottom:1px solid var(--line);white-space:nowrap;vertical-align:top}
td:last-child{white-space:pre-wrap}th{color:var(--soft);font-weight:600}tr.best td,tr.changed td{font-weight:600}
summary{cursor:pointer;color:var(--soft);margin:10px 0}
.chart{max-width:100%;height:auto}.chart text{font:12px system-ui,sans-serif;fill:var(--ink)}
.chart .value{fill:var(--soft)}
.seen,.predicted{fill:var(--seen);background:var(--seen)}.kept{fill:var(--kept)}.cut{fill:var(--cut)}
.measured{fill:var(--measured);background:var(--measured)}.own{fill:var(--own);background:var(--own)}
.limit,.roof{stroke:var(--kept);fill:none;stroke-width:2}.limit{stroke-dasharray:5 4}.grid{stroke:var(--line)}
.legend i{display:inline-block;width:11px;height:11px;border-radius:2px;margin:0 5px 0 12px;vertical-align:-1px}
"""


def _page(result: Any) -> str:
    best = result.best
    name = best.cost.target if best.cost else result.options.target
    target = _mirage.target(name) if name else None
    title = f"{result.program}: a search by Mirage-MLIR"
    sections = [("The program", "program", _program(result)), ("The best µGraph", "graph", _graph(result)),
                ("Candidates", "candidates", _candidates(result, target)),
                ("Times beside the limits", "times", _times(result, target)),
                ("Why it is right", "proof", f"<p>{escape(proof_words(best.proof))}</p>"),
                ("How it was found", "funnel", _funnel(result)), ("Messages", "messages", _messages(result)),
                ("Options and versions", "settings", _settings(result))]
    body = "".join(f'<section id="{key}"><h2>{escape(head)}</h2>{html}</section>' for head, key, html in sections)
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
            f'<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>'
            f'<body><main><h1>@{escape(result.program)}</h1>{_summary(result)}{body}</main></body></html>\n')
