#!/usr/bin/env python3
"""Layers of real models on one GPU: masks, lengths known at run time, stored weights, beside PyTorch, as CSV.

    layers.py --bin build/bin [--only NAME,...] [--peers LABEL,...] [--output layers.csv] [--superoptimize OPTIONS]

Every program is searched and chosen at full size, compared with float64 (by PyTorch on the GPU), and timed cold beside what a PyTorch
user has: eager, torch.compile max-autotune, each backend of SDPA that takes the mask, flex_attention where it compiles. The decoding
programs run once for each length. A row a run; one that fails says why. Wants PyTorch with CUDA."""
import argparse
import csv
import pathlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from against_pytorch import cold_us

EXTENTS = {torch.float16: "f16", torch.bfloat16: "bf16"}
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION}
FIELDS = ["name", "ours", "spread", "error", "best", "best_us", "best_over_ours", "own", "predicted", "limit", "kernels", "peers", "failed"]


@dataclass
class Run:
    """One program with inputs. Peers are functions of `given`, which holds the tensors as a PyTorch user keeps them."""
    name: str
    text: str
    inputs: list  # for mirage-run, as what .npy files hold
    reference: object  # of double inputs
    given: list = field(default_factory=list)
    peers: dict = field(default_factory=dict)
    timed: bool = True

    @property
    def program(self):
        return self.name.split("_n")[0]


def normal(*shape, scale=1.0, dtype=torch.float16):
    return (torch.randn(shape, generator=GENERATOR, device="cuda") * scale).to(dtype)


def graph(name, inputs, result, body):
    arguments = ", ".join(f"%{n}: tensor<{t}>" for n, t in inputs)
    return f"mirage_kernel.graph @{name}({arguments}) -> tensor<{result}> {{\n" + "\n".join(body) + f"\n  return %y : tensor<{result}>\n}}\n"


# ---------------------------------------------------------------------------------------------------------- attention

def scores_and_softmax(q, k, v, scale, mask=None, cap=None):
    out = []
    for h in range(q.shape[0]):  # a head at a time: scores in float64 are large
        s = q[h].double() @ k[h].double().transpose(-1, -2) * scale
        if cap:
            s = cap * torch.tanh(s / cap)
        if mask is not None:
            s = s.masked_fill(~(mask if mask.dim() == 2 else mask[h]), -torch.inf)
        out.append(torch.nan_to_num(torch.softmax(s, -1)) @ v[h].double())
    return torch.stack(out)


def attention(name, heads, rows, dim, attributes, mask=None, cap=None, causal=False, window=None, dtype=torch.float16):
    q, k, v = (normal(heads, rows, dim, dtype=dtype) for _ in range(3))
    scale, t = dim ** -0.5, f"{heads}x{rows}x{dim}x{EXTENTS[dtype]}"
    text = graph(name, [(n, t) for n in "qkv"], t, [
        f"  %y = scaled_dot_product_attention %q, %k, %v {{scale = {scale:.17g}{attributes}}} : tensor<{t}>, tensor<{t}>, tensor<{t}>"])
    peers = {}
    if cap is None:
        for label, backend in BACKENDS.items():
            if mask is None or window is None:
                def sdpa(q, k, v, backend=backend):
                    with sdpa_kernel(backend):
                        return F.scaled_dot_product_attention(q[None], k[None], v[None], scale=scale, is_causal=causal)
            else:
                def sdpa(q, k, v, backend=backend):
                    with sdpa_kernel(backend):
                        return F.scaled_dot_product_attention(q[None], k[None], v[None], scale=scale, attn_mask=mask)
            peers[label] = sdpa

    def seen(b, h, i, j):
        inside = i >= j if causal else i >= 0
        return inside & (i - j < window) if window else inside

    blocks = create_block_mask(seen, None, None, rows, rows) if causal else None
    bend = (lambda s, b, h, i, j: cap * torch.tanh(s / cap)) if cap else None
    flex = torch.compile(flex_attention, dynamic=False, mode="max-autotune-no-cudagraphs")
    peers["flex"] = lambda q, k, v: flex(q[None], k[None], v[None], score_mod=bend, block_mask=blocks, scale=scale)
    return Run(name, text, [q, k, v], lambda: scores_and_softmax(q, k, v, scale, mask, cap), [q, k, v], peers)


def lower_triangle(rows):
    i = torch.arange(rows, device="cuda")
    return i[:, None] >= i[None, :]


