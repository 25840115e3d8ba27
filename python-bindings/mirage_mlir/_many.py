"""superoptimize_many: many programs, on any executor.

What a worker is sent is two texts, a module and a pipeline; what it sends back is text, messages and counts
(_jobs.attempt). Nothing that it has on disk enters. So the results are those of one machine, whichever worker did what
and however often.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import threading
from concurrent.futures import (FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor,
                                ThreadPoolExecutor, wait)
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Sequence

from . import _jobs, _mirage
from ._jobs import Cache, Job, Outcome
from ._options import SearchOptions
from ._progress import Progress, _is_interactive
from ._search import Program, Result, check_one_program, program_text, result_of

logger = logging.getLogger("mirage_mlir")

ATTEMPTS = 3  # at a task whose worker was lost


class SearchErrors(ExceptionGroup):
    """Some of many programs failed: `exceptions` says why, each with a note which.

    `results` has a Result, or None where there is none, for every program, in order."""

    results: Sequence[Result | None]

    def __new__(cls, message: str, errors: Sequence[Exception],
                results: Sequence[Result | None] = ()) -> "SearchErrors":
        self = super().__new__(cls, message, errors)
        self.results = results
        return self

    def derive(self, errors: Sequence[Any]) -> Any:
        return SearchErrors(self.message, errors, self.results)


def superoptimize_many(graphs: Iterable[Program], options: SearchOptions | None = None, *, executor: Any = None,
                       measure_executor: Any = None, progress: Progress = None, cache: Cache = True,
                       return_exceptions: bool = False, **overrides: Any) -> list[Any]:
    """superoptimize for each of many programs. Programs of the same structure are searched once.

    graphs:           Graphs, or MLIR texts with one program each.
    options:          SearchOptions for all; `overrides` are fields of it. On an executor, num_threads=0 means one.
    executor:         where to search: any concurrent.futures.Executor, of threads or processes, or a Dask client. It
                      stays the caller's. None: here, one after the other, on all cores.
    measure_executor: where to measure, if `measure` asks for it: an executor whose workers have a GPU, one worker a
                      GPU. None: in this process, one after the other, while the search goes on elsewhere.
    progress:         None: a bar on terminals and in notebooks; True, False; or a function of
                      {"event": "many", "done", "total", "program", "error"}, called as each program is done.
    cache:            as of superoptimize, in this process's tuning database. What was chosen on another kind of GPU
                      than the one here is not kept in it.
    return_exceptions: gives an exception in its program's place, as asyncio.gather does.
    Returns:          a Result for each program, in order: those of one machine, whichever worker did what.
    Errors:           SearchErrors, an ExceptionGroup, when all the others are done; it has their results. ValueError for
                      a checkpoint, which is of one program.
    Lost workers:     a task whose worker died is done again, up to three times in all. A process pool then is broken:
                      its tasks go on in processes of this call's own, each alone, so that one that kills its worker
                      fails alone.
    Ctrl-C:           cancels what waits, ends what runs here, and raises KeyboardInterrupt.

    >>> from mirage_mlir import new_graph
    >>> graphs = []
    >>> for rows in (8, 16):
    ...     g = new_graph(f"rows_{rows}"); x = g.new_input((rows, 64)); g.mark_output(g.exp(x)); graphs.append(g)
    >>> with ThreadPoolExecutor(2) as pool:
    ...     [r.program for r in superoptimize_many(graphs, executor=pool, measure="no", progress=False)]
    ['rows_8', 'rows_16']
    """
    options = (options or SearchOptions()).replace(**overrides).resolved()
    if options.checkpoint:
        raise ValueError("checkpoint: one file cannot hold the searches of many programs: superoptimize takes it")
    show = _Show(progress)
    entries: list[Any] = [_entry(program, options) for program in graphs]
    work = _Work(entries, _executor_of(executor), _executor_of(measure_executor), cache, show)
    try:
        work.run()
    finally:
        show.close()
    return _handed_over(work, return_exceptions)


def _entry(program: Program, options: SearchOptions) -> Any:
    """A Job, or the exception that it is."""
    try:
        job = Job.of(program_text(program), options)
        check_one_program(job)
        return job
    except (ValueError, TypeError) as error:
        return error


def _handed_over(work: "_Work", return_exceptions: bool) -> list[Any]:
    failed = [(i, value) for i, value in enumerate(work.results) if isinstance(value, Exception)]
    if not failed or return_exceptions:
        return work.results
    for i, error in failed:
        name = f" (@{work.entries[i].name})" if isinstance(work.entries[i], Job) else ""
        error.add_note(f"program {i} of {len(work.results)}{name}")
    raise SearchErrors(f"{len(failed)} of {len(work.results)} programs failed", [error for _, error in failed],
                       [None if isinstance(value, Exception) else value for value in work.results])


# ----------------------------------------------------------------------------------------------------------- the work


@dataclass
class _Task:
    """A program to search, for all entries of its structure."""

    job: Job
    indices: list[int]
    pipelines: list[str]  # the second is for where the GPU is
    outcome: Outcome | None = None  # of the first
    attempts: int = 0


class _Work:
    """Entries on their way to results."""

    def __init__(self, entries: list[Any], executor: Executor | None, measure_executor: Executor | None, cache: Cache,
                 show: "_Show"):
        self.entries, self.cache, self.show = entries, cache, show
        self.results: list[Any] = [None if isinstance(e, Job) else e for e in entries]
        self.search = _Place(executor) if executor else None
        self.measure = _Place(measure_executor) if measure_executor else None
        self.running: dict[Future[Outcome], tuple[_Task, _Place]] = {}

    def run(self) -> None:
        groups: dict[Any, list[int]] = {}
        for i, entry in enumerate(self.entries):
            if isinstance(entry, Job):
                groups.setdefault(entry.key or i, []).append(i)
        self.show.total = len(self.entries)
        for i, entry in enumerate(self.entries):
            if not isinstance(entry, Job):
                self.show.tell("", entry)
        try:
            for indices in groups.values():
                self._begin(self.entries[indices[0]], indices)
            while self.running:
                for future in wait(self.running, return_when=FIRST_COMPLETED).done:
                    task, place = self.running.pop(future)
                    self._harvest(task, place, future)
        except BaseException as error:
            for future in self.running:
                future.cancel()
            if isinstance(error, KeyboardInterrupt):  # ends what threads of this process search
                _mirage.interrupt()
            raise
        finally:
            for used in (self.search, self.measure):
                if used:
                    used.close()

    def _begin(self, job: Job, indices: list[int]) -> None:
        outcome = _jobs.find(job, self.cache)
        if outcome is not None:
            self._finish(_Task(job, indices, []), outcome, cached=True)
        elif self.search is None:
            whole = [job.options.pipeline()]
            task = _Task(job, indices, list(job.options.halves()) if self._measures_elsewhere(job) else whole)
            self._advance(task, _jobs.run(job.text, task.pipelines[0]))
        else:
            self._submit(_Task(job, indices, self._pipelines(job)), self.search)

    def _measures_elsewhere(self, job: Job) -> bool:
        return self.measure is not None and _jobs.measuring(job.options) != "no"

    def _pipelines(self, job: Job) -> list[str]:
        options = job.options
        if options.num_threads == 0:
            options = options.replace(num_threads=1)
        mode = _jobs.measuring(options)
        asks = mode == "yes" or self._measures_elsewhere(job) or (
            mode == "auto" and (_has_gpu() or _mirage.measured(job.key or "-", options.target or "")))
        return list(options.halves()) if asks else [options.replace(measure="no").pipeline()]

    def _submit(self, task: _Task, place: "_Place") -> None:
        text, pipeline = ((task.job.text, task.pipelines[0]) if task.outcome is None else
                          (task.outcome.text, task.pipelines[1]))
        task.attempts += 1
        self.running[place.submit(_jobs.attempt, text, pipeline, task.attempts)] = task, place

    def _harvest(self, task: _Task, place: "_Place", future: "Future[Outcome]") -> None:
        error = CancelledError() if future.cancelled() else future.exception()
        if error is None:
            self._advance(task, future.result())
        elif _is_loss(error) and task.attempts < ATTEMPTS:
            logger.warning("@%s: its worker was lost (%s); attempt %d of %d", task.job.name, type(error).__name__,
                           task.attempts + 1, ATTEMPTS)
            place.note_loss(error)
            self._submit(task, place)
        else:
            if isinstance(error, KeyboardInterrupt):
                raise error
            place.note_loss(error)
            self._fail(task, error if isinstance(error, Exception) else RuntimeError(repr(error)))

    def _advance(self, task: _Task, outcome: Outcome) -> None:
        if task.outcome is not None:
            self._finish(task, _jobs.joined(task.outcome, outcome))
        elif len(task.pipelines) == 1 or not outcome.ok:
            self._finish(task, outcome)
        else:
            task.outcome, task.attempts = outcome, 0
            if self.measure:
                self._submit(task, self.measure)
            else:
                self._finish(task, _jobs.joined(outcome, _jobs.run(outcome.text, task.pipelines[1])))

    def _finish(self, task: _Task, outcome: Outcome, cached: bool = False) -> None:
        if outcome.interrupted:
            raise KeyboardInterrupt
        if not cached:
            _jobs.keep(task.job, outcome, self.cache)
        for i in task.indices:
            job = self.entries[i]
            try:
                self.results[i] = result_of(job, outcome, cached)
            except ValueError as error:  # MirageError
                self.results[i] = error
            self.show.tell(job.name, self.results[i])

    def _fail(self, task: _Task, error: Exception) -> None:
        for i in task.indices:
            self.results[i] = error
            self.show.tell(self.entries[i].name, error)


def _has_gpu() -> bool:
    try:
        _mirage.device(0)
        return True
    except _mirage.MirageError:
        return False


# ---------------------------------------------------------------------------------------------------------- executors

# Exceptions by which executors say that a worker is gone: names, as Dask need not be here.
_LOSSES = ("KilledWorker", "WorkerDied", "FutureCancelledError", "FuturesCancelledError", "CommClosedError")


def _is_loss(error: BaseException) -> bool:
    return isinstance(error, (BrokenExecutor, CancelledError)) or type(error).__name__ in _LOSSES


def _executor_of(given: Any) -> Executor | None:
    if given is None or isinstance(given, Executor):
        return given
    if callable(getattr(given, "get_executor", None)):  # a Dask client
        return given.get_executor()
    raise TypeError(f"executor: expected a concurrent.futures.Executor or a Dask client, got {type(given).__name__}")


class _Place:
    """An executor, or what has taken its place since it broke."""

    def __init__(self, executor: Executor):
        self._given = self._executor = executor

    def submit(self, function: Callable[..., Any], *args: Any) -> "Future[Any]":
        try:
            return self._executor.submit(function, *args)
        except BrokenExecutor as error:
            self.note_loss(error)
            return self._executor.submit(function, *args)

    def note_loss(self, error: BaseException) -> None:
        """A broken pool takes no more tasks."""
        if isinstance(error, BrokenExecutor) and self._executor is self._given:
            self._executor = _OneEach(self._given)

    def close(self) -> None:
        if self._executor is not self._given:
            self._executor.shutdown(cancel_futures=True)


class _OneEach(Executor):
    """Processes of which each does one task at a time, so that it is known which task a lost one was at.

    As many, and started in the same way, as those of the broken pool.
    """

    def __init__(self, like: Executor):
        count = getattr(like, "_max_workers", None) or os.cpu_count() or 1
        self._context = getattr(like, "_mp_context", None) or multiprocessing.get_context("spawn")
        self._threads = ThreadPoolExecutor(count, "mirage-mlir-worker")
        self._local = threading.local()
        self._pools: list[ProcessPoolExecutor] = []
        self._lock = threading.Lock()

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        return self._threads.submit(self._do, function, args, kwargs)

    def _do(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        pool = getattr(self._local, "pool", None)
        if pool is None:
            pool = self._local.pool = ProcessPoolExecutor(1, self._context)
            with self._lock:
                self._pools.append(pool)
        try:
            return pool.submit(function, *args, **kwargs).result()
        except BrokenExecutor:
            self._local.pool = None
            raise

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            for pool in self._pools:
                pool.shutdown(wait=False, cancel_futures=cancel_futures)
        self._threads.shutdown(wait, cancel_futures=cancel_futures)


# ----------------------------------------------------------------------------------------------------------- progress


class _Show:
    """How many programs are done."""

    def __init__(self, show: Progress):
        self._call = show if callable(show) else None
        self._wants_bar = show is True or (show is None and _is_interactive())
        self._bar: Any = None
        self.total = self._done = 0

    def tell(self, program: str, value: Any) -> None:
        self._done += 1
        error = str(value) if isinstance(value, Exception) else None
        event = {"event": "many", "done": self._done, "total": self.total, "program": program, "error": error}
        logger.debug("%s", json.dumps(event))
        if self._call:
            self._call(event)
        elif self._wants_bar:
            self._draw(program)

    def _draw(self, program: str) -> None:
        if self._bar is None:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                self._wants_bar = False
                return
            self._bar = tqdm(total=self.total, unit=" programs", leave=False)
        self._bar.set_postfix_str(program, refresh=False)
        self._bar.update()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
