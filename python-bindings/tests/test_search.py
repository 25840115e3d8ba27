"""Searches: Ctrl-C, threads, progress, logging, options, files. No test asks how long something takes."""

import json
import logging
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import mirage_mlir as mi
from mirage_mlir import _mirage

ROOT = Path(__file__).resolve().parents[2]
SMALL = (ROOT / "examples/lora.mlir").read_text()
# A space that takes hours: a test ends it, or the budget does, and then what the test asserts is false.
LONG = (ROOT / "examples/gated_mlp.mlir").read_text()
ENDLESS = dict(measure="no", target="h200", optimal=True, max_block_ops=24, num_threads=1, time_budget=240.0)
QUICK = dict(measure="no", target="h200", progress=False)


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """No cache; and what is done after an interrupt is counted, not timed: a busy machine has the time for it, too."""
    monkeypatch.setenv("MIRAGE_CACHE", "no")
    monkeypatch.setenv("MIRAGE_INTERRUPT_AFTER", "0,1000000000")


def found_something(event):
    return event.get("event") == "progress" and event.get("best_us") is not None


def check_interrupted(result):
    assert result.interrupted
    assert result.funnel["stopped"] == "interrupt" and not result.funnel["exhausted"]
    assert result.funnel["candidates"] >= 1
    assert all(graph.proof is not None or graph.is_own_lowering for graph in result)
    assert result.best.ptx.startswith("//")


