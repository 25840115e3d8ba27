"""Drawings: valid XML, everything in it, no two boxes on each other, lines in the gaps, the same each time."""

import json
import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import mirage_mlir as mi
from mirage_mlir import _mirage
from mirage_mlir._draw import Drawing

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"
# Of one kernel, of several; with loops, side by side and in each other; wide, long.
WORKLOADS = ["workloads/gqa_b1", "workloads/lora_b1", "workloads/gated_mlp_m8", "workloads/moe_8x8",
             "workloads/qknorm_b1", "varied/group_norm", "varied/primes", "varied/lone_add", "varied/chain60",
             "varied/rope_like", "varied/fused_qkv", "varied/softmax_wide", "varied/lstm_cell"]
OTHERS = sorted(set(f"{p.parent.name}/{p.stem}" for kind in ("workloads", "varied", "odd")
                    for p in (ROOT / "test/bench" / kind).glob("*.mlir")) - set(WORKLOADS))


def nodes_of(svg):
    """(kind, id, id of the box around it, (x, y, width, height), title) of each box."""
    found = []
    for group in ET.fromstring(svg).iter(SVG + "g"):
        rect = group.find(SVG + "rect")
        found.append((group.get("data-kind"), int(group.get("data-id")), int(group.get("data-in")),
                      tuple(float(rect.get(k)) for k in ("x", "y", "width", "height")), group.find(SVG + "title").text))
    return found


def apart(a, b):
    return a[0] + a[2] <= b[0] or b[0] + b[2] <= a[0] or a[1] + a[3] <= b[1] or b[1] + b[3] <= a[1]


def inside(a, b):
    return b[0] <= a[0] and b[1] <= a[1] and a[0] + a[2] <= b[0] + b[2] and a[1] + a[3] <= b[1] + b[3]


def check_geometry(svg):
    root = ET.fromstring(svg)
    page = tuple(float(v) for v in root.get("viewBox").split())
    nodes = nodes_of(svg)
    rects = {number: rect for _, number, _, rect, _ in nodes}
    by_parent = {}
    for _, number, parent, rect, title in nodes:
        assert inside(rect, rects.get(parent, page)), title
        assert len(title.split(" | ")[0]) * 6 <= rect[2], f"the text leaves its box: {title}"
        by_parent.setdefault(parent, []).append((rect, title))
    for siblings in by_parent.values():
        for i, (a, title) in enumerate(siblings):
            for b, other in siblings[i + 1:]:
                assert apart(a, b), f"{title} and {other}"
    return root, nodes


def check_lines(root, nodes):
    """Straight parts of lines, which pass layers, cross no operator or port."""
    solid = [(rect, title) for kind, _, _, rect, title in nodes if kind in ("op", "port")]
    for path in root.iter(SVG + "path"):
        if not path.get("class").startswith("edge"):
            continue
        x = y = 0.0
        for command, numbers in re.findall(r"([MCV])([^MCV]*)", path.get("d")):
            values = [float(v) for v in numbers.split()]
            if command == "V":
                for rect, title in solid:
                    crosses = rect[0] < x < rect[0] + rect[2] and y + 1 < rect[1] + rect[3] and rect[1] < values[0] - 1
                    assert not crosses, title
                y = values[0]
            else:
                x, y = values[-2:]


def count(nodes, kinds):
    return sum((n["op"] in kinds) + count(n.get("nodes", []), kinds) for n in nodes)


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("MIRAGE_CACHE", "no")


@pytest.mark.skipif(not os.environ.get("MIRAGE_TEST_ALL"), reason="minutes: set MIRAGE_TEST_ALL=1")
@pytest.mark.parametrize("name", OTHERS)
def test_every_other_workload_is_drawn(name):
    test_workload_is_drawn(name)


@pytest.mark.parametrize("name", WORKLOADS)
def test_workload_is_drawn(name):
    text = (ROOT / "test/bench" / f"{name}.mlir").read_text()
    best = mi.superoptimize(text, measure="no", target="h200", progress=False, max_candidates=2)[0]
    svg = best.visualize().svg
    root, nodes = check_geometry(svg)
    check_lines(root, nodes)
    graph = best.description["nodes"]
    kinds = [kind for kind, *_ in nodes]
    assert kinds.count("kernel") == count(graph, {"custom"})
    assert kinds.count("loop") == count(graph, {"loop"})
    titles = [title for kind, _, _, _, title in nodes if kind == "op"]
    for op in ("load", "store", "matmul", "exp", "reduce_sum"):
        assert sum(re.match(rf"{op}\b", t) is not None for t in titles) == count(graph, {op}), op
    structure = {"custom", "loop", "thread", "yield", "return", "constant"}
    assert len([t for t in titles if not re.match(r"[-\d]", t)]) >= sum(1 for n in walk(graph) if n["op"] not in structure)


