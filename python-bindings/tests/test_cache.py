"""Results that are found again in the tuning database: which, under which names, and what is refused."""

import dataclasses
import json
import logging
import re
import subprocess
import sys

import mirage_mlir as mi
import pytest
from mirage_mlir import _jobs, _mirage


@pytest.fixture(autouse=True)
def database(tmp_path, monkeypatch):
    path = tmp_path / "tuning.db"
    monkeypatch.setenv("MIRAGE_TUNING_DB", str(path))
    monkeypatch.setenv("MIRAGE_MEASURE", "no")
    monkeypatch.delenv("MIRAGE_CACHE", raising=False)
    monkeypatch.setattr(_jobs, "_said", set())
    return path


def program(name="p", names=("x", "y"), swapped=False, rows=8):
    g = mi.new_graph(name)
    x, y = (g.new_input((rows, 64), name=n) for n in names)
    e = g.exp(x)
    g.mark_output(g.add(y, e) if swapped else g.add(e, y))
    return g


def search(program, **options):
    return mi.superoptimize(program, **{"progress": False, "target": "h200", **options})


def texts(result):
    return [g.mlir for g in result]


# ------------------------------------------------------------------------------------------------------ what is found


def test_the_same_again():
    first, again = search(program()), search(program())
    assert (first.cached, again.cached) == (False, True)
    assert texts(again) == texts(first)
    assert (again.messages, again.funnel, again.program) == (first.messages, first.funnel, "p")