def prefill():
    for dim in 64, 128:
        yield attention(f"full_d{dim}", 16, 4096, dim, "")
        yield attention(f"causal_d{dim}", 16, 4096, dim, ", causal", lower_triangle(4096), causal=True)
    i = torch.arange(4096, device="cuda")
    near = (i[:, None] >= i[None, :]) & (i[:, None] - i[None, :] < 1024)
    yield attention("window1024", 16, 4096, 64, ", causal, window = 1024", near, causal=True, window=1024)
    yield attention("softcap", 16, 4096, 64, ", causal, cap = 30.0", lower_triangle(4096), cap=30.0, causal=True)


def decode():
    heads, keys, dim = 32, 8192, 128
    q, k, v = normal(heads, 1, dim), normal(heads, keys, dim), normal(heads, keys, dim)
    scale, big = dim ** -0.5, f"{heads}x{keys}x{dim}xf16"
    text = graph("decode", [("q", f"{heads}x1x{dim}xf16"), ("k", big), ("v", big), ("n", "1x1x1xi32")], f"{heads}x1x{dim}xf16", [
        f"  %j = iota {{dim = 2}} : tensor<1x1x{keys}xi32>",
        f"  %in = less %j, %n : tensor<1x1x{keys}xi32>, tensor<1x1x1xi32>",
        f"  %y = scaled_dot_product_attention %q, %k, %v, %in {{scale = {scale:.17g}}} : tensor<{heads}x1x{dim}xf16>, tensor<{big}>, "
        f"tensor<{big}>, tensor<1x1x{keys}xi1>"])
    for n in 8192, 4096, 1024, 0, 1, 63, 1000, 4097, 8191, 9000, 2147483647, -5:
        seen = max(0, min(n, keys))
        mask = (torch.arange(keys, device="cuda") < seen)[None].expand(1, keys)
        peers = {}
        for label, backend in BACKENDS.items():
            def cut(q, k, v, n, backend=backend, seen=seen):  # the length is known to the host: the best case of a user
                with sdpa_kernel(backend):
                    return F.scaled_dot_product_attention(q[None], k[None, :, :seen], v[None, :, :seen], scale=scale)
            peers[label] = cut

        def masked(q, k, v, n):
            return F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=torch.arange(keys, device="cuda")[None, :] < n.view(1, 1), scale=scale)
        peers["masked_compile"] = torch.compile(masked, mode="max-autotune-no-cudagraphs", dynamic=False)
        length = torch.full((1, 1, 1), n, dtype=torch.int32, device="cuda")
        timed = n in (8192, 4096, 1024)
        yield Run(f"decode_n{n}", text, [q, k, v, length.double()], lambda mask=mask: scores_and_softmax(q, k, v, scale, mask), [q, k, v, length],
                  peers if timed else {}, timed)


def grouped():
    shared, rows, keys, dim = 8, 4, 4096, 128
    q, k, v = normal(shared, rows, dim), normal(shared, keys, dim), normal(shared, keys, dim)
    mask = torch.rand((1, 1, keys), generator=GENERATOR, device="cuda") < 0.7
    scale, big = dim ** -0.5, f"{shared}x{keys}x{dim}xf16"
    text = graph("gqa_mask", [("q", f"{shared}x{rows}x{dim}xf16"), ("k", big), ("v", big), ("m", f"1x1x{keys}xi1")], f"{shared}x{rows}x{dim}xf16", [
        f"  %y = scaled_dot_product_attention %q, %k, %v, %m {{scale = {scale:.17g}}} : tensor<{shared}x{rows}x{dim}xf16>, tensor<{big}>, "
        f"tensor<{big}>, tensor<1x1x{keys}xi1>"])
    peers = {}
    for label, backend in BACKENDS.items():
        def sdpa(q, k, v, m, backend=backend):
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=m[None], scale=scale)
        peers[label] = sdpa
    peers["compile"] = torch.compile(lambda q, k, v, m: F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=m[None], scale=scale),
                                     mode="max-autotune-no-cudagraphs", dynamic=False)
    yield Run("gqa_mask", text, [q, k, v, mask.double()], lambda: scores_and_softmax(q, k, v, scale, mask[0].expand(rows, keys)), [q, k, v, mask], peers)


# ----------------------------------------------------------------------------------------------------- stored weights

def compiled_and_eager(function):
    return {"eager": function, "compile": torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)}


def norm(x, g):
    return F.rms_norm(x, x.shape[-1:], g, eps=1e-5)