@pytest.fixture
def keyboard():
    """Python's own handler, whatever the runner of the tests has set."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_gives_the_best_so_far(keyboard):
    """The signal comes while the main thread waits for the passes."""
    seen = threading.Event()

    def press():
        seen.wait()
        os.kill(os.getpid(), signal.SIGINT)

    def progress(event):
        if found_something(event):
            seen.set()

    thread = threading.Thread(target=press)
    thread.start()
    try:
        result = mi.superoptimize(LONG, progress=progress, **ENDLESS)
    finally:
        seen.set()
        thread.join()
    check_interrupted(result)


def test_ctrl_c_within_the_callback(keyboard):
    def progress(event):
        if found_something(event):
            raise KeyboardInterrupt

    check_interrupted(mi.superoptimize(LONG, progress=progress, **ENDLESS))


def test_a_search_after_ctrl_c_is_whole(keyboard):
    test_ctrl_c_within_the_callback(keyboard)
    result = mi.superoptimize(SMALL, **QUICK)
    assert not result.interrupted and result.funnel["exhausted"]


def test_every_event_raises(keyboard):
    """One exception ends the search; those of later events, two at a time at its end, are taken as well. Where the first event
    came before anything was found, the own lowering is the result."""
    events = []

    def progress(event):
        events.append(event)
        raise KeyboardInterrupt

    result = mi.superoptimize(SMALL, measure="no", target="h200", progress=progress, max_candidates=2)
    assert result.interrupted and len(result) >= 1 and result.best.ptx.startswith("//")
    assert result.funnel["candidates"] >= 1 or result.best.is_own_lowering
    assert events


def interrupted_at(after):
    """What a process prints that is interrupted at a counted question (passes/pass_interrupt.c). Its own assertion: nothing unproven."""
    code = ("import sys, mirage_mlir as mi\n"
            "try: found = mi.superoptimize(open(sys.argv[1]).read(), measure='no', target='h200', progress=False)\n"
            "except KeyboardInterrupt: sys.exit(print('nothing'))\n"
            "assert found.interrupted\n"
            "for g in found: assert g.proof is not None or g.name.endswith('_own'), g\n"
            "print('found', len(found), 'of them proven', sum(g.proof is not None for g in found))")
    done = subprocess.run([sys.executable, "-c", code, str(ROOT / "examples/gated_mlp.mlir")], capture_output=True, text=True,
                          env=os.environ | {"MIRAGE_INTERRUPT_AFTER": after})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("after", ["20,0", "500,4", "5000,0", "5000,4", "12000,40"])
def test_nothing_unproven_is_returned(after):
    """After a grace that is over soon: the proven, or an interrupt."""
    assert re.fullmatch(r"nothing|found (\d+) of them proven \d+", interrupted_at(after))


def test_ctrl_c_before_anything_was_found():
    """The own lowering; without any grace not even that is compiled, and Ctrl-C is Ctrl-C."""
    assert interrupted_at("1,1000000000") == "found 1 of them proven 0"
    assert interrupted_at("1,0") == "nothing"


def test_unproven_candidates_in_a_file_are_called_so():
    ok, text, _, _ = _mirage.run(SMALL, "builtin.module(mirage-enumerate{target=h200 max-candidates=1})")
    found = mi.from_mlir(text)
    assert ok and found.source == "lora" and found.proof is None and not found.is_own_lowering
    assert repr(found).endswith(", unproven>")


def test_an_exception_of_the_callback_is_the_callers():
    def progress(event):
        raise RuntimeError("the screen is gone")

    with pytest.raises(RuntimeError, match="^the screen is gone$"):
        mi.superoptimize(LONG, progress=progress, **ENDLESS)
    assert not mi.superoptimize(SMALL, **QUICK).interrupted


def test_another_thread_works_while_one_searches():
    """The search ends because this thread, which needs the GIL, says so; else by its budget, which is no interrupt."""
    begun = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(mi.superoptimize, LONG, progress=lambda e: begun.set() if found_something(e) else None, **ENDLESS)
        begun.wait()
        count = 0
        while not future.done() and count < 200_000:
            count += 1
        assert count == 200_000 and not future.done()
        assert _mirage.interrupt()
        check_interrupted(future.result())


def test_two_threads_search_at_a_time():
    def search(text):
        return [g.mlir for g in mi.superoptimize(text, max_candidates=4, **QUICK)]

    texts = [SMALL, (ROOT / "examples/rmsnorm_linear.mlir").read_text()] * 2
    alone = [search(text) for text in texts[:2]] * 2
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(search, texts))
    assert together == alone


def test_the_same_at_any_number_of_threads():
    one, two = (mi.superoptimize(SMALL, num_threads=n, max_candidates=4, **QUICK) for n in (1, 2))
    assert [g.mlir for g in one] == [g.mlir for g in two]
    counts = [{k: v for k, v in r.funnel.items() if k != "seconds"} for r in (one, two)]
    assert counts[0] == counts[1]


def test_progress_events():
    events = []
    result = mi.superoptimize(SMALL, measure="no", target="h200", progress=events.append)
    assert {e["event"] for e in events} >= {"search"}
    last = [e for e in events if e["event"] == "search"]
    assert len(last) == 1 and last[0] == result.funnel
    for event in events:
        if event["event"] == "progress":
            assert event["program"] == "lora" and event["phase"] and 0 <= event["done"] <= (event["total"] or event["done"])
    assert set(result.funnel["cut"]) == {"expression", "axis", "order", "merging", "memory"}


def test_messages_are_logged(caplog):
    with caplog.at_level(logging.DEBUG, "mirage_mlir"):
        result = mi.superoptimize(SMALL, **QUICK)
    info = [r.message for r in caplog.records if r.levelno == logging.INFO]
    assert info == [text for severity, _, _, text in result.messages if severity == "remark"]
    assert any("selected @lora_0" in line for line in info)
    assert any(json.loads(r.message)["event"] == "search" for r in caplog.records if r.levelno == logging.DEBUG)


def test_a_bar_where_one_is_asked_for(capsys):
    mi.superoptimize(SMALL, measure="no", target="h200", progress=True, max_candidates=1)
    assert "lora" in capsys.readouterr().err
    mi.superoptimize(SMALL, max_candidates=1, **QUICK)
    assert capsys.readouterr().err == ""


def test_results_are_sequences_best_first():
    result = mi.superoptimize(SMALL, **QUICK)
    times = [g.cost.time_us for g in result]
    assert times == sorted(times) and result.best is result[0] and list(result)[-1] is result[-1]
    assert len(result) == len(times) > 1 and all(isinstance(g, mi.UGraph) for g in result)
    assert repr(result).startswith(f"<Result of {len(result)} µGraphs:\n  <UGraph lora_0: ")
    assert result.best.proof.log2_bound <= -60 and result.best.guard.candidate_relative is not None


def test_options_reach_the_search():
    grids = mi.superoptimize(SMALL, griddims=[(64, 1, 1)], **QUICK)
    customs = [n for g in grids if g.proof for n in g.description["nodes"] if n["op"] == "custom"]
    assert customs and all(n["attrs"]["grid"] == [64, 1, 1] for n in customs)
    few = mi.superoptimize(SMALL, max_candidates=2, **QUICK)
    assert few.funnel["candidates"] == 2
    assert mi.superoptimize(SMALL, measure="no", target="a100", progress=False).best.description["chip"] == "sm_80"
    options = mi.SearchOptions(target="h200", measure="no", max_candidates=2)
    assert [g.mlir for g in mi.superoptimize(SMALL, options, progress=False)] == [g.mlir for g in few]


def test_saved_loaded_pickled(tmp_path):
    best = mi.superoptimize(SMALL, **QUICK).best
    best.save(tmp_path / "lora.mlir")
    assert os.listdir(tmp_path) == ["lora.mlir"]
    for other in (mi.load(tmp_path / "lora.mlir"), pickle.loads(pickle.dumps(best))):
        assert (other.name, other.ptx, other.proof, other.cost) == (best.name, best.ptx, best.proof, best.cost)
        assert other.mlir == best.mlir


def test_what_is_found_computes_the_program():
    g = mi.new_graph("norm_linear")
    x, w = g.new_input((4, 64), name="x"), g.new_input((64, 128), name="w")
    g.mark_output(g.matmul(g.rms_norm(x), w))
    result = mi.superoptimize(g, **QUICK)
    random = np.random.default_rng(3)
    values = [random.standard_normal(s).astype("float16") for s in ((4, 64), (64, 128))]
    wide = [v.astype("float64") for v in values]
    expected = wide[0] / np.sqrt((wide[0] ** 2).mean(1, keepdims=True)) @ wide[1]
    for graph in result[:3]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # host tensors
            called = graph(*values)
        for y in (called, graph.emulate(*values)):
            assert np.linalg.norm(y - expected) <= 2e-3 * np.linalg.norm(expected)


def test_a_checkpoint_goes_on_where_it_was_stopped(keyboard, tmp_path):
    path = tmp_path / "search.checkpoint"

    def progress(event):
        if found_something(event):
            raise KeyboardInterrupt

    mi.superoptimize(LONG, checkpoint=path, measure="no", target="h200", progress=progress, max_candidates=2, num_threads=1)
    rest = mi.superoptimize(LONG, checkpoint=path, max_candidates=2, **QUICK)
    assert [g.mlir for g in rest] == [g.mlir for g in mi.superoptimize(LONG, max_candidates=2, **QUICK)]
    assert not path.exists()

# --------------------------------------------------------------------------------------------------------------- memory


def resident():
    """Bytes of this process that are in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


