#!/usr/bin/env python3
"""Decoding with a Llama-3-8B-shaped model of a few layers on one GPU: torch.compile max-autotune beside torch.compile(backend="mirage").

    decode.py [--layers 4] [--batch 1 8] [--cache 2048] [--used 1500] [--mode MODE] [--json FILE] [--small] [--device cuda]

Random weights, bf16, a static cache that is full but for the token at hand, or of which --used tokens are valid (a mask says so, as in
the model library), greedy logits of one token. Each is one CUDA graph of the
whole step, replayed in turns with the others; medians and (p90 - p10) / median of a step. `limit` is the weights' and the valid cache's bytes at the bandwidth
of a copy, measured here. Logits are compared with float64. One line a batch and road; --json writes the same as one object a line, with
where the time goes, by the profiler over one step: `ours_us` and `other_us` of kernels, `between_us` when none runs, and the kernels that
take longest; `operators`, calls of PyTorch's operators that the CPU makes in a step outside of a CUDA graph. The last object is what the
backend replaced, and where its first calls went. Wants PyTorch with CUDA; --small --device cpu checks that it runs, and counts operators."""
import argparse
import collections
import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

import mirage_mlir  # and with it the backend


class Norm(nn.Module):
    """As the model library writes it: in float32, rounded, times the weight."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
        return self.weight * wide.to(x.dtype)


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads, self.groups, self.dim = c.heads, c.groups, c.dim
        self.q = nn.Linear(c.width, c.heads * c.dim, bias=False)
        self.k = nn.Linear(c.width, c.groups * c.dim, bias=False)
        self.v = nn.Linear(c.width, c.groups * c.dim, bias=False)
        self.o = nn.Linear(c.heads * c.dim, c.width, bias=False)

    def forward(self, x, cos, sin, keys, values, position, seen):
        batch = x.shape[0]
        q = rotate(self.q(x).view(batch, 1, self.heads, self.dim).transpose(1, 2), cos, sin)
        k = rotate(self.k(x).view(batch, 1, self.groups, self.dim).transpose(1, 2), cos, sin)
        v = self.v(x).view(batch, 1, self.groups, self.dim).transpose(1, 2)
        keys.index_copy_(2, position, k)
        values.index_copy_(2, position, v)
        y = F.scaled_dot_product_attention(q, keys, values, attn_mask=seen, enable_gqa=True)
        return self.o(y.transpose(1, 2).reshape(batch, 1, self.heads * self.dim))


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.attention, self.before, self.behind = Attention(c), Norm(c.width), Norm(c.width)
        self.gate, self.up = nn.Linear(c.width, c.inner, bias=False), nn.Linear(c.width, c.inner, bias=False)
        self.down = nn.Linear(c.inner, c.width, bias=False)

    def forward(self, x, *rest):
        x = x + self.attention(self.before(x), *rest)
        y = self.behind(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.full = c.used == c.cache
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.layers))
        self.norm, self.head = Norm(c.width), nn.Linear(c.width, c.words, bias=False)

    def forward(self, x, cos, sin, position, *caches):
        seen = None if self.full else (torch.arange(caches[0].shape[2], device=x.device) <= position)[None, None, None, :]
        for i, layer in enumerate(self.layers):
            x = layer(x, cos, sin, caches[2 * i], caches[2 * i + 1], position, seen)
        return self.head(self.norm(x))


def step_inputs(c, batch, dtype):
    generator = torch.Generator(c.device).manual_seed(batch)
    def draw(*shape):
        return torch.randn(*shape, generator=generator, device=c.device, dtype=torch.float32).to(dtype)
    angles = (c.used - 1) / 500000.0 ** (torch.arange(0, c.dim, 2, device=c.device) / c.dim)
    angles = torch.cat((angles, angles))
    caches = [draw(batch, c.groups, c.cache, c.dim) for _ in range(2 * c.layers)]
    return [draw(batch, 1, c.width), angles.cos().to(dtype), angles.sin().to(dtype),
            torch.tensor([c.used - 1], device=c.device), *caches]


def captured(function, inputs):
    """A CUDA graph of one step, and its output."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            function(*inputs)
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = function(*inputs)
    return graph, out


def race(graphs, replays=60):
    """Microseconds of a replay of each, in turns: median, spread."""
    times = {name: [] for name in graphs}
    for i in range(replays + 5):
        for name, graph in graphs.items():
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            if i >= 5:
                times[name].append(1e3 * begin.elapsed_time(end))
    result = {}
    for name, values in times.items():
        cut = statistics.quantiles(values, n=10)
        result[name] = statistics.median(values), (cut[-1] - cut[0]) / statistics.median(values)
    return result


def is_ours(kernel):
    """GRAPH_k0, GRAPH_k1, ..."""
    return "_k" in kernel[-4:]


def kernels_of(graph):
    """Microseconds of each kernel in one replay, by name."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        graph.replay()
        torch.cuda.synchronize()
    taken = collections.Counter()
    for e in profile.events():
        if e.device_type == torch.autograd.DeviceType.CUDA:
            taken[e.name] += e.device_time
    return taken


def operators_of(function, inputs):
    """How often one step calls each of PyTorch's operators."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        function(*inputs)
    return collections.Counter(e.name for e in profile.events() if "::" in e.name)


