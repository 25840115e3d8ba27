"""µGraphs: what a search returns, can be called, printed, saved, drawn."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Sequence

from . import _frameworks, _mirage
from ._mirage import MirageError

if TYPE_CHECKING:
    from ._draw import Drawing


@dataclass(frozen=True)
class Proof:
    """Why a µGraph computes its program (lib/verify/README.md).

    log2_bound:        a wrong graph would have passed with a probability of at most 2 to this.
    trials:            random points of finite fields at which both agreed.
    transferred:       proven on a smaller instance, from which a theorem leads to full size; False: at full size.
    axes, points:      of that instance: axes that are smaller, points of one at most.
    pieces:            proven one after the other; 0 = as a whole.
    free_exponentials: by the theorem in which an exponential is any function with exp(a + b) = exp(a) exp(b).
    seed, prime_bits:  of the points, and of the fields.
    """

    log2_bound: float
    trials: int
    transferred: bool
    axes: int
    points: int
    pieces: int
    free_exponentials: bool
    seed: str
    prime_bits: int


@dataclass(frozen=True)
class Guard:
    """Rounding errors beside the program's own, in real types, against float64: Frobenius-relative, and largest absolute."""

    program_relative: float | None
    candidate_relative: float | None
    program_max: float | None
    candidate_max: float | None


@dataclass(frozen=True)
class Cost:
    """time_us: predicted for `target`, cold; bytes, flops: of device memory and of arithmetic; kernels: launches.
    measured_us, measured_spread: median on the GPU with a cold L2 cache and (p90 - p10) of it; None where nobody measured."""

    time_us: float
    bytes: float
    flops: float
    kernels: int
    target: str
    measured_us: float | None = None
    measured_spread: float | None = None


