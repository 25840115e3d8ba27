"""Places nested boxes and the lines between them, top to bottom, so that no two overlap.

A Box holds others in layers: a line always leads from a layer to a later one. `place(box)` gives every box absolute
coordinates, and every edge a route through the gaps. Same boxes, same picture.

Algorithm: [Sugiyama, Tagawa, Toda 1981]. Layers by longest path; a line over several layers becomes a chain of points;
the order in a layer by barycentres, the best of some sweeps; positions in a layer as near to the neighbours as the
order allows (pool adjacent violators). Inner boxes come first, so that a line meets its port in the box that it enters.
"""

from __future__ import annotations

from dataclasses import dataclass, field

LINE = 16.0          # height of a line of text
PAD = 10.0           # between a box and what is in it
GAP_X, GAP_Y = 18.0, 30.0
LANE = 6.0           # width of a line that passes a layer
WIDE, NARROW = 7.3, 6.4  # a character's width in a first line, and in others
SWEEPS = 8


@dataclass(eq=False)
class Box:
    """A rectangle with lines of text; what is in it stands below them. Pixels; x, y are of the upper left corner.

    kind:     "graph", "kernel", "loop", "thread", "op", "port".
    tops:     ports along the upper side, where lines from outside end and lines inside begin; bottoms: the other way
    round. children: what is between them. edges: lines between tops, children and bottoms.
    """

    kind: str
    lines: list[str] = field(default_factory=list)
    tops: list["Box"] = field(default_factory=list)
    children: list["Box"] = field(default_factory=list)
    bottoms: list["Box"] = field(default_factory=list)
    edges: list["Edge"] = field(default_factory=list)
    style: str = ""
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0

    @property
    def is_nested(self) -> bool:
        return bool(self.tops or self.children or self.bottoms)

    def text_size(self) -> tuple[float, float]:
        widths = [len(text) * (NARROW if i else WIDE) for i, text in enumerate(self.lines)]
        return max(widths, default=0) + 2 * PAD, len(self.lines) * LINE + PAD


@dataclass(eq=False)
class Edge:
    """From a box, or a bottom port of one, to a box at its operand `slot` of `slots`, or to a top port of one."""

    source: Box
    target: Box
    source_port: Box | None = None
    target_port: Box | None = None
    slot: int = 0
    slots: int = 1
    style: str = ""
    points: list[tuple[float, float, float]] = field(default_factory=list)  # (x, y where it arrives, y where it leaves)

    def leaves(self) -> float:
        """Where it leaves, right of the source's left side."""
        port = self.source_port
        return port.x + port.width / 2 if port else self.source.width / 2

    def arrives(self) -> float:
        port = self.target_port
        return port.x + port.width / 2 if port else self.target.width * (self.slot + 1) / (self.slots + 1)


class _Item:
    """A box in its layer, or a point through which a line passes one."""

    def __init__(self, box: Box | None, rank: int, index: int):
        self.box, self.rank, self.index = box, rank, index
        self.width = box.width if box else LANE
        self.x = 0.0
        self.ups: list[_Link] = []
        self.downs: list[_Link] = []


class _Link:
    """A part of an edge between two layers that follow each other."""

    def __init__(self, above: _Item, below: _Item, leaves: float, arrives: float):
        self.above, self.below, self.leaves, self.arrives = above, below, leaves, arrives
        self.weight = 1.0 + 3.0 * (above.box is None) + 3.0 * (below.box is None)
        above.downs.append(self)
        below.ups.append(self)


def place(box: Box) -> None:
    """Gives the box, all in it, and all lines their coordinates; the upper left corner of `box` is the origin."""
    _measure(box)
    _shift(box, 0.0, 0.0)


def _measure(box: Box) -> None:
    """Sizes, and positions relative to the box that a box is in."""
    width, height = box.text_size()
    if not box.is_nested:
        box.width, box.height = width, height
        return
    for inner in (*box.tops, *box.children, *box.bottoms):
        _measure(inner)
    layers, chains = _layers(box)
    _order(layers)
    _positions(layers)
    left = min(item.x for layer in layers for item in layer)
    y = height + (GAP_Y / 3 if box.lines else PAD)
    for rank, layer in enumerate(layers):
        tall = max((item.box.height for item in layer if item.box), default=0.0)
        for item in layer:
            item.x += PAD - left
            if item.box:
                item.box.x, item.box.y = item.x, y
        for edge, chain in chains:
            _pass(edge, chain, rank, y, y + tall)
        y += tall + GAP_Y
    box.width = max(max(item.x + item.width for layer in layers for item in layer) + PAD, width)
    box.height = y - GAP_Y + PAD


def _pass(edge: Edge, chain: list[_Item], rank: int, top: float, bottom: float) -> None:
    for item in chain:
        if item.rank == rank:
            first, last = item is chain[0], item is chain[-1]
            x = item.x + (edge.leaves() if first else edge.arrives() if last else LANE / 2)
            arrives = item.box.y + item.box.height if first and item.box else top
            edge.points.append((x, arrives, top if last else bottom))


def _shift(box: Box, x: float, y: float) -> None:
    box.x, box.y = box.x + x, box.y + y
    for edge in box.edges:
        edge.points = [(px + box.x, py + box.y, pz + box.y) for px, py, pz in edge.points]
    for inner in (*box.tops, *box.children, *box.bottoms):
        _shift(inner, box.x, box.y)


# --------------------------------------------------------------------------------------------------------------- layers