def linear(kind, rows=1, k=4096, n=6144):
    """RMSNorm and a linear layer of k x n weights: f16, i8 with a scale a column, i4 in groups of 128 along the contraction."""
    x, g = normal(rows, k), 1 + normal(k, scale=0.1)
    head = [("x", f"{rows}x{k}xf16"), ("g", f"{k}xf16")]
    first = f"  %n = rms_norm %x, %g {{eps = 1.0e-05}} : tensor<{rows}x{k}xf16>, tensor<{k}xf16>"
    last = lambda w: f"  %y = matmul %n, %{w} : tensor<{rows}x{k}xf16>, tensor<{k}x{n}xf16>"
    name, result = f"rmsnorm_linear_{kind}", f"{rows}x{n}xf16"
    double = lambda w: norm(x.double(), g.double()) @ w
    if kind == "f16":
        w = normal(k, n, scale=k ** -0.5)
        return Run(name, graph(name, head + [("w", f"{k}x{n}xf16")], result, [first, last("w")]), [x, g, w], lambda: double(w.double()), [x, g, w],
                   compiled_and_eager(lambda x, g, w: norm(x, g) @ w))
    if kind in ("i8", "f8"):
        if kind == "i8":
            w = torch.randint(-127, 128, (k, n), generator=GENERATOR, device="cuda", dtype=torch.int8)
        else:
            w = (normal(k, n, dtype=torch.float32) * 100).clamp(-448, 448).to(torch.float8_e4m3fn)
        s = normal(n, scale=0.2).abs() / (60 * k ** 0.5)
        stored = f"{k}x{n}x" + {"i8": "i8", "f8": "f8E4M3FN"}[kind]
        body = [first, f"  %c = cast %w : tensor<{stored}> -> tensor<{k}x{n}xf16>", f"  %d = mul %c, %s : tensor<{k}x{n}xf16>, tensor<{n}xf16>", last("d")]
        return Run(name, graph(name, head + [("w", stored), ("s", f"{n}xf16")], result, body), [x, g, w.float(), s],
                   lambda: double(w.double() * s.double()), [x, g, w, s], compiled_and_eager(lambda x, g, w, s: norm(x, g) @ (w.to(torch.float16) * s)))
    w = torch.randint(-8, 8, (k, n), generator=GENERATOR, device="cuda", dtype=torch.int8)
    q, by_rows = k // 128, kind == "i4_rows"
    s = (normal(q, 1, n, scale=0.2).abs() + 0.05) / (5 * k ** 0.5)
    packed = (w[0::2] & 15) | (w[1::2] << 4)
    if by_rows:
        wt, st = w.t().contiguous(), s.permute(2, 0, 1).contiguous()
        body = [first, f"  %c = cast %w : tensor<{n}x{k}xi4> -> tensor<{n}x{k}xf16>", f"  %v = reshape %c : tensor<{n}x{k}xf16> -> tensor<{n}x{q}x128xf16>",
                f"  %m = mul %v, %s : tensor<{n}x{q}x128xf16>, tensor<{n}x{q}x1xf16>", f"  %d = reshape %m : tensor<{n}x{q}x128xf16> -> tensor<{n}x{k}xf16>",
                f"  %y = matmul %n, %d {{transpose_b}} : tensor<{rows}x{k}xf16>, tensor<{n}x{k}xf16>"]
        types, held = [("w", f"{n}x{k}xi4"), ("s", f"{n}x{q}x1xf16")], [wt.float(), st]
    else:
        body = [first, f"  %c = cast %w : tensor<{k}x{n}xi4> -> tensor<{k}x{n}xf16>", f"  %v = reshape %c : tensor<{k}x{n}xf16> -> tensor<{q}x128x{n}xf16>",
                f"  %m = mul %v, %s : tensor<{q}x128x{n}xf16>, tensor<{q}x1x{n}xf16>", f"  %d = reshape %m : tensor<{q}x128x{n}xf16> -> tensor<{k}x{n}xf16>",
                last("d")]
        types, held = [("w", f"{k}x{n}xi4"), ("s", f"{q}x1x{n}xf16")], [w.float(), s]

    def unpacked(x, g, p, s):
        low, high = (p << 4) >> 4, p >> 4
        w = torch.stack([low, high], 1).reshape(q, 128, n).to(torch.float16)
        return norm(x, g) @ (w * s).reshape(k, n)
    return Run(name, graph(name, head + types, result, body), [x, g, *held], lambda: double((w.double().view(q, 128, n) * s.double()).view(k, n)),
               [x, g, packed, s], compiled_and_eager(unpacked))


