"""What only a GPU can show, in one script without pytest: python on_gpu.py [--quick]. Prints a line a check; exit status 1
where one failed. test_gpu.py runs it where there is a GPU with PyTorch.

Needs PyTorch with CUDA and mirage_mlir; nothing else.
"""

import gc
import sys
import time
import traceback
import warnings

import torch

import mirage_mlir as mi

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def rmsnorm_linear(rows=2, inner=4096, columns=6144, dtype="float16"):
    g = mi.new_graph("rmsnorm_linear")
    x = g.new_input((rows, inner), dtype, name="x")
    w = g.new_input((inner, columns), dtype, name="w")
    g.mark_output(g.matmul(g.rms_norm(x), w))
    return g


def tensors(graph, seed=0, scale=1.0):
    generator = torch.Generator("cuda").manual_seed(seed)
    return [(torch.randn(t.shape, generator=generator, device="cuda") * scale).to(getattr(torch, t.dtype)) for t in graph.inputs]


def reference(x, w):
    x, w = x.double(), w.double()
    return x / x.pow(2).mean(-1, keepdim=True).sqrt() @ w


def error(y, r):
    return float((y.double() - r).norm() / r.norm())


@check
def the_device_is_known():
    from mirage_mlir import _mirage
    from mirage_mlir._options import default_target
    print("   ", torch.cuda.get_device_name(0), _mirage.device(0), default_target(), "torch", torch.__version__)
    for name in ("__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__"):
        print("   ", name, getattr(torch.Tensor, name, None))


@check
def a_search_measures_and_the_result_is_right():
    g = rmsnorm_linear()
    start = time.time()
    best = mi.superoptimize(g, measure="yes", progress=False)
    print(f"    {time.time() - start:.1f} s; {best!r}")
    for message in best.messages:
        print("    ", message[3].splitlines()[0])
    x, w = tensors(g)
    for graph in best:
        e = error(graph(x, w), reference(x, w))
        assert e < 1e-3, (graph, e)
    assert any(graph.cost.measured_us for graph in best), "nothing was measured"


@check
def a_call_follows_the_current_stream_and_out():
    g = rmsnorm_linear(4, 512, 768)
    best = mi.superoptimize(g, measure="no", progress=False)
    x, w = tensors(g)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        late = x * 2
        y = best(late, w)
        out = torch.empty_like(y)
        assert best(late, w, out=out) is out
    stream.synchronize()
    assert error(y, reference(x * 2, w)) < 1e-3 and torch.equal(y, out)


@check
def a_call_is_captured_in_a_cuda_graph_also_where_kernels_share_a_workspace():
    for text in (None, "two_kernels"):
        g = rmsnorm_linear(16, 1024, 1024)
        if text:
            g = mi.new_graph("attention")
            q, k, v = g.new_input((8, 16, 64)), g.new_input((8, 4096, 64)), g.new_input((8, 4096, 64))
            g.mark_output(g.scaled_dot_product_attention(q, k, v))
        best = mi.superoptimize(g, measure="no", progress=False)
        args = tensors(g)
        for graph in best:
            if not text and graph is not best[0]:
                continue
            expected = graph(*args)
            torch.cuda.synchronize()
            captured = torch.cuda.CUDAGraph()
            with torch.cuda.graph(captured):
                y = graph(*args)
                z = graph(*args)
            y.zero_(), z.zero_()
            for _ in range(3):
                captured.replay()
            torch.cuda.synchronize()
            assert torch.equal(y, expected) and torch.equal(z, expected), graph
            assert bool(expected.isfinite().all()), graph


@check
def a_cuda_graph_outlives_what_it_has_captured():
    g = rmsnorm_linear(16, 1024, 1024)
    best = mi.superoptimize(g, measure="no", progress=False)
    args = tensors(g)
    expected, captured = best(*args), torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(captured):
        y = best(*args)
    del best
    gc.collect()
    y.zero_()
    captured.replay()
    torch.cuda.synchronize()
    assert torch.equal(y, expected)


def programs_of_rows():
    """Programs whose output can be their first input, with reasons to start early: weights in columns of parts of lines, side blocks, two
    kernels, blocks that meet, a row a block."""
    g = rmsnorm_linear(16, 4096, 4096)
    yield g
    g = mi.new_graph("lora")
    x, w, a, b = g.new_input((8, 4096)), g.new_input((4096, 4096)), g.new_input((4096, 16)), g.new_input((16, 4096))
    g.mark_output(g.tanh(g.add(g.matmul(x, w), g.matmul(g.matmul(x, a), b))))
    yield g
    g = mi.new_graph("gated")
    x, u, v = g.new_input((1, 4096)), g.new_input((4096, 4096)), g.new_input((4096, 4096))
    g.mark_output(g.tanh(g.mul(g.silu(g.matmul(x, u)), g.matmul(x, v))))
    yield g
    g = mi.new_graph("attention")
    q, k, v = g.new_input((8, 16, 64)), g.new_input((8, 4096, 64)), g.new_input((8, 4096, 64))
    g.mark_output(g.scaled_dot_product_attention(q, k, v))
    yield g
    g = mi.new_graph("softmax")
    x, y = g.new_input((64, 1024)), g.new_input((64, 1024))
    g.mark_output(g.softmax(g.add(x, y), dim=1))
    yield g
    g = mi.new_graph("sums")
    x, y = g.new_input((8, 1024)), g.new_input((8, 1024))
    g.mark_output(g.tanh(g.add(x, y)))
    yield g