with open("/proc/self/maps") as maps:
    SANITIZED = any("asan" in line for line in maps)
flat = pytest.mark.skipif(SANITIZED, reason="AddressSanitizer keeps what was freed: memory grows by design")


def grows(call, warm, times):
    for _ in range(warm):
        call()
    before = resident()
    for _ in range(times):
        call()
    return resident() - before


@flat
@pytest.mark.parametrize("framework", ["numpy", "torch"])
def test_memory_is_flat_over_calls(framework):
    module = pytest.importorskip(framework)
    g = mi.new_graph()
    g.mark_output(g.exp(g.new_input((32, 32), "float32")))
    f, x = mi.from_mlir(g.mlir), module.zeros((32, 32), dtype=module.float32)  # 4 KiB: 10,000 results would be 40 MiB
    assert grows(lambda: f(x), 1000, 10_000) < 4 << 20


@flat
def test_memory_is_flat_over_mistakes():
    g = mi.new_graph()
    g.mark_output(g.exp(g.new_input((32, 32), "float32")))
    f, x = mi.from_mlir(g.mlir), np.zeros((31, 32), "float32")

    def mistake():
        with pytest.raises(ValueError):
            f(x)
        with pytest.raises(mi.MirageError):
            g.reshape(g.inputs[0], (7,))

    assert grows(mistake, 1000, 10_000) < 4 << 20


@flat
def test_memory_is_flat_over_graphs():
    def build():
        g = mi.new_graph()
        g.mark_output(g.exp(g.new_input((32, 32), "float32")))
        mi.from_mlir(g.mlir)(np.zeros((32, 32), "float32"))

    assert grows(build, 50, 300) < 8 << 20
