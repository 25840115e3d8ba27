"""Searches as values: what is to be done, what came of it, and results that were kept from another time.

A Job is a program under a stand-in for its name. What a search of it gives, an Outcome, so holds for every program of
the same structure: it is kept in the tuning database, is computed by other processes, and gets the names of whoever
asks. Both are plain values that can be pickled.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Literal, Union

from . import _mirage
from ._mirage import MirageError
from ._options import SearchOptions
from ._ugraph import UGraph, module_text, ugraphs_from

logger = logging.getLogger("mirage_mlir")

STAND_IN = "mirage_stand_in"
_SYMBOL = re.compile(r"(mirage_kernel\.graph\s+@)([A-Za-z_]\w*)\b")

Message = tuple[str, int, int, str]


@dataclass(frozen=True)
class Outcome:
    """What a pipeline gave, under the job's names.

    funnel: what the search said at its end; empty without one.
    gpu:    name and driver of the one by which a worker chose; None where nobody looked.
    """

    ok: bool
    text: str
    messages: list[Message]
    funnel: dict[str, Any]
    interrupted: bool
    gpu: tuple[str, int] | None = None


@dataclass(frozen=True)
class Job:
    """A program to be searched.

    text:     the module, its program under STAND_IN; or as it is, where that is not possible.
    name:     the program's own name.
    key:      hash of its structure; None where the module holds more than one program, whose results are not shared.
    program:  its description (_mirage.describe), and `note`, what Graph wrote at the module.
    """

    text: str
    name: str
    key: str | None
    options: SearchOptions
    program: dict[str, Any] = field(repr=False)
    note: dict[str, Any] = field(repr=False)

    @staticmethod
    def of(text: str, options: SearchOptions) -> "Job":
        """MirageError with the place of a mistake in `text`."""
        renamed = _SYMBOL.sub(rf"\1{STAND_IN}", text, count=1) if STAND_IN not in text else text
        name, key, whole = _look_at(text, renamed)
        if key is None:
            renamed = text
        graphs = whole["graphs"]
        return Job(renamed, name, key, options, graphs[0] if graphs else {}, json.loads(whole.get("python", "{}")))

    @property
    def num_programs(self) -> int:
        return 1 if self.key else sum(g["source"] is None for g in json.loads(_mirage.describe(self.text))["graphs"])

    def own_text(self, text: str) -> str:
        """A text of the outcome's with this program's name."""
        return text.replace(STAND_IN, self.name) if self.key else text


def _look_at(text: str, renamed: str) -> tuple[str, str | None, dict[str, Any]]:
    """(the program's name, its hash or None, the description of `renamed`, or of `text` where it cannot be renamed)."""
    try:
        whole = json.loads(_mirage.describe(renamed))
    except MirageError:
        whole = {"graphs": []}
    match = _SYMBOL.search(text)
    if match and len(whole["graphs"]) == 1 and whole["graphs"][0]["name"] == STAND_IN:
        return match.group(2), whole["graphs"][0]["hash"], whole
    whole = json.loads(_mirage.describe(text))  # its errors are of the caller's text
    return (whole["graphs"][0]["name"] if whole["graphs"] else ""), None, whole


# --------------------------------------------------------------------------------------------------------- being done


def run(text: str, pipeline: str, reporter: Callable[[str], Any] | None = None) -> Outcome:
    """Runs a pipeline. A pure function of its two texts, unless the pipeline measures: what workers are sent."""
    use_own_worker()
    found: dict[str, dict[str, Any]] = {}

    def listen(event: str) -> None:
        if '"event":"search"' in event.replace(" ", ""):
            said = json.loads(event)
            found[said["program"]] = said
        if reporter:
            reporter(event)

    ok, compiled, messages, interrupted = _mirage.run(text, pipeline, listen)
    return Outcome(ok, compiled, messages, next(iter(found.values()), {}), interrupted)


def attempt(text: str, pipeline: str, number: int) -> Outcome:
    """run, as workers are sent it. `number` tells attempts apart for executors that remember pure functions."""
    outcome = run(text, pipeline)
    return replace(outcome, gpu=device()) if "mirage-select" in pipeline else outcome


def joined(first: Outcome, second: Outcome) -> Outcome:
    """Of a pipeline in two halves."""
    return Outcome(second.ok, second.text, first.messages + second.messages, first.funnel,
                   first.interrupted or second.interrupted, second.gpu)


_worker_is_set = False


def use_own_worker() -> None:
    """Measurements run in processes of this interpreter."""
    global _worker_is_set
    if not _worker_is_set:
        _worker_is_set = True
        _mirage.set_measure_command([sys.executable, "-m", "mirage_mlir._tune"])


def error_of(outcome: Outcome) -> MirageError:
    parts = [f"line {line}, column {column}: {text}" if line else text
             for severity, line, column, text in outcome.messages if severity == "error"]
    return MirageError("\n".join(parts) or "the pipeline failed without a message")


# -------------------------------------------------------------------------------------------------- the µGraphs of it


def graphs_of(job: Job, outcome: Outcome) -> list[UGraph]:
    """The µGraphs of the job's own outcome, or of one of a program with the same structure, with the job's names.

    MirageError where a proof was made for other graphs than these.
    """
    graphs = json.loads(_mirage.describe(outcome.text))["graphs"]
    if not graphs:
        raise MirageError("the module holds no graph")
    if job.key and (graphs[0]["nodes"], graphs[0]["arguments"]) != (job.program["nodes"], job.program["arguments"]):
        graphs = _moved(job, graphs[1:])
    if any(g["holds"] is False for g in graphs):
        raise MirageError("a proof was made for other graphs than those beside it")
    named = json.loads(job.own_text(json.dumps(graphs)))
    found = ugraphs_from(named, job.note)
    # An interrupt may leave candidates behind that nobody has proven; what is selected without a proof is the own lowering.
    return [g for g in found if g.source is not None and (g.proof is not None or g.description["selected"])]


def _moved(job: Job, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Candidates beside the job's program, which is written in another way than the one they were searched for."""
    return json.loads(_mirage.describe(module_text({}, job.program, *found)))["graphs"]


# ------------------------------------------------------------------------------------------------------- kept results


def measuring(options: SearchOptions) -> str:
    """`measure`, after the environment's MIRAGE_MEASURE."""
    said = os.environ.get("MIRAGE_MEASURE")
    return said if options.measure == "auto" and said in ("yes", "no") else options.measure


def device() -> tuple[str, int]:
    """The GPU that is here, and its driver; ("", 0) without one."""
    try:
        device = _mirage.device(0)
    except MirageError:
        return "", 0
    return device["name"], device["driver"]


_IRRELEVANT = ("num_threads", "checkpoint", "target")  # the result is the same


def _key(job: Job, cut: bool = False) -> tuple[str, str, str, str, int]:
    """cut: of what a search had found when its time was over, which is no complete one's result."""
    values = {k: v for k, v in vars(job.options).items() if k not in _IRRELEVANT}
    if cut:
        values["cut"] = True
    values["measure"] = measuring(job.options)
    gpu, driver = _chosen_on(job)
    return job.key or "", job.options.target or "", json.dumps(values, sort_keys=True, default=list), gpu, driver


def _chosen_on(job: Job) -> tuple[str, int]:
    """The GPU by which a search here chooses, and its driver; ("", 0) where the model alone does."""
    return ("", 0) if measuring(job.options) == "no" else device()


def may_keep(job: Job) -> bool:
    """Whether results of this job are looked up and kept: not where the environment's MIRAGE_CACHE is `no`."""
    return job.key is not None and os.environ.get("MIRAGE_CACHE") != "no"


_said: set[str] = set()


def _warn_once(trouble: str | None) -> None:
    if trouble and trouble not in _said:
        _said.add(trouble)
        logger.warning("%s; going on without it", trouble)


Cache = Union[bool, Literal["always"]]


def find(job: Job, cache: Cache = True) -> Outcome | None:
    """What was kept of an equal job: checked, or nothing."""
    if not cache or not may_keep(job) or job.options.checkpoint:
        return None
    return _find(job, _key(job)) or (_find(job, _key(job, cut=True)) if cache == "always" else None)


def _find(job: Job, key: tuple[str, str, str, str, int]) -> Outcome | None:
    text, trouble = _mirage.cache_find(*key)
    _warn_once(trouble)
    if text is None:
        return None
    try:
        kept = json.loads(text)
        outcome = Outcome(True, kept["text"], [tuple(m) for m in kept["messages"]], kept["funnel"], False)
        if graphs_of(job, outcome):
            return outcome
    except (ValueError, LookupError, TypeError) as error:  # MirageError is a ValueError
        _warn_once(f"tuning database: the result that is kept for {job.name} cannot be used: {error}")
    return None


def keep(job: Job, outcome: Outcome, cache: Cache = True) -> None:
    """Keeps an outcome that the next would be like: of a search that came to its end, measured where that was meant. With
    "always" also of one that its time budget ended."""
    by_the_way = any(kind == "warning" and "the cost model decides" in text for kind, _, _, text in outcome.messages)
    stopped = outcome.funnel.get("stopped")
    out_of_time = stopped == "time-budget" and cache == "always"
    cut_short = stopped in ("time-budget", "interrupt", "memory") and not out_of_time
    elsewhere = outcome.gpu is not None and outcome.gpu != _chosen_on(job)  # its tuning database knows
    if not cache or not may_keep(job) or not outcome.ok or outcome.interrupted or by_the_way or cut_short or elsewhere:
        return
    text = json.dumps({"text": outcome.text, "messages": outcome.messages, "funnel": outcome.funnel})
    _warn_once(_mirage.cache_store(*_key(job, out_of_time), text))