def in_a_row(graph, args, write, wait, calls=40):
    """The last result of calls of which each takes the one before as its first input. write: all inputs are written by kernels of PyTorch
    between them, too. wait: for each kernel."""
    x, other = args[0].clone(), torch.empty_like(args[0])
    rest = [a.clone() for a in args[1:]]
    pause = torch.cuda.synchronize if wait else lambda: None
    for _ in range(calls):
        for r in rest if write else []:
            r.neg_(), pause()
        graph(x, *rest, out=other), pause()
        if write:
            x.copy_(other), pause()
        else:
            x, other = other, x
    return x.clone()


@check
def a_call_waits_for_what_writes_its_inputs():
    for g in programs_of_rows():
        best = mi.superoptimize(g, measure="no", progress=False)
        args = tensors(g, scale=0.5)
        for graph in best:
            for write in (False, True):
                expected = in_a_row(graph, args, write, wait=True)
                torch.cuda.synchronize()
                assert bool(expected.isfinite().all()), graph
                side = torch.cuda.Stream()
                captured = torch.cuda.CUDAGraph()
                with torch.cuda.graph(captured):
                    side.wait_stream(torch.cuda.current_stream())
                    with torch.cuda.stream(side):
                        half = args[0].clone()
                        for _ in range(20):
                            half.neg_()
                        half.mul_(0.5)
                    y = in_a_row(graph, args, write, wait=False)
                    torch.cuda.current_stream().wait_stream(side)  # the next call is behind kernels of two streams
                    z = graph(half, *args[1:])
                beside = graph(args[0] * 0.5, *args[1:])
                for _ in range(5):
                    assert torch.equal(in_a_row(graph, args, write, wait=False), expected), (graph, write)
                    captured.replay()
                    torch.cuda.synchronize()
                    assert torch.equal(y, expected) and torch.equal(z, beside), (graph, write)
        print(f"    {g.name}: {len(best)} graphs, 40 calls in a row the same as one by one")


@check
def memory_stays_flat_over_calls():
    g = rmsnorm_linear(2, 256, 256)
    best = mi.superoptimize(g, measure="no", progress=False)
    args = tensors(g)
    for _ in range(100):
        best(*args)
    torch.cuda.synchronize()
    gc.collect()
    before = torch.cuda.memory_allocated(), torch.cuda.mem_get_info()[0]
    for _ in range(10_000):
        best(*args)
    torch.cuda.synchronize()
    gc.collect()
    after = torch.cuda.memory_allocated(), torch.cuda.mem_get_info()[0]
    assert before[0] == after[0] and before[1] - after[1] < 16 << 20, (before, after)


@check
def what_a_call_costs_the_host():
    g = rmsnorm_linear(2, 256, 256)
    best = mi.superoptimize(g, measure="no", progress=False)
    x, w = tensors(g)
    out = torch.empty(2, 256, dtype=torch.float16, device="cuda")
    def cost(f, n=2000):
        times = []
        for _ in range(20):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(n // 20):
                f()
            times.append((time.perf_counter() - start) / (n // 20) * 1e6)
        return sorted(times)[10]
    graph = best[0]
    bare, ours = graph._callable().overhead((x, w))
    print(f"    launch: {bare:.2f} us by the driver alone, {ours:.2f} us by mirage_program_launch")
    print(f"    call {cost(lambda: graph(x, w)):.2f} us, with out= {cost(lambda: graph(x, w, out=out)):.2f} us, through the result "
          f"{cost(lambda: best(x, w)):.2f} us; torch.empty alone {cost(lambda: torch.empty(2, 256, dtype=torch.float16, device='cuda')):.2f} us, "
          f"an eager matmul {cost(lambda: x @ w):.2f} us")


@check
def mistakes_are_exceptions():
    g = rmsnorm_linear(2, 256, 256)
    best = mi.superoptimize(g, measure="no", progress=False)
    x, w = tensors(g)
    for args, text in (((x, w.cpu()), "on cuda:0"), ((x, w.t()), "strides"), ((x, w.float()), "float32"), ((x,), "expected 2 tensors")):
        try:
            best(*args)
        except (TypeError, ValueError) as problem:
            assert text in str(problem), problem
        else:
            raise AssertionError(f"no exception: {text}")
    assert error(best(x, w), reference(x, w)) < 1e-3


@check
def a_saved_graph_is_timed():
    import tempfile, os
    g = rmsnorm_linear()
    best = mi.superoptimize(g, measure="no", progress=False)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "g.mlir")
        best[0].save(path)
        graph = mi.load(path)
    sets = [tuple(tensors(g, seed)) for seed in range(8)]
    print("   ", graph, {k: round(v, 3) for k, v in graph.time(sets=sets).items()})


@check
def the_torch_backend_keeps_its_promises():
    import os
    import subprocess
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_gpu_cases.py")
    subprocess.run([sys.executable, script], check=True)


def main() -> int:
    warnings.simplefilter("error", RuntimeWarning)  # a call that ran on the host would warn
    failed = 0
    for function in CHECKS:
        start = time.time()
        try:
            function()
            print(f"ok    {function.__name__} ({time.time() - start:.1f} s)", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL  {function.__name__}", flush=True)
            traceback.print_exc(file=sys.stdout)
    print(f"{len(CHECKS)} checks, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