def test_in_another_process():
    first = search(program())
    code = ("import sys, mirage_mlir as mi; r = mi.superoptimize(sys.stdin.read(), progress=False, target='h200');"
            "print(r.cached); print(*[g.mlir for g in r], sep='\\n---\\n')")
    done = subprocess.run([sys.executable, "-c", code], input=program().mlir, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == "True\n" + "\n---\n".join(texts(first)) + "\n"


def test_under_another_name():
    first, other = search(program()), search(program("add", names=("a", "b")))
    assert other.cached and other.program == "add"
    assert [g.name for g in other] == [g.name.replace("p_", "add_") for g in first]
    assert other[0].ptx == first[0].ptx.replace("p_0_k0", "add_0_k0")
    with pytest.raises(TypeError, match=r"argument 1 \('b'\)"):
        import numpy
        other[0](numpy.zeros((8, 64), "float16"), numpy.zeros((8, 64), "int8"))


def test_written_in_another_way():
    search(program())
    other = search(program(swapped=True))
    assert other.cached and "add %arg1, %" in other[0].mlir
    assert all(g.description["holds"] for g in other if g.proof)


def test_a_found_graph_computes_its_program():
    import numpy
    search(program("one"))
    x = numpy.linspace(-1, 1, 8 * 64, dtype="float16").reshape(8, 64)
    y = numpy.full((8, 64), 0.5, "float16")
    result = search(program("two", swapped=True))
    assert result.cached
    with pytest.warns(RuntimeWarning, match="host memory") if not mi._frameworks._said else _nothing():
        got = result(x, y)
    numpy.testing.assert_allclose(got.astype("float64"), numpy.exp(x.astype("float64")) + 0.5, rtol=2e-3)


class _nothing:
    def __enter__(self): return self
    def __exit__(self, *_): return False


# -------------------------------------------------------------------------------------------------- what is not found


@pytest.mark.parametrize("change", [{"target": "a100"}, {"seed": 2}, {"max_block_ops": 5}, {"opt_level": 2},
                                    {"log2_bound": -70.0}, {"tensor_maps": False}, {"max_candidates": 3}])
def test_other_options(change):
    search(program())
    assert not search(program(), **change).cached
    assert search(program(), **change).cached


def test_threads_do_not_matter():
    search(program(), num_threads=1)
    assert search(program(), num_threads=2).cached


def test_other_shapes():
    search(program())
    assert not search(program(rows=16)).cached


def test_turned_off(monkeypatch):
    search(program(), cache=False)
    monkeypatch.setenv("MIRAGE_CACHE", "no")
    search(program())
    monkeypatch.delenv("MIRAGE_CACHE")
    assert not search(program()).cached
    assert not search(program(), cache=False).cached
    monkeypatch.setenv("MIRAGE_CACHE", "no")
    assert not search(program()).cached


def test_a_search_that_was_cut_short_is_not_kept():
    job = _jobs.Job.of(program().mlir, mi.SearchOptions(target="h200"))
    outcome = _jobs.run(job.text, job.options.pipeline())
    stopped = {**outcome.funnel, "stopped": "time-budget"}
    fallen_back = outcome.messages + [("warning", 0, 0, "@p: not measured: no driver; the cost model decides")]
    for not_whole in (dataclasses.replace(outcome, interrupted=True), dataclasses.replace(outcome, ok=False),
                      dataclasses.replace(outcome, gpu=("GPU of another machine", 13000)),
                      dataclasses.replace(outcome, funnel=stopped), dataclasses.replace(outcome, messages=fallen_back)):
        _jobs.keep(job, not_whole)
        assert _jobs.find(job) is None
    _jobs.keep(job, outcome)
    assert _jobs.find(job) == outcome


def test_what_a_time_budget_ended_is_kept_for_those_who_ask():
    """And is no complete search's result."""
    job = _jobs.Job.of(program().mlir, mi.SearchOptions(target="h200"))
    outcome = _jobs.run(job.text, job.options.pipeline())
    stopped = dataclasses.replace(outcome, funnel={**outcome.funnel, "stopped": "time-budget"})
    for reason in ("interrupt", "memory"):
        _jobs.keep(job, dataclasses.replace(outcome, funnel={**outcome.funnel, "stopped": reason}), "always")
        assert _jobs.find(job, "always") is None
    _jobs.keep(job, stopped, "always")
    assert _jobs.find(job) is None and _jobs.find(job, False) is None
    assert _jobs.find(job, "always") == stopped
    _jobs.keep(job, outcome, "always")
    assert _jobs.find(job) == _jobs.find(job, "always") == outcome


def test_a_cache_that_is_none():
    with pytest.raises(ValueError, match="^cache 'never': expected True, False or 'always'$"):
        mi.superoptimize(program(), cache="never", progress=False)


def test_an_interrupted_search_is_not_kept():
    """Ctrl-C while it searches, here from its first event on: what was found until then is the result, once."""
    def stop(event):
        raise KeyboardInterrupt

    g = mi.new_graph("long")
    x, w, v = g.new_input((64, 1024)), g.new_input((1024, 1024)), g.new_input((1024, 512))
    g.mark_output(g.matmul(g.gelu(g.matmul(g.rms_norm(x), w)), v))
    try:
        assert search(g, progress=stop).interrupted
    except KeyboardInterrupt:
        pass  # nothing was found until then
    job = _jobs.Job.of(g.mlir, mi.SearchOptions(target="h200"))
    assert _jobs.find(job) is None


def test_a_failure_is_not_kept():
    for _ in range(2):
        with pytest.raises(mi.MirageError, match="nvidia-9000"):
            search(program(), target="nvidia-9000")


def test_a_program_beside_candidates_is_searched():
    """What is in the module beside the program matters to the result."""
    first = search(program())
    assert search(first[0].mlir).cached is False
    assert search(first[0].mlir).cached is False


def test_a_checkpoint_is_gone_on_from(tmp_path):
    search(program())
    assert not search(program(), checkpoint=tmp_path / "search.ckpt").cached


# ---------------------------------------------------------------------------------------------------- what is refused


def keep_forged(forge):
    """Puts a text that fits its checksum and is not what a search gave."""
    job = _jobs.Job.of(program().mlir, mi.SearchOptions(target="h200"))
    outcome = _jobs.run(job.text, job.options.pipeline())
    text = json.dumps({"text": outcome.text, "messages": outcome.messages, "funnel": outcome.funnel})
    assert _mirage.cache_store(*_jobs._key(job), forge(text)) is None


@pytest.mark.parametrize("forge, reason", [
    (lambda t: t.replace("exp %", "sqrt %"), "cannot be used"),
    (lambda t: re.sub(r"pair = \d+", "pair = 1", t), "a proof was made for other graphs"),
    (lambda t: t.replace("8x64", "8x32"), "cannot be used"),
    (lambda t: t[:-20], "cannot be used"),
    (lambda t: "[]", "cannot be used"),
    (lambda t: '{"text": "module {}", "messages": [], "funnel": {}}', "cannot be used"),
], ids=["operator", "proof", "shape", "half", "list", "empty"])
def test_a_forged_result_is_left_out(forge, reason, caplog):
    keep_forged(forge)
    with caplog.at_level(logging.WARNING, "mirage_mlir"):
        result = search(program())
    assert not result.cached and len(result) > 1
    assert reason in caplog.text and "is kept for p" in caplog.text
    assert search(program()).cached  # by a good one


def test_damaged_bytes(database, caplog):
    import sqlite3
    search(program())
    with sqlite3.connect(database) as db:
        db.execute("UPDATE results SET text = replace(text, 'exp', 'log')")
    with caplog.at_level(logging.WARNING, "mirage_mlir"):
        assert not search(program()).cached
    assert "is damaged; it is left out" in caplog.text


def test_no_database(database, caplog):
    database.write_text("this is no database, and stays what it is")
    with caplog.at_level(logging.WARNING, "mirage_mlir"):
        assert not search(program()).cached
        assert not search(program()).cached
    assert caplog.text.count("file is not a database") == 1
    assert database.read_text() == "this is no database, and stays what it is"


def test_forgotten_with_its_measurements(database):
    """What was measured since may choose another graph."""
    import sqlite3
    result = search(program())
    key = result[0].program_description["hash"]
    with sqlite3.connect(database) as db:
        db.execute("INSERT INTO tuning (graph, target, options, version, gpu, driver, choice, hash, text, time_us, spread, "
                   "own_us, own_spread, measured, date) VALUES (?, 'h200', 'opt-level=3', '1', 'GPU', 13000, '', '', '', "
                   "1, 0, 1, 0, '[]', '2020-01-01T00:00:00Z')", (key,))
    assert _mirage.measured(key, "h200") and not _mirage.measured(key, "a100")
    assert not search(program()).cached
    assert search(program()).cached


# -------------------------------------------------------------------------------------------------------------- names


def test_names_that_cannot_be_replaced():
    """A quoted symbol: searched each time, under its own name."""
    quoted = program().mlir.replace("@p(", '@"a-b"(')
    for _ in range(2):
        result = search(quoted)
        assert (result.program, result.cached) == ("a-b", False)


def test_the_stand_ins_own_name():
    """A program that is called as we call all of them."""
    text = program().mlir.replace("@p(", f"@{_jobs.STAND_IN}(")
    assert texts(search(text)) == texts(search(text))
    assert search(text).program == _jobs.STAND_IN and search(program("q"))[0].name.startswith("q_")


def test_errors_say_where_in_the_callers_text():
    text = "\n\n" + program().mlir.replace("add", "addd")
    with pytest.raises(mi.MirageError, match="line 6, column"):
        search(text)
