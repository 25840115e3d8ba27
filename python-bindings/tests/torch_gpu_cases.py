"""The torch.compile backend on a GPU: cases for test_torch_backend.py, and a script for a machine without pytest.

python torch_gpu_cases.py [CASE ...]      runs all, or those named; prints what was replaced; status 1 if one fails
"""

import sys
import time
import traceback

import torch
import torch.nn.functional as F

import mirage_mlir as mi

OPTIONS = {"time_budget": 5.0, "force": True}


def data(*shape, dtype=torch.float16, scale=1.0):
    return torch.randn(shape, device="cuda", dtype=torch.float32).mul(scale).to(dtype)


def error(results, exact):
    pairs = zip(results, exact) if isinstance(results, (tuple, list)) else [(results, exact)]
    return max(float((r.double() - e).norm() / e.norm()) for r, e in pairs)


def check(f, g, *args):
    """g is as near to float64 as f is, half as much again."""
    exact = f(*[a.double() for a in args])
    theirs, ours = error(f(*args), exact), error(g(*args), exact)
    assert ours <= max(1.5 * theirs, 8e-3 if args[0].dtype == torch.bfloat16 else 1e-3), (
        f"error {ours:.1e}, was {theirs:.1e}"
    )


def capture(g, *args):
    """g(*args), captured: what replays write to, and the graph."""
    g(*args), g(*args)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = g(*args)
    return result, graph


def gated(x, w1, w3, gain):
    h = F.rms_norm(x, (x.shape[-1],), gain, 1e-5)
    return F.silu(h @ w1) * (h @ w3)


def case_one_part_and_a_captured_graph():
    for dtype in (torch.float16, torch.bfloat16):
        args = [
            data(8, 1024, dtype=dtype),
            data(1024, 2048, dtype=dtype, scale=1 / 32),
            data(1024, 2048, dtype=dtype, scale=1 / 32),
            data(1024, dtype=dtype),
        ]
        torch._dynamo.reset()
        g = torch.compile(gated, backend="mirage", options=OPTIONS)
        for _ in range(3):
            check(gated, g, *args)
        y, graph = capture(g, *args)
        args[0].copy_(data(8, 1024, dtype=dtype))
        graph.replay()
        assert torch.equal(y, g(*args))


def case_a_stream_that_is_not_the_first():
    args = [data(8, 512), data(512, 512, scale=1 / 23)]
    f = lambda x, w: torch.tanh(x @ w)  # noqa: E731
    g = torch.compile(f, backend="mirage", options=OPTIONS)
    g(*args)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        y = g(*args)
    stream.synchronize()
    assert torch.equal(y, g(*args))


def case_inductor_around_parts():
    w, v = data(512, 512, scale=1 / 23), data(512, 512, scale=1 / 23)

    def f(x):
        return torch.cumsum(F.gelu(x @ w), 0).t().contiguous().t() @ v, x.argmax(-1)

    g = torch.compile(f, backend="mirage", options=OPTIONS)
    x = data(16, 512)
    for _ in range(3):
        torch.testing.assert_close(g(x)[1], f(x)[1])
        torch.testing.assert_close(g(x)[0], f(x)[0], rtol=2e-2, atol=2e-2)
    (y, _), graph = capture(g, x)
    x.copy_(data(16, 512))
    graph.replay()
    torch.testing.assert_close(y, f(x)[0], rtol=2e-2, atol=2e-2)


def case_a_cache_that_is_written_to():
    wk, wq = data(256, 256, scale=1 / 16), data(256, 256, scale=1 / 16)

    def f(x, cache, position):
        cache.index_copy_(1, position, (x @ wk).view(1, 1, 256))
        return torch.softmax((x @ wq).view(1, 1, 256) @ cache.transpose(1, 2) / 16, -1) @ cache

    for fallback in ("eager", "inductor"):
        torch._dynamo.reset()
        g = torch.compile(f, backend="mirage", options={**OPTIONS, "fallback": fallback})
        ours, theirs = (torch.zeros(1, 64, 256, device="cuda", dtype=torch.float16) for _ in range(2))
        for i in range(5):
            x, position = data(1, 256), torch.tensor([i], device="cuda")
            torch.testing.assert_close(g(x, ours, position), f(x, theirs, position), rtol=1e-2, atol=1e-2)
            torch.testing.assert_close(ours, theirs, rtol=1e-2, atol=1e-2)


def case_arguments_that_start_anywhere():
    f = lambda x, w: torch.tanh(x @ w)  # noqa: E731
    g = torch.compile(f, backend="mirage", options=OPTIONS)
    w = data(64, 64, scale=1 / 8)
    for x in (data(64 * 64 + 1)[1:].view(64, 64), data(64, 64).t(), data(64, 128)[:, 3:67]):
        torch._dynamo.reset()
        for _ in range(2):
            check(f, g, x, w)


def case_what_is_kept_was_faster():
    mi.replaced().clear()
    w = data(2048, 2048, scale=1 / 45)
    g = torch.compile(lambda x: torch.cumsum(F.silu(x @ w), 0) @ w, backend="mirage", options={"time_budget": 5.0})
    g(data(4, 2048))
    timed = [p for p in mi.replaced().parts if p.ours_us is not None]
    assert timed, str(mi.replaced())
    assert all(p.kept == (p.ours_us < p.theirs_us) for p in timed), str(mi.replaced())


def case_a_first_call_inside_a_capture_is_pytorchs():
    w = data(64, 64)
    f = lambda x: torch.relu(x + w)  # noqa: E731
    g = torch.compile(f, backend="mirage", options={**OPTIONS, "fallback": "eager"})
    x = data(64, 64)
    f(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = g(x)
    graph.replay()
    torch.testing.assert_close(y, f(x))


def case_memory_stays_as_it_is():
    x, w = data(4, 256), data(256, 256, scale=1 / 16)
    g = torch.compile(lambda x, w: torch.tanh(x @ w), backend="mirage", options=OPTIONS)
    g(x, w), g(x, w)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated(), torch.cuda.mem_get_info()[0]
    begin = time.perf_counter()
    for _ in range(10_000):
        g(x, w)
    took = time.perf_counter() - begin
    torch.cuda.synchronize()
    assert (torch.cuda.memory_allocated(), torch.cuda.mem_get_info()[0]) == before
    print(f"    {1e6 * took / 10_000:.1f} us a call on the host, dynamo's guards included")


CASES = {name.removeprefix("case_"): f for name, f in dict(globals()).items() if name.startswith("case_")}


def main() -> int:
    failed = []
    for name in sys.argv[1:] or CASES:
        torch._dynamo.reset()
        torch.manual_seed(0)
        mi.replaced().clear()
        begin = time.perf_counter()
        try:
            with torch.no_grad():
                CASES[name]()
        except Exception:
            failed.append(name)
            traceback.print_exc()
        print(f"{'FAILED' if name in failed else 'passed'} {name} ({time.perf_counter() - begin:.1f} s)")
        print("    " + str(mi.replaced()).replace("\n", "\n    "), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