def walk(nodes):
    for node in nodes:
        yield node
        yield from walk(node.get("nodes", []))


@pytest.fixture(scope="module")
def rmsnorm():
    text = (ROOT / "examples/rmsnorm_linear.mlir").read_text()
    return mi.superoptimize(text, measure="no", target="h200", progress=False)


def test_what_a_drawing_says(rmsnorm):
    svg = rmsnorm.best.visualize().svg
    for part in ("kernel rmsnorm_linear_0_k0", "grid 128", "loop 8", "grid=[1] loop=[0]", "512×48 f16 registers", "matmul",
                 "div(·, 4096)", "sum from 0", "1 stage", "output  2×6144 f16"):
        assert part in svg, part


def test_the_same_each_time(rmsnorm):
    assert rmsnorm.best.visualize().svg == Drawing.of(mi.from_mlir(rmsnorm.best.mlir)).svg


def test_files_and_notebooks(rmsnorm, tmp_path):
    drawing = rmsnorm.visualize()
    drawing.save(tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text(encoding="utf-8") == drawing.svg == str(drawing) == drawing._repr_svg_()
    assert drawing.svg in drawing._repr_html_()
    assert "prefers-color-scheme:dark" in drawing.svg
    assert repr(drawing).startswith("<Drawing of µGraph rmsnorm_linear_0: ")


def test_names_are_escaped():
    g = mi.new_graph()
    x = g.new_input((4, 8), "float16", name='a<b> & "c"')
    g.mark_output(g.exp(x))
    root, nodes = check_geometry(mi.from_mlir(g.mlir).visualize().svg)
    assert 'a<b> & "c"  4×8 f16' in [title for *_, title in nodes]


def test_a_program_is_drawn_too():
    g = mi.new_graph("two")
    x = g.new_input((4, 8), "float16", name="x")
    g.mark_output(g.add(g.slice(x, 1, 0, 4), 2.5), g.reduce_sum(x, 1))
    drawing = mi.from_mlir(g.mlir).visualize()
    _, nodes = check_geometry(drawing.svg)
    titles = [title for *_, title in nodes]
    assert titles[0] == "x  4×8 f16" and "slice | dim 1, 0:4 | 4×4 f16" in titles
    assert "add(·, 2.5) | 4×4 f16" in titles and "output 1  4×1 f16" in titles
    assert drawing.title == "program two"


# Loops in loops, thread graphs, all ways of carrying, stores within loops, clusters, windows: graphs written by hand.
HAND_WRITTEN = re.split(r"(?m)^// -----.*$", (ROOT / "test/dialect/round-trip.mlir").read_text())


def test_hand_written_graphs():
    drawn = set()
    for text in HAND_WRITTEN:
        for graph in json.loads(_mirage.describe(text))["graphs"]:
            root, nodes = check_geometry(Drawing.of_description(graph).svg)
            check_lines(root, nodes)
            drawn |= {kind for kind, *_ in nodes}
            drawn |= {"factor" for p in root.iter(SVG + "path") if "factor" in p.get("class")}
    assert {"kernel", "loop", "thread", "op", "port", "factor"} <= drawn


def test_description_of_loads_and_roles():
    text = (ROOT / "test/bench/workloads/rmsnorm_linear_prefill.mlir").read_text()
    best = mi.superoptimize(text, measure="no", target="h200", progress=False, max_candidates=1)[0]
    kernels = [n for n in walk(best.description["nodes"]) if n["op"] == "custom"]
    loads = [load for kernel in kernels for load in kernel["attrs"]["schedule"]["loads"]]
    assert loads and all(load["landing"] in ("auto", "register", "async", "bulk", "tensor") for load in loads)
    assert len(loads) == count(best.description["nodes"], {"load"})


def test_targets_have_numbers():
    for name, chip, compute in _mirage.targets():
        target = _mirage.target(name)
        assert (target["name"], target["chip"], target["compute"]) == (name, chip, compute)
        assert target["matmul_flops_per_us"] > target["fma_flops_per_us"] > target["dram_bytes_per_us"] > 0
    assert _mirage.target("RTX 4090") == _mirage.target("rtx4090")
    assert _mirage.target("gtx-1") is None