class UGraph(_mirage.Caller):
    """A µGraph that was proven equal to its program, or the program's own lowering. Called on tensors, it computes it.

    graph(*tensors, out=None, stream=None) takes one tensor an input, on one device: PyTorch, CuPy, NumPy, anything with
    DLPack. It gives a tensor, or a tuple where there are several outputs; no gradient passes through it. On a GPU it launches
    on the caller's current stream and returns at once; it may be captured in a CUDA graph (after one call outside of it), and
    its code then stays loaded to the end of the process. In host memory the graph is evaluated. Wrong shapes, dtypes, devices
    and strides are exceptions that name the argument.

    out:    tensor(s) to write to, which share no memory with the inputs. Omitted: new ones.
    stream: address of a CUDA stream. Omitted: the framework's current one.
    """

    def __init__(self, text: str, described: dict, program: dict, note: dict):
        self._text, self._described, self._program_described, self._note = text, described, program, note
        self._program: Any = None
        self._lock = threading.Lock()

    # ---------------------------------------------------------------------------------------------------------- what it is

    @property
    def name(self) -> str:
        """Its symbol."""
        return self._described["name"]

    @property
    def source(self) -> str | None:
        """The symbol of the program that it computes."""
        return self._described["source"]

    @property
    def is_own_lowering(self) -> bool:
        """Whether it is the program as written, one kernel an operator: what every candidate has to beat."""
        # mirage-select chooses nothing unproven, so that what is chosen without a proof is what mirage-lower made.
        return self._described["proof"] is None and self._described["source"] is not None and self._described["selected"]

    @property
    def proof(self) -> Proof | None:
        """None for the program's own lowering."""
        return Proof(**self._described["proof"]) if self._described["proof"] else None

    @property
    def guard(self) -> Guard | None:
        return Guard(**self._described["guard"]) if self._described["guard"] else None

    @property
    def cost(self) -> Cost | None:
        return Cost(**self._described["cost"]) if self._described["cost"] else None

    @property
    def inputs(self) -> list[tuple[str, tuple[int, ...]]]:
        """(dtype, dims) of each tensor that a call takes."""
        result = []
        for item, perm in zip(self._described["inputs"], self._perms()):
            dims = tuple(item["dims"])
            if perm:
                dims = tuple(dims[perm.index(d)] for d in range(len(dims)))
            result.append((item["dtype"], dims))
        return result

    @property
    def outputs(self) -> list[tuple[str, tuple[int, ...]]]:
        """(dtype, dims) of each tensor that a call gives."""
        return [(item["dtype"], tuple(item["dims"])) for item in self._described["outputs"]]

    @property
    def ptx(self) -> str:
        """The kernels' code. Compiled when it is first asked for. MirageError with the reason where that cannot be."""
        return self._compiled()["ptx"]

    @property
    def mlir(self) -> str:
        """The program and this µGraph as one MLIR module, with its code once it is compiled."""
        return self._text

    @property
    def description(self) -> dict:
        """The graph as nested dictionaries: nodes with operators, types and attributes (python-bindings/src/describe.c)."""
        return self._described

    @property
    def program_description(self) -> dict:
        """The same of the program that it computes."""
        return self._program_described

    # --------------------------------------------------------------------------------------------------------- what it does

    def emulate(self, *tensors: Any) -> Any:
        """Runs the generated kernels on the emulator (host tensors), checking every access. Slow: some 1e7 elements a second."""
        self._compiled()
        return self._callable().call(tensors, None, None, True)

    def time(self, *tensors: Any, sets: Sequence[tuple] | None = None) -> dict[str, float]:
        """Times calls on tensors on a GPU as replays of CUDA graphs: medians in microseconds and (p90 - p10) / median.

        sets: tuples of tensors over which cold calls rotate: together several times the L2 cache. Omitted: these tensors
        alone, which are in the cache where they fit.
        """
        cold, cold_spread, warm, warm_spread = self._callable().time([tuple(s) for s in sets or [tensors]])
        return {"cold_us": cold, "cold_spread": cold_spread, "warm_us": warm, "warm_spread": warm_spread}

    def save(self, path: str | os.PathLike) -> None:
        """Writes the module, compiled; mirage_mlir.load and mirage-run read it. The file is whole, or as it was."""
        self._compiled()
        path = os.fspath(path)
        beside = f"{path}.{os.getpid()}.part"
        try:
            with open(beside, "w", encoding="utf-8") as file:
                file.write(self._text)
            os.replace(beside, path)
        except BaseException as error:
            if os.path.exists(beside):
                os.unlink(beside)
            if isinstance(error, OSError):
                raise type(error)(error.errno, error.strerror, path) from None
            raise

    def visualize(self) -> Drawing:
        """The µGraph as a drawing of nested kernels, blocks, loops: shown in notebooks; `.svg` is its text."""
        from ._draw import Drawing
        return Drawing.of(self)

    # ----------------------------------------------------------------------------------------------------------- underneath

    def _names(self) -> tuple[str, ...]:
        return tuple(self._note.get("names") or ("",) * len(self._described["inputs"]))

    def _perms(self) -> list:
        return self._note.get("perms") or [None] * len(self._described["inputs"])

    def _compiled(self) -> dict:
        with self._lock:
            if self._described["ptx"] is None:
                self._compile()
        return self._described

    def _compile(self) -> None:
        if self._described["source"] is None:
            raise MirageError(f"@{self.name}: a program has no code: superoptimize compiles it")
        target = (self._described["cost"] or {}).get("target") or "h200"
        # mirage-lower compiles what is selected, and nothing else.
        text = self._text if self._described["selected"] else self._text.replace("source = @", "selected, source = @", 1)
        ok, lowered, messages, _ = _mirage.run(text, f"builtin.module(mirage-lower{{target={target}}})")
        if not ok:
            raise MirageError("\n".join(m for severity, _, _, m in messages if severity == "error"))
        graphs = json.loads(_mirage.describe(lowered))["graphs"]
        mine = next((g for g in graphs if g["name"] == self.name and g["ptx"]), None)
        if mine is None:
            raise MirageError("\n".join(m for severity, _, _, m in messages if severity in ("error", "warning"))
                              or f"@{self.name}: not compiled")
        self._described, self._text = mine, module_text(self._note, self._program_described, mine)

    def _callable(self):
        if self._program is None:
            if self._described["ptx"] is None and self._described["source"] is not None:
                self._compiled()
            with self._lock:
                if self._program is None:
                    self._program = _mirage.Program(self._text, self.name, self._names(), _frameworks, self._perms())
                    self._bind(self._program)
        return self._program

    def __reduce__(self):
        return _restore, (self._text, self.name)

    def __repr__(self) -> str:
        cost = self.cost
        took = (f"{cost.measured_us:.2f} us measured" if cost and cost.measured_us else
                f"{cost.time_us:.2f} us predicted" if cost else "no cost")
        kernels = f", {cost.kernels} kernel{'s' * (cost.kernels != 1)}" if cost else ""
        proof = self.proof
        how = f", proven to 2^{proof.log2_bound:.1f}" if proof else ", own lowering" if self.is_own_lowering else ", unproven" if self.source else ""
        return f"<UGraph {self.name}: {took}{kernels}{how}>"


def module_text(note: dict, *graphs: dict) -> str:
    """A module of these graphs and their code."""
    head = "module {\n"
    if note:
        quoted = json.dumps(note).replace("\\", "\\\\").replace('"', "\\22")
        head = f'module attributes {{mirage.python = "{quoted}"}} {{\n'
    parts = []
    for graph in graphs:
        parts.append(graph["text"])
        if graph.get("binary"):
            parts.append(graph["binary"])
    return head + "\n".join(parts) + "\n}\n"


def ugraphs_of(text: str) -> list[UGraph]:
    """Every µGraph of a module: those with a source, in textual order; a module without any gives its programs."""
    whole = json.loads(_mirage.describe(text))
    return ugraphs_from(whole["graphs"], json.loads(whole.get("python", "{}")))


def ugraphs_from(graphs: list[dict], note: dict) -> list[UGraph]:
    """The same of a description, with what Graph wrote at the module."""
    programs = {g["name"]: g for g in graphs if g["source"] is None}
    found = []
    for graph in graphs:
        program = programs.get(graph["source"])
        if program is not None:
            found.append(UGraph(module_text(note, program, graph), graph, program, note))
    return found or [UGraph(module_text(note, g), g, g, note) for g in programs.values()]


def _restore(text: str, name: str) -> UGraph:
    return next(g for g in ugraphs_of(text) if g.name == name)
