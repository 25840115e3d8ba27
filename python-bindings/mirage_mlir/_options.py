"""What a search is asked for: SearchOptions, and the pass pipeline that it becomes."""

from __future__ import annotations

import dataclasses
import difflib
import os
from dataclasses import dataclass, field
from typing import Any, Literal, Sequence

from . import _mirage

Dims = Sequence[int]


@dataclass(frozen=True)
class SearchOptions:
    """Options of mirage-superoptimize, with its defaults. None means: as the compiler decides from shapes and target.

    target:            GPU to compile for: "h200", "a100", "rtx4090", ..., "sm_90a". None: the GPU that is there, else h200.
    max_block_ops:     operators of a block graph, 1 to 64; loads count, stores do not, an element-wise chain is one.
    max_loops:         loops of a block graph, one after the other, 1 to 3.
    max_candidates:    candidates kept, best predicted first.
    max_states:        prefixes after which a search stops; 0 = by max_block_ops.
    optimal:           leave out nothing by judgement, and say whether the space was exhausted.
    time_budget:       seconds after which a search ends with what it has found; 0 = none.
    griddims:          grids that are allowed: 64 allows 64 blocks along any axis, (16, 4) that grid.
    blockdims:         threads of a block that are allowed.
    imaps, omaps:      maps of inputs and outputs that are allowed: (0, -1, 1) = what grid x, y, z split; -1 = nothing.
    fmaps:             dimensions of inputs that a loop may split; -1 = none.
    franges:           loop ranges that are allowed.
    seed:              of everything random; the same seed gives the same result at any thread count.
    num_threads:       0 = one a core.
    log2_bound:        a wrong graph passes the proof with a probability of at most 2 to this.
    measure:           time candidates on the GPU: "auto" where there is one for the target, "yes", "no".
    measure_candidates: how many.
    measure_schedules: other schedules of the fastest of them that are timed as well.
    measure_timeout:   seconds after which a kernel that is timed counts as hanging.
    opt_level:         LLVM's, 0 to 3.
    tensor_maps:       kernels may use tensor and bulk copies.
    checkpoint:        file from which a search goes on where it was stopped.
    """

    target: str | None = None
    max_block_ops: int = 11
    max_loops: int = 3
    max_candidates: int = 16
    max_states: int = 0
    optimal: bool = False
    time_budget: float = 0.0
    griddims: Sequence[int | Dims] = ()
    blockdims: Sequence[int] = ()
    imaps: Sequence[Dims] = ()
    omaps: Sequence[Dims] = ()
    fmaps: Sequence[int] = ()
    franges: Sequence[int] = ()
    seed: int = 1
    num_threads: int = 0
    log2_bound: float = -60.0
    measure: Literal["auto", "yes", "no"] = "auto"
    measure_candidates: int = 12
    measure_schedules: int = 4
    measure_timeout: float = 10.0
    opt_level: int = 3
    tensor_maps: bool = True
    checkpoint: str | os.PathLike | None = None

    def __post_init__(self) -> None:
        for item in dataclasses.fields(self):
            value, default = getattr(self, item.name), item.default
            fits = (isinstance(value, bool) if isinstance(default, bool) else
                    isinstance(value, int) and not isinstance(value, bool) if isinstance(default, int) else
                    isinstance(value, (int, float)) and not isinstance(value, bool) if isinstance(default, float) else True)
            if not fits:
                wanted = {bool: "True or False", int: "an integer", float: "a number"}[type(default)]
                raise TypeError(f"search option {item.name}: expected {wanted}, got {value!r}")

    def replace(self, **changes: Any) -> "SearchOptions":
        """These options with some changed. TypeError, with the nearest name, for an option that does not exist.

        >>> SearchOptions().replace(max_block_opps=9)
        Traceback (most recent call last):
        TypeError: no search option 'max_block_opps': did you mean 'max_block_ops'?
        """
        names = [f.name for f in dataclasses.fields(self)]
        for name in changes:
            if name not in names:
                near = difflib.get_close_matches(name, names, 1)
                raise TypeError(f"no search option '{name}'" + (f": did you mean '{near[0]}'?" if near else
                                                                f"; there are {', '.join(names)}"))
        return dataclasses.replace(self, **changes)

    def resolved(self) -> "SearchOptions":
        """With the target named."""
        return self if self.target else dataclasses.replace(self, target=default_target())

    def pipeline(self, keep: str = "all") -> str:
        """The pass pipeline, as mirage-mlir-opt takes it."""
        return f"builtin.module(mirage-superoptimize{_braces(self._pairs(keep))})"

    def halves(self, keep: str = "all") -> tuple[str, str]:
        """The same in two: what needs no GPU and is the same everywhere, and what chooses, by measuring, and compiles.

        >>> SearchOptions(target="a100", measure="yes", opt_level=2).halves()[1]
        'builtin.module(mirage-select{keep=all target=a100 measure=yes},mirage-lower{target=a100 opt-level=2})'
        """
        pairs = self._pairs(keep)
        passes = [f"mirage-{name}{_braces({k: v for k, v in pairs.items() if k in options})}"
                  for name, options in _PASSES.items()]
        return f"builtin.module({','.join(passes[:4])})", f"builtin.module({','.join(passes[4:])})"

    def _pairs(self, keep: str) -> dict[str, str]:
        pairs = {"keep": keep, "json": "true", "progress": "json"}
        for item in dataclasses.fields(self):
            value = getattr(self, item.name)
            if value is None or (value == item.default and item.name != "target"):
                continue
            text = _text(item.name, value)
            if text:
                pairs[item.name.replace("_", "-")] = text
        return pairs


# Which options each pass takes, of those above (passes/pass_table.c). The passes are in their order; the GPU is needed
# from the fifth on.
_SPACE = ("max-block-ops", "max-loops", "max-candidates", "max-states", "optimal", "time-budget", "checkpoint",
          "griddims", "blockdims", "imaps", "omaps", "fmaps", "franges")
_PASSES = {
    "enumerate": ("target", "tensor-maps", "seed", "num-threads", "json", "progress") + _SPACE,
    "prune": ("target", "tensor-maps"),
    "verify": ("seed", "log2-bound", "num-threads", "progress"),
    "layout": ("target", "tensor-maps"),
    "select": ("target", "keep", "log2-bound", "seed", "measure", "measure-candidates", "measure-schedules",
               "measure-timeout"),
    "lower": ("target", "tensor-maps", "opt-level", "num-threads"),
}


def _braces(pairs: dict[str, str]) -> str:
    return "{" + " ".join(f"{k}={v}" for k, v in pairs.items()) + "}" if pairs else ""


_MAPS = ("imaps", "omaps")


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        if any(c in text for c in " {}'\"\n"):
            raise ValueError(f"{name}: {text!r}: blanks, braces and quotes are not possible here")
        return text
    if isinstance(value, (int, float)):
        return repr(value)
    joint = ":" if name in _MAPS else "x"
    return ",".join(str(v) if isinstance(v, int) else joint.join(str(int(d)) for d in v) for v in value)


def default_target() -> str:
    """The name of the GPU that is there, or "h200" where there is none that is known."""
    try:
        device = _mirage.device(0)
    except _mirage.MirageError:
        return "h200"
    label = device["name"].lower().replace(" ", "")
    fitting = [name for name, _, compute in _mirage.targets() if compute == device["compute"]]
    for name in fitting:
        if name in label:
            return name
    return fitting[0] if fitting else "h200"