def where(record, graph):
    """Adds where the time of a replay goes."""
    kernels = kernels_of(graph)
    ours = sum(us for name, us in kernels.items() if is_ours(name))
    record["ours_us"], record["other_us"] = ours, sum(kernels.values()) - ours
    record["between_us"] = record["us"] - sum(kernels.values())
    record["kernels"] = dict(kernels.most_common(12))


def copy_bandwidth():
    """Bytes a microsecond of reading and writing 2 GiB."""
    a = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    b = torch.empty_like(a)
    b.copy_(a)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(10):
        b.copy_(a)
    end.record()
    torch.cuda.synchronize()
    return 10 * 2 * a.numel() / (1e3 * begin.elapsed_time(end))


def relative(y, reference):
    return float((y.double() - reference).norm() / reference.norm())


def roads(c, model):
    ways = {"mode": c.mode} if c.mode else {"options": c.options}  # PyTorch takes one of the two
    peer = "max-autotune-no-cudagraphs" if c.device == "cuda" else "default"
    return {
        "eager": model,
        PEER if c.device == "cuda" else "inductor": torch.compile(model, mode=peer, dynamic=False),
        "mirage": torch.compile(model, backend="mirage", dynamic=False, **ways),
    }


PEER = "max-autotune"


def reference_of(c, model, inputs):
    wide = Model(c).to(c.device).double()
    wide.load_state_dict({k: v.double() for k, v in model.state_dict().items()})
    return wide(*[t.double() if t.is_floating_point() else t.clone() for t in inputs])


def text_of(r):
    line = f"batch {r['batch']} {r['road']:13s}"
    if "us" in r:
        line += (f" {r['us']:9.1f} us (spread {100 * r['spread']:.1f} %), {r['of_peer']:.3f} of {PEER}, limit {r['limit_us']:.1f} us; ours "
                 f"{r['ours_us']:.1f}, other kernels {r['other_us']:.1f}, between {r['between_us']:.1f};")
    return line + f" {sum(r['operators'].values())} operators, error {r['error']:.2e}, first call {r['first_call_s']:.1f} s"


def one_batch(c, model, batch, bandwidth):
    inputs = step_inputs(c, batch, c.dtype)
    reference = reference_of(c, model, inputs)
    graphs, records = {}, []
    for name, function in roads(c, model).items():
        torch._dynamo.reset()
        start = time.time()
        y = function(*inputs)
        record = {"batch": batch, "road": name, "layers": c.layers, "cache": c.cache, "used": c.used, "mode": c.mode, "first_call_s": time.time() - start}
        record["operators"] = dict(operators_of(function, inputs))
        if c.device == "cuda":
            graphs[name], y = captured(function, inputs)
            graphs[name].replay()
            torch.cuda.synchronize()
        record["error"] = relative(y, reference)
        records.append(record)
    if graphs:
        size = sum(t.numel() * t.element_size() for t in model.parameters())
        size += sum(t.numel() * t.element_size() * c.used / c.cache for t in inputs[4:])
        times = race(graphs)
        for record in records:
            record["us"], record["spread"] = times[record["road"]]
            record["of_peer"], record["limit_us"] = record["us"] / times[PEER][0], size / bandwidth
            where(record, graphs[record["road"]])
    for record in records:
        print(text_of(record), flush=True)
    return records


def written(path, records):
    """One object a line; the last is what the backend did."""
    table = mirage_mlir.replaced()
    parts = [{"operators": p.operators, "kept": p.kept, "reason": p.reason, "ours_us": p.ours_us, "theirs_us": p.theirs_us} for p in table.parts]
    with open(path, "w", encoding="utf-8") as file:
        for record in [*records, {"parts": parts, "searches": table.searches, "seconds": table.seconds}]:
            print(json.dumps(record), file=file)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--layers", type=int, default=4)
    p.add_argument("--batch", type=int, nargs="+", default=[1, 8])
    p.add_argument("--cache", type=int, default=2048)
    p.add_argument("--used", type=int, help="valid tokens of the cache, the one at hand among them (default: all)")
    p.add_argument("--device", default="cuda")
    p.add_argument("--small", action="store_true", help="a model of toy size")
    p.add_argument("--mode", help="of our torch.compile, for what is left to Inductor: max-autotune-no-cudagraphs, as the peer")
    p.add_argument("--force", action="store_true", help="keep every part, also where it is slower")
    p.add_argument("--json", metavar="FILE", help="the same, and where the time goes, as one object a line")
    c = p.parse_args()
    c.width, c.inner, c.heads, c.groups, c.dim, c.words = (64, 128, 4, 2, 16, 100) if c.small else (4096, 14336, 32, 8, 128, 128256)
    c.cache = 64 if c.small else c.cache
    c.used = c.cache if c.used is None else c.used
    if not 1 <= c.used <= c.cache:
        p.error(f"--used: 1 to {c.cache} tokens of the cache can be valid")
    c.dtype, c.options = torch.bfloat16, {"force": True} if c.force else {}
    torch.manual_seed(0)
    with torch.no_grad():
        model = Model(c).to(c.device).to(c.dtype)
        for name, parameter in model.named_parameters():
            if parameter.ndim == 2:
                parameter.normal_(0, parameter.shape[1] ** -0.5)
        bandwidth = copy_bandwidth() if c.device == "cuda" else 0
        records = [record for batch in c.batch for record in one_batch(c, model, batch, bandwidth)]
    if c.json:
        written(c.json, records)
    print(mirage_mlir.replaced())


if __name__ == "__main__":
    sys.exit(main())