def _ranks(box: Box) -> dict[Box, int]:
    """The layer of each box: tops first, bottoms last, the others as early as they can be, loads as late."""
    first = 1 if box.tops else 0
    ranks = {inner: 0 for inner in box.tops} | {inner: first for inner in box.children}
    into: dict[Box, list[Edge]] = {}
    out: dict[Box, list[Edge]] = {}
    for edge in box.edges:
        into.setdefault(edge.target, []).append(edge)
        out.setdefault(edge.source, []).append(edge)
    for inner in box.children:  # in an order in which operands come first
        ranks[inner] = max([first] + [ranks[edge.source] + 1 for edge in into.get(inner, [])])
    last = max(ranks.values(), default=0) + 1
    ranks.update({inner: last for inner in box.bottoms})
    for inner in reversed(box.children):
        if len(into.get(inner, [])) <= 1 and out.get(inner):
            ranks[inner] = min(ranks[edge.target] for edge in out[inner]) - 1
    return ranks


def _layers(box: Box) -> tuple[list[list[_Item]], list[tuple[Edge, list[_Item]]]]:
    ranks = _ranks(box)
    layers: list[list[_Item]] = [[] for _ in range(max(ranks.values()) + 1)]
    items: dict[Box, _Item] = {}
    for inner in (*box.tops, *box.children, *box.bottoms):
        items[inner] = _Item(inner, ranks[inner], len(items))
        layers[ranks[inner]].append(items[inner])
    chains = []
    for edge in box.edges:
        above, below = items[edge.source], items[edge.target]
        chain = [above]
        for rank in range(above.rank + 1, below.rank):
            chain.append(_Item(None, rank, above.index))
            layers[rank].append(chain[-1])
        chain.append(below)
        for i, (a, b) in enumerate(zip(chain, chain[1:])):
            _Link(a, b, edge.leaves() if i == 0 else LANE / 2, edge.arrives() if b is below else LANE / 2)
        chains.append((edge, chain))
    return layers, chains


# ---------------------------------------------------------------------------------------------------------------- order


def _order(layers: list[list[_Item]]) -> None:
    """Permutes each layer so that few lines cross."""
    best, fewest = [list(layer) for layer in layers], _crossings(layers)
    for sweep in range(SWEEPS):
        downwards = sweep % 2 == 0
        for rank in range(1, len(layers)) if downwards else range(len(layers) - 2, -1, -1):
            near = {item: i for i, item in enumerate(layers[rank - 1 if downwards else rank + 1])}
            at = {item: _barycentre(item, near, i, downwards) for i, item in enumerate(layers[rank])}
            layers[rank].sort(key=lambda item: at[item])
        crossings = _crossings(layers)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    layers[:] = best


def _barycentre(item: _Item, near: dict[_Item, int], at: int, downwards: bool) -> float:
    if downwards:
        places = [near[k.above] + k.leaves / (k.above.width + 1) for k in item.ups]
    else:
        places = [near[k.below] + k.arrives / (k.below.width + 1) for k in item.downs]
    return sum(places) / len(places) if places else float(at)


def _crossings(layers: list[list[_Item]]) -> int:
    count = 0
    for above, below in zip(layers, layers[1:]):
        up = {item: i for i, item in enumerate(above)}
        down = {item: i for i, item in enumerate(below)}
        ends = [((up[k.above], k.leaves), (down[k.below], k.arrives)) for item in above for k in item.downs]
        ends.sort()
        count += sum(a[1] > b[1] and a[0] < b[0] for i, a in enumerate(ends) for b in ends[i + 1:])
    return count


# ------------------------------------------------------------------------------------------------------------ positions


def _positions(layers: list[list[_Item]]) -> None:
    """Gives each item its x: near what it is linked with, apart from its neighbours, in the layer's order."""
    for layer in layers:
        x = 0.0
        for item in layer:
            item.x = x
            x += item.width + GAP_X
    for sweep in range(2 * SWEEPS):
        both, downwards = sweep >= 2 * SWEEPS - 4, sweep % 2 == 0
        for layer in layers if downwards else reversed(layers):
            _settle(layer, both or downwards, both or not downwards)


def _settle(layer: list[_Item], looks_up: bool, looks_down: bool) -> None:
    wishes, weights, places = [], [], []
    at = 0.0
    for item in layer:
        pulls = [(k.weight, k.above.x + k.leaves - k.arrives) for k in item.ups if looks_up]
        pulls += [(k.weight, k.below.x + k.arrives - k.leaves) for k in item.downs if looks_down]
        weight = sum(w for w, _ in pulls)
        wishes.append((sum(w * x for w, x in pulls) / weight if weight else item.x) - at)
        weights.append(weight or 0.01)
        places.append(at)
        at += item.width + GAP_X
    for item, wish, place_ in zip(layer, _isotonic(wishes, weights), places):
        item.x = wish + place_


def _isotonic(values: list[float], weights: list[float]) -> list[float]:
    """The non-decreasing sequence that is nearest to `values` in the weighted sum of squares.

    >>> _isotonic([3.0, 1.0, 4.0], [1.0, 1.0, 1.0])
    [2.0, 2.0, 4.0]
    """
    blocks: list[list[float]] = []  # mean, weight, how many
    for value, weight in zip(values, weights):
        blocks.append([value, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, heavy, count = blocks.pop()
            last = blocks[-1]
            last[0] = (last[0] * last[1] + mean * heavy) / (last[1] + heavy)
            last[1] += heavy
            last[2] += count
    return [mean for mean, _, count in blocks for _ in range(int(count))]
