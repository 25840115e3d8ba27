"""Drawings of µGraphs: boxes of kernels, loops and thread graphs within each other, operators and lines between them.

    drawing = best[0].visualize();  drawing.save("attention.svg");  drawing.svg

What is drawn is UGraph.description (python-bindings/src/describe.c). A box has ports: along its upper side what it
takes, along its lower side what it gives. A constant that is only an operand stands in the operator's text: div(·,
4096). Colours follow the reader's choice of light or dark.
"""

from __future__ import annotations

import os
from typing import Any, Iterable
from xml.sax.saxutils import escape

from ._boxes import LINE, NARROW, PAD, Box, Edge, place

MARGIN = 14.0
_SHORT = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "int8": "i8", "int4": "i4", "float8_e4m3fn": "f8E4M3FN",
          "float8_e5m2": "f8E5M2"}
_PLACES = {"shared": " shared", "register": " registers", "fragment": " fragment"}


class Drawing:
    """An SVG, which notebooks show.

    `svg` is its text (a whole XML document), `boxes` the tree of what is drawn, with coordinates in pixels.
    """

    def __init__(self, boxes: Box, title: str):
        self.boxes, self.title = boxes, title
        self.svg = _svg(boxes, title)

    @classmethod
    def of(cls, ugraph: Any) -> "Drawing":
        """The drawing of a UGraph."""
        return cls.of_description(ugraph.description, ugraph._names())

    @classmethod
    def of_description(cls, description: dict, names: Iterable[str] = ()) -> "Drawing":
        """The drawing of a graph as UGraph.description has it; `names` of its inputs, "" where one has none."""
        root = _Builder(description, tuple(names)).root
        place(root)
        return cls(root, f"{'µGraph' if description['source'] else 'program'} {description['name']}")

    def save(self, path: str | os.PathLike) -> None:
        """Writes the SVG."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        width, height = self.boxes.width + 2 * MARGIN, self.boxes.height + 2 * MARGIN
        return f"<Drawing of {self.title}: {width:.0f} x {height:.0f} pixels>"

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x:auto">{self.svg}</div>'


# ---------------------------------------------------------------------------------------------------------------- words


def type_text(value: dict) -> str:
    """A value's type as the drawing says it.

    >>> type_text({"dtype": "float16", "dims": [2, 512], "space": "register"})
    '2×512 f16 registers'
    """
    dims = "×".join(str(d) for d in value["dims"]) or "scalar"
    return f"{dims} {_SHORT.get(value['dtype'], value['dtype'])}{_PLACES.get(value['space'], '')}"


def _extents(values: list[int]) -> str:
    """Three extents, x first, without the ones behind.

    >>> _extents([64, 2, 1])
    '64×2'
    """
    values = list(values)
    while len(values) > 1 and values[-1] == 1:
        values.pop()
    return "×".join(str(v) for v in values)


def _map_text(attrs: dict) -> str:
    """Which dimensions grid and loops split, as in the dialect's text.

    >>> _map_text({"grid": [1, -1, -1], "loop": [0, -1, -1, -1]})
    'grid=[1] loop=[0]'
    >>> _map_text({"grid": [-1, 0, -1], "loop": [0, -1, -1, -1], "cyclic": True})
    'grid=[_, 0] loop=[0] cyclic'
    """
    parts = []
    for key in ("grid", "loop"):
        dims = list(attrs[key])
        while dims and dims[-1] == -1:
            dims.pop()
        if dims:
            parts.append(f"{key}=[{', '.join('_' if d < 0 else str(d) for d in dims)}]")
    if attrs.get("cyclic"):
        parts.append("cyclic")
    if "order" in attrs:
        parts.append(f"order={attrs['order']}")
    if "window" in attrs:
        ends = zip(*attrs["window"])
        parts.append("window=[" + ", ".join(f"{b}:{e}" if e else ":" for b, e in ends) + "]")
    return " ".join(parts) or "whole"


def _attrs_text(op: str, attrs: dict) -> str:
    if op in ("load", "store"):
        return _map_text(attrs)
    if op == "slice":
        return f"dim {attrs['dim']}, {attrs['begin']}:{attrs['end']}"
    if op == "constant":
        return f"{attrs['value']:g}"
    if "axes" in attrs:
        return "along " + ", ".join(axis for axis, on in zip("xyz", attrs["axes"]) if on)
    parts = []
    for key, value in attrs.items():
        if value is True:
            parts.append(key)
        elif value is not False and not (key == "extent" and value == 1):
            parts.append(f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}")
    return ", ".join(parts)


def _bytes_text(count: float) -> str:
    return f"{count} B" if count < 1024 else f"{count / 1024:.4g} KiB"


def _kernel_lines(attrs: dict, number: int) -> list[str]:
    launch, schedule = attrs.get("launch"), attrs["schedule"] or {}
    parts = [f"grid {_extents(attrs['grid'])}"]
    if max(attrs["cluster"]) > 1:
        parts.append(f"cluster {_extents(attrs['cluster'])}")
    if launch:
        parts.append(f"{launch['threads']} threads")
    elif schedule.get("warps"):
        parts.append(f"{schedule['warps']} warps")
    if launch and launch["shared_bytes"]:
        parts.append(f"{_bytes_text(launch['shared_bytes'])} shared")
    if launch and launch["workspace_bytes"]:
        parts.append(f"{_bytes_text(launch['workspace_bytes'])} workspace")
    parts += [f"{r['warps']} warp{'s' * (r['warps'] != 1)} {r['kind']}" for r in schedule.get("roles", [])]
    if schedule.get("side_blocks"):
        parts.append(f"{schedule['side_blocks']} side blocks")
    if schedule.get("persistent"):
        parts.append(f"{schedule['persistent']} blocks in turn")
    if launch and launch["starts_early"]:
        parts.append("starts early")
    if launch and launch["in_pairs"]:
        parts.append("in pairs")
    return [f"kernel {launch['kernel'] if launch else number}", ", ".join(parts)]


def _landing_text(load: dict) -> str:
    words = {"async": "cp.async", "bulk": "bulk copy", "tensor": "tensor copy", "register": "to registers", "auto": ""}
    parts = [words[load["landing"]]]
    if load["stages"]:
        parts.append(f"{load['stages']} stage{'s' * (load['stages'] != 1)}")
    if load["cache"] != "default":
        parts.append(load["cache"].replace("_", " "))
    if load["multicast"]:
        parts.append("multicast")
    return ", ".join(p for p in parts if p)


# ---------------------------------------------------------------------------------------------------------------- boxes


class _Builder:
    """Makes the tree of boxes from a description."""

    def __init__(self, description: dict, names: tuple[str, ...]):
        self.inlined = _inlined(description["nodes"])
        self.values: dict[int, dict] = {}
        self.labels: dict[int, str] = {}
        self.kernels = 0
        self.loads: list[dict] = []
        self.root = Box("graph")
        env: dict[int, tuple[Box, Box | None]] = {}
        for i, value in enumerate(description["arguments"]):
            label = (names[i] if i < len(names) else "") or f"arg{i}"
            self._note(value, label)
            env[value["id"]] = (self._port(self.root.tops, f"{label}  {type_text(value)}", "input"), None)
        results = description["nodes"][-1]["operands"]
        for i, value in enumerate(description["outputs"]):
            name = f"output {i}" if len(results) > 1 else "output"
            self._port(self.root.bottoms, f"{name}  {type_text(value)}", "output")
        self._region(self.root, description["nodes"], env, {})

    def _note(self, value: dict, label: str = "") -> None:
        self.values[value["id"]] = value
        self.labels[value["id"]] = label

    def _port(self, ports: list[Box], text: str, style: str = "") -> Box:
        ports.append(Box("port", [text], style=style))
        return ports[-1]

    def _region(self, box: Box, nodes: list[dict], env: dict, outs: dict[int, Box],
                carries: list[str] | None = None) -> None:
        """Fills a box. env: where a value comes from; outs: the port of a tensor that stores write."""
        for node in nodes:
            for value in node["results"]:
                self._note(value)
            if node["op"] in ("yield", "return"):
                self._give(box, node, env, carries)
            elif node["op"] == "constant" and node["results"][0]["id"] in self.inlined:
                continue
            elif "nodes" in node:
                self._composite(box, node, env, outs)
            else:
                self._operator(box, node, env, outs)

    def _give(self, box: Box, node: dict, env: dict, carries: list[str] | None) -> None:
        """What a region gives: its ports; a factor goes to the port of the value that it rescales."""
        rescaled = [i for i, combine in enumerate(carries or []) if combine == "rescale"]
        for i, operand in enumerate(node["operands"]):
            is_factor = i >= len(box.bottoms)
            port = box.bottoms[rescaled[i - (len(carries) if carries else 0)] if is_factor else i]
            if operand in self.inlined:
                port.lines[0] = f"{self.inlined[operand]}  {port.lines[0]}"
            else:
                self._edge(box, env[operand], port, style="factor" if is_factor else "")

    def _edge(self, box: Box, source: tuple[Box, Box | None], target: Box, port: Box | None = None, slot: int = 0,
              slots: int = 1, style: str = "") -> None:
        box.edges.append(Edge(source[0], target, source[1], port, slot, slots, style))

    def _operator(self, box: Box, node: dict, env: dict, outs: dict[int, Box]) -> None:
        op = node["op"]
        operands = node["operands"][:1] if op == "store" else node["operands"]
        title = op
        if any(i in self.inlined for i in operands):
            title += "(" + ", ".join(self.inlined.get(i, "·") for i in operands) + ")"
        elif op in ("load", "store") and self.labels[node["operands"][-1]]:
            title += f" {self.labels[node['operands'][-1]]}"
        attrs = _attrs_text(op, node["attrs"])
        lines = [title] + ([attrs] if attrs else []) + [type_text(v) for v in node["results"]]
        if op == "load" and self.loads:
            landing = _landing_text(self.loads.pop(0))
            lines += [landing] if landing else []
        style = "memory" if op in ("load", "store") else "matrix" if op in ("matmul", "mma") else ""
        child = Box("op", lines, style=style)
        box.children.append(child)
        drawn = [i for i in operands if i not in self.inlined]
        for slot, operand in enumerate(drawn):
            self._edge(box, env[operand], child, slot=slot, slots=len(drawn))
        if op == "store":
            self._edge(box, (child, None), outs[node["operands"][1]])
        for value in node["results"]:
            env[value["id"]] = (child, None)

    def _composite(self, box: Box, node: dict, env: dict, outs: dict[int, Box]) -> None:
        kind = {"custom": "kernel", "loop": "loop", "thread": "thread"}[node["op"]]
        child = Box(kind, self._head(kind, node))
        box.children.append(child)
        attrs, operands = node["attrs"], node["operands"]
        if kind == "kernel":
            self.loads = list((attrs["schedule"] or {}).get("loads", []))
        inner: dict[int, tuple[Box, Box | None]] = {}
        inner_outs: dict[int, Box] = {}
        carries = attrs.get("carries")
        used = _used(node["nodes"])
        starts = self._arguments(box, child, node, used, env, inner)
        for operand in sorted(used & env.keys() - inner.keys()):  # what a loop reads from around it
            port = self._port(child.tops, self._value_text(operand))
            self._edge(box, env[operand], child, port)
            inner[operand] = (port, None)
        for i, value in enumerate(node["results"]):
            how = f"{carries[i]}{starts.get(i, '')}  " if carries else ""
            port = self._port(child.bottoms, how + type_text(value))
            env[value["id"]] = (child, port)
            if kind == "kernel":
                written = node["arguments"][len(operands) + i]
                self._note(written)
                inner_outs[written["id"]] = port
        stored = sorted(_stored(node["nodes"]) - inner_outs.keys())
        for value in stored:  # a loop that stores, to a tensor of the kernel
            port = self._port(child.bottoms, f"to {self._value_text(value)}")
            self._edge(box, (child, port), outs[value])
            inner_outs[value] = port
        self._region(child, node["nodes"], inner, inner_outs, carries)

    def _head(self, kind: str, node: dict) -> list[str]:
        if kind == "kernel":
            self.kernels += 1
            return _kernel_lines(node["attrs"], self.kernels - 1)
        return [f"loop {node['attrs']['range']}" if kind == "loop" else "thread"]

    def _arguments(self, box: Box, child: Box, node: dict, used: set[int], env: dict, inner: dict) -> dict[int, str]:
        """Ports of what a region takes. Gives the starts, as text, of values that a loop carries and does not read."""
        starts = {}
        carries = node["attrs"].get("carries")
        for i, (argument, operand) in enumerate(zip(node["arguments"], node["operands"])):
            self._note(argument, self.labels[operand])
            start = f" from {self.inlined[operand]}" if operand in self.inlined else ""
            if carries and start and argument["id"] not in used:
                starts[i] = start
                continue
            text = self._value_text(argument["id"])
            port = self._port(child.tops, f"carried{start}  {text}" if carries else f"{start[6:]}  {text}".strip())
            if not start:
                self._edge(box, env[operand], child, port)
            inner[argument["id"]] = (port, None)
        return starts

    def _value_text(self, value: int) -> str:
        label = self.labels[value]
        return f"{label}  {type_text(self.values[value])}" if label else type_text(self.values[value])


def _walk(nodes: list[dict]) -> Iterable[dict]:
    for node in nodes:
        yield node
        yield from _walk(node.get("nodes", []))


def _used(nodes: list[dict]) -> set[int]:
    """Values that are read in a region or in those within, by what is drawn as a line from them."""
    return {i for node in _walk(nodes) for i in (node["operands"][:1] if node["op"] == "store" else node["operands"])}


def _stored(nodes: list[dict]) -> set[int]:
    """Tensors that a region, or one within, stores to."""
    return {node["operands"][1] for node in _walk(nodes) if node["op"] == "store"}


def _inlined(nodes: list[dict]) -> dict[int, str]:
    """Constants that are drawn as text in what uses them."""
    found = {node["results"][0]["id"]: f"{node['attrs']['value']:g}" for node in _walk(nodes)
             if node["op"] == "constant"}
    for node in _walk(nodes):
        if node["op"] in ("store", "custom", "return"):
            for operand in node["operands"]:
                found.pop(operand, None)
    return found


# ------------------------------------------------------------------------------------------------------------------ SVG

_LIGHT = {"paper": "#ffffff", "ink": "#1c2330", "soft": "#5b6577", "edge": "#8792a5",
          "kernel": "#f1f5fd", "kernel-line": "#5e86d6", "loop": "#fdf6e8", "loop-line": "#cf9a3c",
          "thread": "#eef8f0", "thread-line": "#4a9d6a", "op": "#ffffff", "op-line": "#c2cad8",
          "memory": "#e9f4f4", "memory-line": "#6fb1b3", "matrix": "#f6edfa", "matrix-line": "#ae7ccb",
          "port": "#e6eaf2", "port-line": "#e6eaf2", "input": "#e2eefc", "input-line": "#9cc0ee"}
_DARK = {"paper": "#12161d", "ink": "#e6e9ef", "soft": "#a3adbd", "edge": "#77839a",
         "kernel": "#18202e", "kernel-line": "#5e86d6", "loop": "#262116", "loop-line": "#b98a36",
         "thread": "#16251c", "thread-line": "#4a9d6a", "op": "#1f2632", "op-line": "#465064",
         "memory": "#16292c", "memory-line": "#41858a", "matrix": "#2a2033", "matrix-line": "#8a5fa6",
         "port": "#2a3140", "port-line": "#2a3140", "input": "#1b2c43", "input-line": "#3f6796"}
_BOXES = ("kernel", "loop", "thread", "op", "memory", "matrix", "port", "input")


def _rules(colours: dict[str, str]) -> str:
    at = "svg.mirage-ugraph"
    rules = [f"{at} .paper{{fill:{colours['paper']}}}", f"{at} text{{fill:{colours['soft']}}}",
             f"{at} text.title{{fill:{colours['ink']}}}", f"{at} .edge{{stroke:{colours['edge']}}}",
             f"{at} .tip{{fill:{colours['edge']}}}"]
    rules += [f"{at} .{name}{{fill:{colours[name]};stroke:{colours[name + '-line']}}}" for name in _BOXES]
    return "".join(rules)


_STYLE = ("svg.mirage-ugraph text{font:10.5px "
          "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}"
          "svg.mirage-ugraph text.title{font-size:12px;font-weight:600}"
          "svg.mirage-ugraph .port+text,svg.mirage-ugraph .input+text{font-weight:400;font-size:10.5px}"
          "svg.mirage-ugraph .edge{fill:none;stroke-width:1.2}svg.mirage-ugraph .factor{stroke-dasharray:4 3}"
          + _rules(_LIGHT) + "@media (prefers-color-scheme:dark){" + _rules(_DARK) + "}")


def _svg(root: Box, title: str) -> str:
    width, height = root.width + 2 * MARGIN, root.height + 2 * MARGIN
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" class="mirage-ugraph" role="img" width="{width:.0f}" '
             f'height="{height:.0f}" viewBox="{-MARGIN:g} {-MARGIN:g} {width:.1f} {height:.1f}">',
             f"<title>{escape(title)}</title><style>{_STYLE}</style>",
             f'<rect class="paper" x="{-MARGIN:g}" y="{-MARGIN:g}" width="{width:.1f}" height="{height:.1f}"/>']
    _draw(root, parts, [0])
    parts.append("</svg>\n")
    return "\n".join(parts)


def _draw(box: Box, parts: list[str], count: list[int]) -> None:
    """A box, then its lines, then what is in it. Boxes are numbered, and say the number of the one that they are in."""
    number = count[0]
    for edge in box.edges:
        parts.append(_route(edge))
    for inner in (*box.tops, *box.children, *box.bottoms):
        count[0] += 1
        style = inner.style or inner.kind
        parts.append(f'<g class="node" data-kind="{inner.kind}" data-id="{count[0]}" data-in="{number}">'
                     f"<title>{escape(' | '.join(inner.lines))}</title>"
                     f'<rect class="{"input" if style == "output" else style}" x="{inner.x:.1f}" y="{inner.y:.1f}" '
                     f'width="{inner.width:.1f}" height="{inner.height:.1f}" '
                     f'rx="{9 if inner.kind in ("port", "kernel") else 5}"/>')
        parts.append(_text(inner) + "</g>")
        _draw(inner, parts, count)


def _text(box: Box) -> str:
    """The lines: at the left of a box that holds others, else in the middle."""
    nested = box.is_nested
    x = box.x + PAD if nested else box.x + box.width / 2
    anchor = "" if nested else ' text-anchor="middle"'
    title = "" if box.kind == "port" else ' class="title"'
    return "".join(f'<text{"" if i else title} x="{x:.1f}" '
                   f'y="{box.y + PAD / 2 + LINE * (i + 0.72):.1f}"{anchor} xml:space="preserve">{escape(line)}</text>'
                   for i, line in enumerate(box.lines))


def _route(edge: Edge) -> str:
    """A line through the gaps between layers: straight down where it passes one, a curve between two."""
    x, y, leaves = edge.points[0]
    path = [f"M{x:.1f} {y:.1f}"]
    if leaves > y:
        path.append(f"V{leaves:.1f}")
    for to_x, to_y, on in edge.points[1:]:
        middle = (leaves + to_y) / 2
        path.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
        if on > to_y:
            path.append(f"V{on:.1f}")
        x, leaves = to_x, on
    end = edge.points[-1][1]
    tip = f'<path class="tip" d="M{x:.1f} {end:.1f}l-3.5 -6.5h7z"/>'
    return f'<path class="edge{" " + edge.style if edge.style else ""}" d="{"".join(path)}"/>{tip}'