def gated(kind, rows=1, k=4096, n=14336):
    x = normal(rows, k, dtype=torch.bfloat16)
    name, t = f"gated_mlp_{kind}", f"{rows}x{k}xbf16"
    if kind == "f8":
        u, v = ((normal(k, n, dtype=torch.float32) * 100).clamp(-448, 448).to(torch.float8_e4m3fn) for _ in range(2))
        su, sv = (torch.full((1, 1), 0.01 * k ** -0.5, device="cuda", dtype=torch.float32) for _ in range(2))
        w = f"{k}x{n}xf8E4M3FN"
        body = [f"  %uf = cast %u : tensor<{w}> -> tensor<{k}x{n}xbf16>", f"  %vf = cast %v : tensor<{w}> -> tensor<{k}x{n}xbf16>"]
        more, given = [("su", "1x1xf32"), ("sv", "1x1xf32")], [x, u, v, su, sv]
        scaled = [f"  %as = mul %a, %su : tensor<{rows}x{n}xf32>, tensor<1x1xf32>", f"  %bs = mul %b, %sv : tensor<{rows}x{n}xf32>, tensor<1x1xf32>"]
        function = lambda x, u, v, su, sv: (F.silu((x @ u.to(x.dtype)) * su) * ((x @ v.to(x.dtype)) * sv)).to(torch.bfloat16)
        reference = lambda: F.silu(x.double() @ u.double() * su.double()) * (x.double() @ v.double() * sv.double())
    else:
        u, v = (normal(k, n, scale=k ** -0.5, dtype=torch.bfloat16) for _ in range(2))
        w, body, more, given = f"{k}x{n}xbf16", [], [], [x, u, v]
        scaled = []
        function = lambda x, u, v: F.silu(x @ u) * (x @ v)
        reference = lambda: F.silu(x.double() @ u.double()) * (x.double() @ v.double())
    a, b, uu, vv = ("as", "bs", "uf", "vf") if kind == "f8" else ("a", "b", "u", "v")
    body += [f"  %a = matmul %x, %{uu} : tensor<{t}>, tensor<{k}x{n}xbf16> -> tensor<{rows}x{n}xf32>",
             f"  %b = matmul %x, %{vv} : tensor<{t}>, tensor<{k}x{n}xbf16> -> tensor<{rows}x{n}xf32>", *scaled,
             f"  %h = silu %{a} : tensor<{rows}x{n}xf32>", f"  %p = mul %h, %{b} : tensor<{rows}x{n}xf32>, tensor<{rows}x{n}xf32>",
             f"  %y = cast %p : tensor<{rows}x{n}xf32> -> tensor<{rows}x{n}xbf16>"]
    return Run(name, graph(name, [("x", t), ("u", w), ("v", w), *more], f"{rows}x{n}xbf16", body), [i.float() for i in given], reference, given,
               compiled_and_eager(function))


def lora(rows=1, k=4096, n=4096, rank=16):
    x, a, b = normal(rows, k), normal(k, rank, scale=k ** -0.5), normal(rank, n, scale=rank ** -0.5)
    w = torch.randint(-8, 8, (k, n), generator=GENERATOR, device="cuda", dtype=torch.int8)
    s = (normal(n, scale=0.2).abs() + 0.05) / (5 * k ** 0.5)
    packed = (w[0::2] & 15) | (w[1::2] << 4)
    body = [f"  %c = cast %w : tensor<{k}x{n}xi4> -> tensor<{k}x{n}xf16>", f"  %d = mul %c, %s : tensor<{k}x{n}xf16>, tensor<{n}xf16>",
            f"  %p = matmul %x, %d : tensor<{rows}x{k}xf16>, tensor<{k}x{n}xf16>", f"  %l = matmul %x, %a : tensor<{rows}x{k}xf16>, tensor<{k}x{rank}xf16>",
            f"  %r = matmul %l, %b : tensor<{rows}x{rank}xf16>, tensor<{rank}x{n}xf16>", f"  %y = add %p, %r : tensor<{rows}x{n}xf16>, tensor<{rows}x{n}xf16>"]
    text = graph("lora_i4", [("x", f"{rows}x{k}xf16"), ("w", f"{k}x{n}xi4"), ("s", f"{n}xf16"), ("a", f"{k}x{rank}xf16"), ("b", f"{rank}x{n}xf16")],
                 f"{rows}x{n}xf16", body)

    def unpacked(x, p, s, a, b):
        w = torch.stack([(p << 4) >> 4, p >> 4], 1).reshape(k, n).to(torch.float16)
        return x @ (w * s) + (x @ a) @ b
    return Run("lora_i4", text, [x, w.float(), s, a, b], lambda: x.double() @ (w.double() * s.double()) + (x.double() @ a.double()) @ b.double(),
               [x, packed, s, a, b], compiled_and_eager(unpacked))


