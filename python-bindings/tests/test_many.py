"""superoptimize_many: the same results on every executor, and with workers killed on the way."""

import concurrent.futures
import dataclasses
import json
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys

import mirage_mlir as mi
import pytest
from mirage_mlir import _jobs, _mirage

SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture(autouse=True)
def own_database(tmp_path, monkeypatch):
    monkeypatch.setenv("MIRAGE_TUNING_DB", str(tmp_path / "tuning.db"))
    monkeypatch.setenv("MIRAGE_MEASURE", "no")


def program(name, rows=8, columns=64, swapped=False):
    g = mi.new_graph(name)
    x, w, b = g.new_input((rows, columns)), g.new_input((columns, 32), name="w"), g.new_input((rows, 32))
    y = g.matmul(g.rms_norm(x), w)
    g.mark_output(g.add(b, y) if swapped else g.add(y, b))
    return g


def texts(results):
    return [[graph.mlir for graph in result] for result in results]


def programs():
    """Four, of which the last is the first one under another name, its sum written the other way round."""
    return [program("a"), program("b", rows=16), program("c", columns=128), program("d", swapped=True)]


@pytest.fixture(scope="module")
def alone():
    """Each of programs() searched by itself."""
    return [mi.superoptimize(g, measure="no", progress=False, cache=False, target="h200") for g in programs()]


def many(*args, **kwargs):
    return mi.superoptimize_many(*args, **{"measure": "no", "target": "h200", "progress": False, **kwargs})


def check(results, alone):
    assert [r.program for r in results] == ["a", "b", "c", "d"]
    assert texts(results)[:3] == texts(alone)[:3]
    assert [len(g.description["nodes"]) for g in results[3]] == [len(g.description["nodes"]) for g in results[0]]
    assert all(g.description["holds"] and g.source == "d" for g in results[3])  # proven for the program as d writes it
    assert "add %arg2, %" in results[3][0].mlir and "add %arg2, %" not in results[0][0].mlir
    for a, b in zip(results[:3], alone):
        assert [m[3] for m in a.messages] == [m[3] for m in b.messages]
        assert {**a.funnel, "seconds": 0} == {**b.funnel, "seconds": 0}


# ---------------------------------------------------------------------------------------------------------- executors


def test_here(alone):
    check(many(programs()), alone)


def test_threads(alone):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        check(many(programs(), executor=pool), alone)


def test_processes(alone):
    with concurrent.futures.ProcessPoolExecutor(2, SPAWN) as pool:
        check(many(programs(), executor=pool), alone)
        assert pool.submit(os.getpid).result() != os.getpid()  # it stays the caller's


def test_equal_programs_are_searched_once(monkeypatch):
    sent = []
    run = _jobs.run
    monkeypatch.setattr(_jobs, "run", lambda *args: sent.append(args) or run(*args))
    results = many([program("a"), program("b"), program("c", rows=16), program("d", swapped=True)], cache=False)
    assert len(sent) == 2
    assert [r.program for r in results] == ["a", "b", "c", "d"]
    assert texts(results)[1] == [t.replace("@a", "@b").replace("a_", "b_") for t in texts(results)[0]]


def test_kept_results_are_not_searched_for(monkeypatch):
    first = many(programs())
    monkeypatch.setattr(_jobs, "run", lambda *args: pytest.fail("searched again"))
    again = many(programs())
    assert all(r.cached for r in again) and not any(r.cached for r in first)
    assert texts(again) == texts(first)


def test_measuring_is_a_stage_of_its_own(monkeypatch, alone):
    """With `measure` asked for, workers only search; what chooses and compiles goes to measure_executor."""
    monkeypatch.setenv("MIRAGE_MEASURE", "auto")
    with Recording() as search, Recording() as measure:
        results = many(programs(), measure="auto", executor=search, measure_executor=measure)
    check(results, alone)
    assert len(search.pipelines) == len(measure.pipelines) == 3
    assert all("mirage-enumerate" in p and "select" not in p for p in search.pipelines)
    assert all("mirage-select" in p and "mirage-lower" in p and "enumerate" not in p for p in measure.pipelines)


def test_measured_elsewhere_and_searched_here(monkeypatch, alone):
    monkeypatch.setenv("MIRAGE_MEASURE", "auto")
    with Recording() as measure:
        check(many(programs(), measure="auto", measure_executor=measure), alone)
    assert len(measure.pipelines) == 3 and all("mirage-enumerate" not in p for p in measure.pipelines)


