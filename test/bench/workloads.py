"""Benchmark programs as MLIR, and one table of what mirage-run measures of all of them.

    workloads.py list                                     their names
    workloads.py write FOLDER                             one .mlir each
    workloads.py run --bin build/bin [--only NAME,...] [--output results.csv] [-- OPTION...]

`run` compiles each with mirage-mlir-opt --mirage-superoptimize=OPTIONS (default: target=h200) and measures it with
mirage-run --benchmark; it needs a GPU. A program that fails has a row with the reason. Scales are the standard deviations
of the random inputs, so that products stay of size 1.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile


def tensor(shape):
    return f"tensor<{'x'.join(map(str, shape))}xf16>"


def graph(name, inputs, body, scales):
    """inputs: {name: shape}; body: (lines, result name, result shape)."""
    lines, result, shape = body
    arguments = ", ".join(f"%{i}: {tensor(s)}" for i, s in inputs.items())
    factors = ", ".join(repr(float(scales.get(i, 1))) for i in inputs)
    text = "".join(f"  {line}\n" for line in lines)
    return (f"mirage_kernel.graph @{name}({arguments}) -> {tensor(shape)}"
            f" attributes {{mirage_kernel.input_scales = array<f64: {factors}>}} {{\n"
            f"{text}  return %{result} : {tensor(shape)}\n}}\n")


def attention(heads, rows, keys, size, transposed=False, norm=False):
    """softmax(q k) v with k [heads, size, keys]; `transposed`: k [heads, keys, size]; `norm`: of q and k, over `size`."""
    q, v, s = (heads, rows, size), (heads, keys, size), (heads, rows, keys)
    k = (heads, keys, size) if transposed else (heads, size, keys)
    lines, names = [], {"q": "q", "k": "k"}
    if norm:
        for name, shape in (("q", q), ("k", k)):
            names[name] = name + "n"
            lines.append(f"%{name}n = rms_norm %{name} {{eps = 0.0}} : {tensor(shape)}")
    form = " {transpose_b}" if transposed else ""
    lines += [f"%s = matmul %{names['q']}, %{names['k']}{form} : {tensor(q)}, {tensor(k)}",
              f"%p = softmax %s {{dim = 2}} : {tensor(s)}",
              f"%y = matmul %p, %v : {tensor(s)}, {tensor(v)}"]
    return {"q": q, "k": k, "v": v}, (lines, "y", q)


def rmsnorm_linear(rows, k, n):
    x, y = (rows, k), (rows, n)
    return {"x": x, "g": (k,), "w": (k, n)}, ([f"%n = rms_norm %x, %g {{eps = 0.0}} : {tensor(x)}, {tensor((k,))}",
                                                f"%y = matmul %n, %w : {tensor(x)}, {tensor((k, n))}"], "y", y)


def lora(rows, k, n, rank):
    x, y, a, b, w = (rows, k), (rows, n), (k, rank), (rank, n), (k, n)
    return {"x": x, "w": w, "a": a, "b": b}, ([f"%m = matmul %x, %w : {tensor(x)}, {tensor(w)}",
                                               f"%h = matmul %x, %a : {tensor(x)}, {tensor(a)}",
                                               f"%l = matmul %h, %b : {tensor((rows, rank))}, {tensor(b)}",
                                               f"%y = add %m, %l : {tensor(y)}, {tensor(y)}"], "y", y)


def gated_mlp(rows, k, n):
    x, y, w = (rows, k), (rows, n), (k, n)
    return {"x": x, "w1": w, "w3": w}, ([f"%a = matmul %x, %w1 : {tensor(x)}, {tensor(w)}",
                                         f"%s = silu %a : {tensor(y)}",
                                         f"%b = matmul %x, %w3 : {tensor(x)}, {tensor(w)}",
                                         f"%y = mul %s, %b : {tensor(y)}, {tensor(y)}"], "y", y)


def norm_transformer(rows, size):
    """rms(x + alpha * (rms(h) - x))"""
    t = (rows, size)
    two = f"{tensor(t)}, {tensor(t)}"
    return {"h": t, "x": t, "alpha": t}, ([f"%n = rms_norm %h {{eps = 0.0}} : {tensor(t)}", f"%d = sub %n, %x : {two}",
                                           f"%s = mul %alpha, %d : {two}", f"%u = add %x, %s : {two}",
                                           f"%y = rms_norm %u {{eps = 0.0}} : {tensor(t)}"], "y", t)


def linear(rows, k, n):
    return {"x": (rows, k), "w": (k, n)}, ([f"%y = matmul %x, %w : {tensor((rows, k))}, {tensor((k, n))}"], "y", (rows, n))


def experts(count, rows, size):
    """silu(x a) b, for each expert"""
    x, w = (count, rows, size), (count, size, size)
    return {"x": x, "a": w, "b": w}, ([f"%h = matmul %x, %a : {tensor(x)}, {tensor(w)}", f"%s = silu %h : {tensor(x)}",
                                       f"%y = matmul %s, %b : {tensor(x)}, {tensor(w)}"], "y", x)


LINEAR, LORA, MLP = {"w": 0.0156}, {"w": 0.0156, "a": 0.0156, "b": 0.25}, {"w1": 0.0156, "w3": 0.0156}
WORKLOADS = {
    "gqa_b1": (attention(2, 256, 4096, 64), {"q": 0.125}),
    "qknorm_b1": (attention(2, 256, 4096, 64, transposed=True, norm=True), {}),
    "rmsnorm_linear_b1": (rmsnorm_linear(2, 4096, 6144), LINEAR),
    "lora_b1": (lora(2, 4096, 4096, 16), LORA),
    "gated_mlp_b1": (gated_mlp(1, 4096, 4096), MLP),
    "ntrans_b1": (norm_transformer(8, 4096), {}),
    "gqa_b8": (attention(16, 256, 4096, 64), {"q": 0.125}),
    "qknorm_b8": (attention(16, 256, 4096, 64, transposed=True, norm=True), {}),
    "rmsnorm_linear_b8": (rmsnorm_linear(16, 4096, 6144), LINEAR),
    "lora_b8": (lora(16, 4096, 4096, 16), LORA),
    "gated_mlp_b8": (gated_mlp(8, 4096, 4096), MLP),
    "ntrans_b8": (norm_transformer(64, 4096), {}),
    "lora_r256": (lora(16, 256, 4096, 16), {"w": 0.0625, "a": 0.0625, "b": 0.25}),
    "mha_b1": (attention(32, 16, 4096, 64), {"q": 0.125}),
    "mqa_b1": (attention(1, 1024, 4096, 64), {"q": 0.125}),
    "moe_8x8": (experts(8, 8, 4096), {"a": 0.0156, "b": 0.0156}),
    "linear_4096": (linear(4096, 4096, 4096), LINEAR),
    "gated_mlp_prefill": (gated_mlp(2048, 4096, 4096), MLP),
    "rmsnorm_linear_prefill": (rmsnorm_linear(2048, 4096, 6144), LINEAR),
    "attention_prefill": (attention(32, 4096, 4096, 64), {"q": 0.125}),
}


def text_of(name):
    (inputs, body), scales = WORKLOADS[name]
    return graph(name, inputs, body, scales)


def measure(options, name, folder):
    """The two lines of mirage-run --csv, or None and why not."""
    source, compiled = folder / f"{name}.mlir", folder / f"{name}.compiled.mlir"
    source.write_text(text_of(name))
    commands = [[options.bin / "mirage-mlir-opt", f"--mirage-superoptimize={' '.join(options.options) or 'target=h200'}", source,
                 "-o", compiled],
                [options.bin / "mirage-run", "--benchmark", "--csv", compiled]]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
        if done.returncode != 0 and not done.stdout.startswith("program,"):
            return None, next((line for line in done.stderr.splitlines() if "error:" in line), f"status {done.returncode}")
    return done.stdout.splitlines(), ""


def run(options):
    names = options.only.split(",") if options.only else WORKLOADS
    header = False
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            lines, why = measure(options, name, pathlib.Path(folder))
            if lines and not header:
                print(lines[0], file=options.output)
                header = True
            print(lines[1] if lines else f"{name}: {why}", file=options.output, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list")
    commands.add_parser("write").add_argument("folder", type=pathlib.Path)
    runner = commands.add_parser("run")
    runner.add_argument("--bin", type=pathlib.Path, required=True)
    runner.add_argument("--only")
    runner.add_argument("--timeout", type=float, default=600, help="seconds for compiling, and for running, one program")
    runner.add_argument("--output", type=argparse.FileType("w"), default=sys.stdout)
    runner.add_argument("options", nargs="*", help="of --mirage-superoptimize")
    options = parser.parse_args()
    if options.command == "list":
        print(*WORKLOADS, sep="\n")
    elif options.command == "write":
        options.folder.mkdir(parents=True, exist_ok=True)
        for name in WORKLOADS:
            (options.folder / f"{name}.mlir").write_text(text_of(name))
    else:
        run(options)


if __name__ == "__main__":
    main()