def runs():
    yield from decode()
    for kind in "f16", "i8", "i4", "i4_rows", "f8":
        yield linear(kind)
    yield from prefill()
    yield gated("bf16")
    yield gated("f8")
    yield lora()
    yield from grouped()


# --------------------------------------------------------------------------------------------------------- measuring

def ours(options, run, folder):
    reference = run.reference()
    tensors = []
    for option, held in ("input", run.inputs), ("reference", [reference]):
        for i, tensor in enumerate(held):
            path = folder / f"{option}{i}.npy"
            half = tensor.dtype == torch.float16
            np.save(path, (tensor if half else tensor.double() if tensor.numel() < 16 else tensor.float()).cpu().numpy())
            tensors += [f"--{option}", f"{i}={path}"]
    source = options.keep / f"{run.program}.mlir"
    compiled = (options.compiled or options.keep) / f"{run.program}.out.mlir"
    if not compiled.exists():  # decoding: searched once, run with every length
        source.write_text(run.text)
        called = subprocess.run([options.bin / "mirage-mlir-opt", f"--mirage-superoptimize={options.superoptimize}", source, "-o", compiled], capture_output=True,
                                text=True, timeout=options.timeout)
        if called.returncode:
            raise RuntimeError(next((line for line in called.stderr.splitlines() if "error:" in line), f"status {called.returncode}"))
    benchmark = ["--benchmark"] if run.timed else []
    called = subprocess.run([options.bin / "mirage-run", *benchmark, "--csv", "--target=gpu", *tensors, compiled], capture_output=True, text=True, timeout=options.timeout)
    if not called.stdout.startswith("program,"):
        raise RuntimeError(next((line for line in called.stderr.splitlines() if "error:" in line), f"status {called.returncode}"))
    (row,) = csv.DictReader(called.stdout.splitlines())
    if row["passed"] != "1":
        raise RuntimeError(f"error {row['error']}")
    return {"ours": row["cold_us"], "spread": row["cold_spread"], "error": row["error"], "own": row["own_cold_us"], "predicted": row["predicted_us"],
            "limit": row["limit_us"], "kernels": row["kernels"]}


def beside(options, run):
    size = sum(t.numel() * t.element_size() for t in run.given)
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    sets = [run.given] + [[t.clone() for t in run.given] for _ in range(min(128, 4 * l2 // size + 1))]
    times = {}
    with torch.no_grad():
        for label, peer in run.peers.items():
            if label not in options.peers.split(","):
                continue
            torch._dynamo.reset()
            try:
                times[label] = cold_us(peer, sets)
            except Exception as failure:  # a backend that does not take the mask, a compiler's
                print(f"{run.name}: {label}: {str(failure).splitlines()[0][:120] if str(failure) else type(failure).__name__}", file=sys.stderr)
                torch.cuda.synchronize()
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="names, or what they begin with")
    parser.add_argument("--output", default="/dev/stdout")
    parser.add_argument("--superoptimize", default="target=h200")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--peers", default="eager,compile,masked_compile,flash,cudnn,efficient,flex", help="which of them")
    parser.add_argument("--compiled", type=pathlib.Path, help="a folder of modules, PROGRAM.out.mlir, that were compiled before")
    parser.add_argument("--write", type=pathlib.Path, help="only write the programs to this folder")
    options = parser.parse_args()
    global GENERATOR
    GENERATOR = torch.Generator("cuda").manual_seed(1)
    wanted = tuple(options.only.split(",")) if options.only else ("",)
    for run in runs() if options.write else ():
        (options.write / f"{run.program}.mlir").write_text(run.text)
    if options.write:
        return
    with open(options.output, "w", newline="") as file, tempfile.TemporaryDirectory() as folder:
        options.keep = pathlib.Path(folder)
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for run in runs():
            if not run.name.startswith(wanted):
                continue
            row = {"name": run.name}
            try:
                row |= ours(options, run, options.keep)
                times = beside(options, run)
                row["peers"] = " ".join(f"{label}={time:.2f}" for label, time in times.items())
                if times:
                    best = min(times, key=times.get)
                    row |= {"best": best, "best_us": f"{times[best]:.2f}", "best_over_ours": f"{times[best] / float(row['ours']):.3f}"}
            except Exception as failure:
                row["failed"] = str(failure).splitlines()[0][:200] if str(failure) else type(failure).__name__
            writer.writerow(row)
            file.flush()
            print(row, file=sys.stderr)
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