MEASURED = """
import concurrent.futures, json
import mirage_mlir as mi

def zero(name):
    g = mi.new_graph(name)
    x, y = g.new_input((16, 64)), g.new_input((16, 64))
    g.mark_output(g.mul(g.sub(x, x), y))
    return g

with concurrent.futures.ThreadPoolExecutor(2) as pool:
    found = mi.superoptimize_many([zero("a"), zero("b")], executor=pool, target="h200", progress=False)
print(json.dumps([[r.cached, r.program, r[0].cost.measured_us, len(r[0].ptx) > 0] for r in found]))
"""


def test_measured_on_a_driver_without_a_gpu(tmp_path, monkeypatch):
    """Searched by threads, measured here on the fake driver, where a launch takes 10 us; and found again, by GPU."""
    driver = pathlib.Path(mi._mirage.__file__).parents[2] / "lib" / "libmirage_fake_cuda.so"
    if not driver.exists():
        pytest.skip("no libmirage_fake_cuda.so beside the package: it is built with the unit tests")
    monkeypatch.setenv("MIRAGE_MEASURE", "auto")
    monkeypatch.setenv("FAKE_CUDA_ZEROS", "1")  # what a launch writes, which is what the programs compute

    def run(library):
        monkeypatch.setenv("MIRAGE_CUDA_LIBRARY", str(library))
        out = subprocess.run([sys.executable, "-c", MEASURED], stdout=subprocess.PIPE, text=True, check=True).stdout
        return json.loads(out)

    measured = pytest.approx(10, abs=1e-3)
    assert run(driver) == [[False, "a", measured, True], [False, "b", measured, True]]
    assert run(driver) == [[True, "a", measured, True], [True, "b", measured, True]]
    # Without the GPU another key; the tuning database's measurements choose.
    assert run("/nowhere") == [[False, "a", measured, True], [False, "b", measured, True]]


class Recording(concurrent.futures.ThreadPoolExecutor):
    """Keeps what it was given."""

    def __init__(self):
        super().__init__(1)
        self.pipelines = []

    def submit(self, function, *args, **kwargs):
        pickle.dumps((function, args))  # whatever is sent can be sent
        self.pipelines.append(args[1])
        return super().submit(function, *args, **kwargs)


def test_progress():
    events = []
    many([program("a"), program("b", rows=16), "nonsense"], progress=events.append, return_exceptions=True)
    assert [(e["done"], e["total"]) for e in events] == [(1, 3), (2, 3), (3, 3)]
    assert [e["program"] for e in events] == ["", "a", "b"] and events[0]["error"]


# ----------------------------------------------------------------------------------------------------------- failures


def test_a_failing_program_fails_alone(alone):
    broken = program("broken").mlir.replace("matmul", "matmull", 1)
    with pytest.raises(mi.SearchErrors) as caught:
        many([program("a"), broken, program("b", rows=16), 7, "module {}"])
    error = caught.value
    assert str(error).startswith("3 of 5 programs failed")
    assert texts(r for r in error.results if r) == texts(alone[:2])
    assert [r is None for r in error.results] == [False, True, False, True, True]
    kinds = [type(e) for e in error.exceptions]
    assert kinds == [mi.MirageError, TypeError, mi.MirageError]
    assert "matmull" in str(error.exceptions[0]) and error.exceptions[0].__notes__ == ["program 1 of 5"]
    assert "expected a Graph or MLIR text, got int" in str(error.exceptions[1])
    assert "holds no mirage_kernel.graph" in str(error.exceptions[2])


def test_a_failing_search_names_the_program():
    """The options are wrong for every program: each has its own exception."""
    results = many([program("a"), program("b"), program("c", rows=16)], target="nvidia-9000", return_exceptions=True)
    assert all(isinstance(r, mi.MirageError) and "nvidia-9000" in str(r) for r in results)


def test_exceptions_in_place(alone):
    results = many([program("a"), "nonsense"], return_exceptions=True)
    assert texts(results[:1]) == texts(alone[:1]) and isinstance(results[1], mi.MirageError)


def test_two_programs_in_one_module():
    two = program("a").mlir.rstrip()[:-1] + program("b").mlir.replace("\n}\n", "").split("{\n", 1)[1] + "\n}"
    with pytest.raises(mi.SearchErrors, match="1 of 1") as caught:
        many([two])
    assert "2 programs" in str(caught.value.exceptions[0])


def test_a_checkpoint_is_of_one_program(tmp_path):
    with pytest.raises(ValueError, match="checkpoint: one file cannot hold"):
        many([program("a")], checkpoint=tmp_path / "search.ckpt")


def test_wrong_executor():
    with pytest.raises(TypeError, match="expected a concurrent.futures.Executor or a Dask client, got int"):
        many([program("a")], executor=4)


