"""Cuts out of an FX graph the parts that the kernel dialect expresses.

    whole = specialise(gm, tensors)      shapes are numbers, each node knows its fake value and what it writes to
    split = partition(whole, limits)     split.module calls part_0, part_1, ... and everything else as it was

Order:    a node that writes to a tensor that was there before it, that draws random numbers or changes a state of the
          interpreter is a barrier. Nothing moves across one, so what is read between two of them may be read in any
          order.
Members:  nodes that the dialect has words for (_torch_import.classify). Views of values from outside belong to nobody:
          a part computes those that it needs itself; a view of a part's value that leaves is taken outside, so that it
          stays a view.
Parts:    stage(n) = how often a path to n has left members and come back. Members of one stage that share a value are
          one part; no path leaves it and returns, so the parts and the rest can be ordered. Parts of two stages become
          one where the only way from the one to the other is direct. Those with more than a limit's arithmetic are cut
          where fewest values cross.
Example:  y = rms_norm(x); z = y @ w; cache.index_copy_(0, i, z); s = cache @ q -> {rms_norm, matmul}, index_copy_,
          {matmul}
"""

from __future__ import annotations

import heapq
import operator
from dataclasses import dataclass, field
from typing import Any, Iterable

import torch
import torch.utils._pytree as pytree
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.node import map_arg
from torch.utils._python_dispatch import TorchDispatchMode

from ._torch_import import classify, is_check, is_made_of_nothing, place_of, value_of
from ._torch_ops import Unsupported, name_of
from ._torch_positions import bring_masks, mask_of

_LITERALS = (int, float, bool, str, torch.Size, torch.dtype, torch.device, torch.layout, torch.memory_format)
_STATEFUL = ("batch_norm", "instance_norm")  # write to running statistics, which their schemas do not say


# ----------------------------------------------------------------------------------------------------------- specialise


class _Watch(TorchDispatchMode):
    """Which storages the operators of one node write to, and whether they are random."""

    supports_higher_order_operators = True

    def __init__(self):
        super().__init__()
        self.written: set[int] = set()
        self.random = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        schema = getattr(func, "_schema", None)
        if schema is not None and schema.is_mutable:
            for i, argument in enumerate(schema.arguments):
                if argument.alias_info is not None and argument.alias_info.is_write:
                    value = args[i] if i < len(args) else kwargs.get(argument.name)
                    self.written |= _storages(value)
        self.random |= torch.Tag.nondeterministic_seeded in getattr(func, "tags", ())
        return func(*args, **kwargs)


def _storages(value: Any) -> set[int]:
    return {x.untyped_storage()._cdata for x in pytree.tree_leaves(value) if isinstance(x, torch.Tensor)}


class _Propagate(fx.Interpreter):
    """Runs a graph on fake tensors. meta: "val" the result; "barrier" why nothing may move across the node, or None;
    "overwritten" whether some node writes to what it gives."""

    def __init__(self, gm: fx.GraphModule, mode: FakeTensorMode):
        super().__init__(gm, garbage_collect_values=False)
        self.mode, self.known, self.written = mode, set[int](), set[int]()

    def get_attr(self, target, args, kwargs):
        value = super().get_attr(target, args, kwargs)
        return self.mode.from_tensor(value, static_shapes=True) if isinstance(value, torch.Tensor) else value

    def run_node(self, node: fx.Node) -> Any:
        with _Watch() as watch:
            result = super().run_node(node)
        if node.op != "output":
            node.meta["val"] = result
            node.meta["barrier"] = self._barrier(node, result, watch)
            self.known |= _storages(result)
            self.written |= watch.written
        return result

    def mark_overwritten(self) -> None:
        for node in self.graph.nodes:
            if node.op.startswith("call"):
                node.meta["overwritten"] = bool(_storages(value_of(node)) & self.written)

    def _barrier(self, node: fx.Node, result: Any, watch: _Watch) -> str | None:
        if not node.op.startswith("call"):
            return None
        if watch.written & self.known:
            return "writes to its operand"
        if watch.random and not _is_attention_without_dropout(node):
            return "random"
        if isinstance(node.target, torch._ops.HigherOrderOperator) or name_of(node) in _STATEFUL:
            return "has effects"
        if any(isinstance(x, torch.Tensor) for x in pytree.tree_leaves(result)) or _is_literal(result):
            return None
        return "changes a state"