def test_executor_that_was_shut_down():
    pool = concurrent.futures.ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(RuntimeError, match="after shutdown"):
        many([program("a")], executor=pool)


# ------------------------------------------------------------------------------------------------------- lost workers


def die_once(text, pipeline, number):
    """A worker that is killed at the first attempt at each program with 16 rows."""
    if "tensor<16x64" in text and number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return _jobs.run(text, pipeline)


def die_always(text, pipeline, number):
    if "tensor<16x64" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    return _jobs.run(text, pipeline)


def test_killed_process(monkeypatch, alone):
    monkeypatch.setattr(_jobs, "attempt", die_once)
    with concurrent.futures.ProcessPoolExecutor(2, SPAWN) as pool:
        check(many(programs(), executor=pool), alone)


def test_a_program_that_kills_its_worker_fails_alone(monkeypatch, alone):
    monkeypatch.setattr(_jobs, "attempt", die_always)
    with concurrent.futures.ProcessPoolExecutor(2, SPAWN) as pool:
        results = many(programs(), executor=pool, return_exceptions=True)
    assert isinstance(results[1], concurrent.futures.BrokenExecutor)
    assert texts([results[0], results[2]]) == texts([alone[0], alone[2]])
    assert results[3].program == "d"


class Losing(concurrent.futures.ThreadPoolExecutor):
    """Loses each task `losses` times, as an executor of processes on other machines may."""

    def __init__(self, losses, error):
        super().__init__(2)
        self.losses, self.error, self.seen = losses, error, {}

    def submit(self, function, *args, **kwargs):
        self.seen[args[0]] = self.seen.get(args[0], 0) + 1
        if self.seen[args[0]] <= self.losses:
            future = concurrent.futures.Future()
            future.set_exception(self.error)
            return future
        return super().submit(function, *args, **kwargs)


class KilledWorker(Exception):
    """As Dask's is called."""


@pytest.mark.parametrize("error", [KilledWorker("gone"), concurrent.futures.CancelledError()])
def test_lost_tasks_are_done_again(error, alone):
    with Losing(2, error) as pool:
        check(many(programs(), executor=pool), alone)
        assert set(pool.seen.values()) == {3}


def test_three_losses_are_enough():
    with Losing(3, KilledWorker("gone")) as pool:
        results = many([program("a"), program("b", rows=16)], executor=pool, return_exceptions=True)
    assert [str(r) for r in results] == ["gone", "gone"] and set(pool.seen.values()) == {3}


def test_other_errors_are_not_tried_again():
    with Losing(1, OSError("disk full")) as pool:
        results = many([program("a")], executor=pool, return_exceptions=True)
    assert isinstance(results[0], OSError) and set(pool.seen.values()) == {1}


def test_an_interrupt_without_a_search_does_nothing():
    assert _mirage.interrupt() is False
    assert not mi.superoptimize(program("a"), measure="no", progress=False).interrupted


@pytest.mark.parametrize("threads", [0, 2])
def test_ctrl_c_in_a_search(monkeypatch, threads):
    """The search that it ended gave what it had, as it does; no other begins, and nothing is kept."""
    attempts, run = [], _jobs.run

    def interrupted(*args):
        attempts.append(args)
        return dataclasses.replace(run(*args), interrupted=True)

    monkeypatch.setattr(_jobs, "run", interrupted)
    with concurrent.futures.ThreadPoolExecutor(max(threads, 1)) as pool, pytest.raises(KeyboardInterrupt):
        many(programs(), executor=pool if threads else None)
    assert 1 <= len(attempts) <= 1 + threads
    assert _jobs.find(_jobs.Job.of(program("a").mlir, mi.SearchOptions(target="h200", measure="no"))) is None


def test_ctrl_c():
    class Interrupted(concurrent.futures.ThreadPoolExecutor):
        def submit(self, function, *args, **kwargs):
            future = concurrent.futures.Future()
            future.set_exception(KeyboardInterrupt())
            return future

    with Interrupted(1) as pool, pytest.raises(KeyboardInterrupt):
        many([program("a")], executor=pool)


# --------------------------------------------------------------------------------------------------------------- Dask


@pytest.fixture
def dask_client():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


def test_dask(dask_client, alone):
    with dask_client.get_executor() as pool:
        check(many(programs(), executor=pool), alone)


def test_dask_client_with_workers_killed_on_the_way(dask_client, alone):
    """After the first program is done, and others wait or run, the worker process of one nanny is killed."""
    killed = []

    def kill_one(event):
        if not killed:
            pids = dask_client.run(os.getpid)
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    check(many(programs(), executor=dask_client, progress=kill_one), alone)
    assert killed