def _is_attention_without_dropout(node: fx.Node) -> bool:
    """Attention calls itself random, because it may drop out."""
    dropout = node.args[4] if len(node.args) > 4 else node.kwargs.get("dropout_p", 0.0)
    return name_of(node) == "scaled_dot_product_attention" and dropout in (0, None)


def _is_literal(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(_is_literal(v) for v in value)
    return isinstance(value, _LITERALS)


@dataclass
class Whole:
    """A graph without symbols. arguments: which of the traced graph's arguments it takes."""

    module: fx.GraphModule
    arguments: list[int]


def specialise(gm: fx.GraphModule, args: list) -> Whole:
    """A copy of `gm` for the shapes of these arguments: whatever depends on shapes alone becomes a literal."""
    graph = fx.Graph()
    graph.output(graph.graph_copy(gm.graph, {}))
    traced = fx.GraphModule(gm, graph)
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    fakes = [mode.from_tensor(a, static_shapes=True) if isinstance(a, torch.Tensor) else a for a in args]
    with torch.set_grad_enabled(torch.is_grad_enabled()), mode:
        propagate = _Propagate(traced, mode)
        propagate.run(*fakes)
        propagate.mark_overwritten()
    return _fold(traced)


def _fold(traced: fx.GraphModule) -> Whole:
    graph, env = fx.Graph(), dict[fx.Node, Any]()
    arguments, position = [], 0
    for node in traced.graph.nodes:
        if node.op == "placeholder":
            position += 1
        if node.op == "output":
            graph.output(map_arg(node.args[0], env.__getitem__))
            continue
        value = value_of(node)
        if node.op == "placeholder" and (_is_literal(value) or value is None):
            env[node] = value
        elif node.op.startswith("call") and not node.meta["barrier"] and _is_literal(value):
            env[node] = tuple(value) if isinstance(value, (tuple, list)) else value
        elif not (node.op == "call_function" and is_check(node)):
            env[node] = graph.node_copy(node, env.__getitem__)
            if node.op == "placeholder":
                arguments.append(position - 1)
    module = fx.GraphModule(traced, graph)
    return Whole(module, arguments)


# ------------------------------------------------------------------------------------------------------------ partition


@dataclass
class Limits:
    """min_nodes: arithmetic nodes that make a part worth it, where it has no contraction or reduction. max_nodes: at
    most."""

    min_nodes: int = 2
    max_nodes: int = 24


@dataclass
class Outside:
    """An operator that stays outside, and why."""

    op: str
    reason: str
    place: str


@dataclass
class Split:
    """module: calls parts by these names and holds the rest. parts: their modules, which give tuples of tensors."""

    module: fx.GraphModule
    parts: dict[str, fx.GraphModule]
    outside: list[Outside]


@dataclass
class _Node:
    index: int
    segment: int
    kind: str | None  # None: outside
    device: torch.device | None
    stage: int = 0
    is_free: bool = False  # a view of what is outside
    group: int = -1


@dataclass
class _Part:
    members: list[fx.Node]
    inputs: list[fx.Node] = field(default_factory=list)
    outputs: list[fx.Node] = field(default_factory=list)


class _Cutter:
    def __init__(self, module: fx.GraphModule, limits: Limits):
        self.module, self.limits = module, limits
        self.nodes: dict[fx.Node, _Node] = {}
        self.outside: list[Outside] = []
        self.part_of: dict[fx.Node, _Part] = {}

    # ----------------------------------------------------------------------------------------------------- what is what

    def classify_all(self) -> None:
        segment = 0
        for index, node in enumerate(self.module.graph.nodes):
            info = self.nodes[node] = _Node(index, segment, None, None)
            if not node.op.startswith("call") or "narrows" in node.meta:
                continue
            reason = node.meta["barrier"]
            if reason is None:
                try:
                    info.kind = self._kind(node)
                    info.device = next(
                        x.device for x in pytree.tree_leaves(value_of(node)) if isinstance(x, torch.Tensor)
                    )
                except Unsupported as unsupported:
                    reason = str(unsupported)
            if reason is not None:
                self.outside.append(Outside(name_of(node), reason, place_of(node)))
            if node.meta["barrier"] is not None:
                segment += 1
        self._mark_free_and_stages()

    def _kind(self, node: fx.Node) -> str:
        if name_of(node) in ("max", "min") and any(
            user.args[1:] != (0,) for user in node.users if isinstance(value_of(node), tuple)
        ):
            raise Unsupported("indices of a maximum")
        kind = classify(node)
        if kind == "view" and node.meta["overwritten"] and is_made_of_nothing(node):
            raise Unsupported("others write to it")
        return kind

    def is_member(self, node: fx.Node) -> bool:
        return self.nodes[node].kind is not None and not self.nodes[node].is_free

    def _mark_free_and_stages(self) -> None:
        for node, info in self.nodes.items():
            info.is_free = info.kind == "view" and not any(self.is_member(a) for a in node.all_input_nodes)
            for operand in node.all_input_nodes:
                at = self.nodes[operand]
                if at.segment == info.segment:
                    left = self.is_member(operand) and not self.is_member(node)
                    info.stage = max(info.stage, at.stage + left)

    # ----------------------------------------------------------------------------------------------------------- groups

    def roots(self, node: fx.Node) -> Iterable[fx.Node]:
        """The values from outside that a free view looks at; the node itself where it is none."""
        if not self.nodes[node].is_free:
            yield node
            return
        for operand in node.all_input_nodes:
            yield from self.roots(operand)

    def groups(self) -> list[list[fx.Node]]:
        """Members in parts, each in the order of the graph."""
        sets = _Sets()
        for node, info in self.nodes.items():
            if not self.is_member(node):
                continue
            for operand in node.all_input_nodes:
                for root in self.roots(operand):
                    at = self.nodes[root]
                    inside = self.is_member(root)
                    if inside and (at.segment, at.stage, at.device) == (info.segment, info.stage, info.device):
                        sets.union(node, root)
                    elif not (inside and at.segment == info.segment):
                        sets.union(node, (root, info.segment, info.stage, info.device))
        members = [n for n in self.nodes if self.is_member(n)]
        for node in members:
            self.nodes[node].group = self.nodes[sets.find_first(node, self.nodes)].index
        self._merge_stages(members)
        members = self._without_shared(members)
        result: dict[int, list[fx.Node]] = {}
        for node in members:
            result.setdefault(self.nodes[node].group, []).append(node)
        return [piece for group in result.values() for piece in self._pieces(group)]

    def _unit(self, node: fx.Node) -> int:
        info = self.nodes[node]
        return info.group if self.is_member(node) else -1 - info.index

    def _merge_stages(self, members: list[fx.Node]) -> None:
        """Joins groups between which there is no other way than a direct one."""
        merged = True
        while merged:
            merged = False
            after: dict[int, set[int]] = {}
            pairs = set()
            for node, info in self.nodes.items():
                for operand in node.all_input_nodes:
                    at = self.nodes[operand]
                    a, b = self._unit(operand), self._unit(node)
                    if at.segment == info.segment and a != b:
                        after.setdefault(a, set()).add(b)
                        if a >= 0 and b >= 0 and at.device == info.device:
                            pairs.add((a, b))
            for a, b in sorted(pairs):
                if not _reaches(after, after[a] - {b}, b):
                    for node in members:
                        if self.nodes[node].group == b:
                            self.nodes[node].group = a
                    merged = True
                    break

    def _without_shared(self, members: list[fx.Node]) -> list[fx.Node]:
        """Leaves outside what is element-wise, computed from outside values alone and read by three parts or more: a
        rotary embedding's table belongs to no layer, and the layer that came first would be unlike the others with
        it."""
        for node in members:
            info = self.nodes[node]
            if any(self.is_member(a) for a in node.all_input_nodes):
                continue
            if info.kind == "view":
                info.is_free = True
            elif info.kind != "strong" and len(self._readers(node)) > 2:
                info.kind = None
        return [n for n in members if self.is_member(n)]

    def _readers(self, node: fx.Node) -> set[int]:
        """The parts that read a value, also through views and casts."""
        found: set[int] = set()
        for user in filter(self.is_member, node.users):
            kind = self.nodes[user].kind
            found |= self._readers(user) if kind in ("view", "cast") else {self.nodes[user].group}
        return found

    def _weight(self, node: fx.Node) -> int:
        return self.nodes[node].kind in ("arith", "strong")

    def _pieces(self, group: list[fx.Node]) -> list[list[fx.Node]]:
        """A group in pieces: attention whose mask only the run knows stands alone, with the comparisons that make it."""
        pieces: list[list[fx.Node]] = []
        begin = 0
        for at, node in enumerate(group):
            masks = self._masks_made_for(node, group[begin:at])
            if masks or self._has_outside_mask(node):
                pieces += [*self._cut(group[begin : at - len(masks)]), [*masks, node]]
                begin = at + 1
        return pieces + self._cut(group[begin:])

    def _masks_made_for(self, node: fx.Node, before: list[fx.Node]) -> list[fx.Node]:
        """The comparisons that were brought to an attention, where they are what stands right before it."""
        masks: list[fx.Node] = node.meta.get("mask", [])
        return masks if before[len(before) - len(masks) :] == masks else []

    def _has_outside_mask(self, node: fx.Node) -> bool:
        mask = mask_of(node)
        if not isinstance(mask, fx.Node) or value_of(mask).dtype != torch.bool:
            return False
        return any(not self.is_member(root) for root in self.roots(mask))

    def _cut(self, group: list[fx.Node]) -> list[list[fx.Node]]:
        """A group in pieces of at most max_nodes arithmetic nodes, cut where fewest values cross."""
        pieces, most = [], self.limits.max_nodes
        while sum(map(self._weight, group)) > most:
            best, at, weight = None, len(group), 0
            for position, node in enumerate(group):
                weight += self._weight(node)
                if weight > most:
                    break
                if 2 * weight < most or self.nodes[node].kind == "view":
                    continue
                crossing = self._crossing(group, position + 1)
                if best is None or crossing <= best:
                    best, at = crossing, position + 1
            pieces.append(group[:at])
            group = group[at:]
        return pieces + [group] if group else pieces

    def _crossing(self, group: list[fx.Node], at: int) -> int:
        """How many values a piece that ends here gives to others."""
        piece = set(group[:at])
        return sum(any(user not in piece for user in node.users) for node in group[:at])

    # ------------------------------------------------------------------------------------------------------------ parts

    def make_parts(self) -> list[_Part]:
        parts = []
        for group in self.groups():
            part = self._trimmed(group)
            kinds = [self.nodes[n].kind for n in part.members]
            if not part.outputs or ("strong" not in kinds and kinds.count("arith") < self.limits.min_nodes):
                continue
            self._find_inputs(part)
            if 0 < len(part.inputs) <= 256 and len(part.outputs) <= 256:
                parts.append(part)
                self.part_of.update({n: part for n in part.members})
        return parts

    def _trimmed(self, group: list[fx.Node]) -> _Part:
        """What of a group is needed for the values that leave it. Views do not leave: what they look at does."""
        inside, outputs = set(group), set()

        def leave(node: Any) -> None:
            if node not in inside or node in outputs:
                return
            value = value_of(node)
            of_tuple = node.target is operator.getitem and isinstance(value_of(node.args[0]), (tuple, list))
            if self.nodes[node].kind != "view" or (of_tuple and self.nodes[node.args[0]].kind != "view"):
                if isinstance(value, torch.Tensor):
                    outputs.add(node)
                return
            for operand in node.all_input_nodes:
                leave(operand)

        for node in group:
            if any(user not in inside for user in node.users):
                leave(node)
        live, todo = set(), list(outputs)
        while todo:
            node = todo.pop()
            if node in inside and node not in live:
                live.add(node)
                todo += node.all_input_nodes
        return _Part([n for n in group if n in live], outputs=[n for n in group if n in outputs])

    def _find_inputs(self, part: _Part) -> None:
        """Adds the views that the part takes itself, and finds what they and the members read."""
        inside, taken, inputs = set(part.members), set[fx.Node](), dict[fx.Node, None]()
        segment = self.nodes[part.members[0]].segment

        def is_near(node: fx.Node) -> bool:
            """What no tensor goes into may be made anywhere."""
            return self.nodes[node].segment == segment or all(
                self.nodes[a].is_free and is_near(a) for a in node.all_input_nodes
            )

        def visit(node: fx.Node) -> None:
            for operand in node.all_input_nodes:
                if operand in inside or operand in taken:
                    continue
                info = self.nodes[operand]
                whole = all(
                    isinstance(value_of(a), torch.Tensor) or self.nodes[a].is_free for a in operand.all_input_nodes
                )
                if info.is_free and is_near(operand) and whole:
                    visit(operand)
                    taken.add(operand)
                else:
                    inputs[operand] = None

        for node in part.members:
            visit(node)
        part.members = sorted(inside | taken, key=lambda n: self.nodes[n].index)
        part.inputs = list(inputs)


class _Sets:
    """Union-find."""

    def __init__(self):
        self.parent: dict = {}

    def find(self, x: Any) -> Any:
        while self.parent.setdefault(x, x) is not x:
            self.parent[x] = self.parent[self.parent[x]]
            x = self.parent[x]
        return x

    def union(self, a: Any, b: Any) -> None:
        self.parent[self.find(a)] = self.find(b)

    def find_first(self, node: fx.Node, nodes: dict) -> fx.Node:
        """The first node, in the order of the graph, of the set that this one is in."""
        if not hasattr(self, "first"):
            self.first: dict = {}
            for n in nodes:
                if n in self.parent:
                    self.first.setdefault(self.find(n), n)
        return self.first.get(self.find(node), node)


def _reaches(after: dict[int, set[int]], start: Iterable[int], goal: int) -> bool:
    seen, todo = set(), list(start)
    while todo:
        unit = todo.pop()
        if unit == goal:
            return True
        if unit not in seen:
            seen.add(unit)
            todo += after.get(unit, ())
    return False


# -------------------------------------------------------------------------------------------------------------- writing


def partition(whole: Whole, limits: Limits = Limits()) -> Split:
    """Cuts a specialised graph. A graph without any part comes back as it was."""
    bring_masks(whole.module.graph)
    cutter = _Cutter(whole.module, limits)
    cutter.classify_all()
    parts = cutter.make_parts()
    return _Writer(cutter, parts).write()


class _Writer:
    """Writes the graph that calls the parts: segment by segment, in the order of the graph where dependencies allow
    it."""

    def __init__(self, cutter: _Cutter, parts: list[_Part]):
        self.cutter, self.parts = cutter, parts
        self.made_by = {output: part for part in parts for output in part.outputs}
        self.graph, self.env = fx.Graph(), dict[fx.Node, Any]()
        self.modules: dict[str, fx.GraphModule] = {}

    def write(self) -> Split:
        segments: dict[int, list] = {}
        units: list[Any] = [*self._outside_nodes(), *self.parts]
        for unit in units:
            segments.setdefault(self._key(unit)[0], []).append(unit)
        for segment in sorted(segments):
            self._write_segment(segments[segment])
        source = self.cutter.module
        output = next(n for n in source.graph.nodes if n.op == "output")
        self.graph.output(map_arg(output.args[0], self.env.__getitem__))
        holder = torch.nn.Module()
        for name, module in self.modules.items():
            holder.add_module(name, module)
        for node in self.graph.nodes:
            if node.op in ("get_attr", "call_module") and node.target not in self.modules:
                _copy_attribute(source, holder, node.target)
        return Split(fx.GraphModule(holder, self.graph), self.modules, self.cutter.outside)

    def _key(self, unit: fx.Node | _Part) -> tuple[int, int]:
        info = self.cutter.nodes[unit.members[-1] if isinstance(unit, _Part) else unit]
        return info.segment, info.index

    def _operands(self, unit: fx.Node | _Part) -> list[fx.Node]:
        return unit.inputs if isinstance(unit, _Part) else unit.all_input_nodes

    def _outside_nodes(self) -> list[fx.Node]:
        """Every node that the rest needs: inputs, barriers, and what leads to outputs, barriers and parts."""
        nodes = self.cutter.nodes
        todo = [n for n in nodes if n.op in ("placeholder", "output") or n.meta.get("barrier")]
        todo += [i for part in self.parts for i in part.inputs]
        needed = set()
        while todo:
            node = todo.pop()
            if node in needed or node in self.made_by:
                continue
            needed.add(node)
            todo += node.all_input_nodes
        return [n for n in nodes if n in needed and n.op != "output"]

    def _write_segment(self, units: list) -> None:
        waits, after = dict[int, int](), dict[int, list]()
        own = {id(u) for u in units}
        for unit in units:
            on = {id(self.made_by.get(o, o)) for o in self._operands(unit)} & own
            waits[id(unit)] = len(on)
            for other in on:
                after.setdefault(other, []).append(unit)
        last = max(self._key(u) for u in units)
        ready = [(self._key(u), id(u), u) for u in units if not waits[id(u)]]
        heapq.heapify(ready)
        written = 0
        while ready:
            _, _, unit = heapq.heappop(ready)
            self._write(unit)
            written += 1
            for other in after.get(id(unit), ()):
                waits[id(other)] -= 1
                if not waits[id(other)]:
                    heapq.heappush(ready, (self._key(other), id(other), other))
        assert written == len(units), f"parts that wait for each other before {last}"

    def _write(self, unit: fx.Node | _Part) -> None:
        if not isinstance(unit, _Part):
            self.env[unit] = self.graph.node_copy(unit, self.env.__getitem__)
            return
        name = f"part_{len(self.modules)}"
        self.modules[name] = _part_module(self.cutter, unit)
        call = self.graph.call_module(name, tuple(self.env[i] for i in unit.inputs))
        for i, output in enumerate(unit.outputs):
            value = self.env[output] = self.graph.call_function(operator.getitem, (call, i))
            value.meta = dict(output.meta)


def _copy_attribute(source: torch.nn.Module, holder: torch.nn.Module, target: str) -> None:
    value: Any = source
    *path, last = target.split(".")
    for name in path:
        value = getattr(value, name)
        if not hasattr(holder, name):
            holder.add_module(name, torch.nn.Module())
        holder = getattr(holder, name)
    value = getattr(value, last)
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
        holder.register_buffer(last, value)
    else:
        setattr(holder, last, value)


def _part_module(cutter: _Cutter, part: _Part) -> fx.GraphModule:
    """A part as a module: tensors in, a tuple of tensors out. Nodes keep their fake values and have meta "kind"."""
    graph, env = fx.Graph(), {}
    for i, node in enumerate(part.inputs):
        env[node] = graph.placeholder(f"x{i}")
        env[node].meta = {"val": value_of(node)}
    for node in part.members:
        env[node] = graph.node_copy(node, env.__getitem__)
        env[node].meta["kind"] = cutter.nodes[node].kind
    graph.output(tuple(env[n] for n in part.outputs))
    return fx.GraphModule(torch.nn.Module(), graph)
