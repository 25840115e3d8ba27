#!/usr/bin/env python3
"""Makes a folder that runs a function on a GPU machine which has neither LLVM nor MLIR: compiled by this build, launched by what stock
MLIR makes of it.

  prepare.py program.mlir --bin build/bin --out FOLDER [--function NAME] [--reference FILE.py] [--options 'measure=no ...']

program.mlir: linalg on tensors, or a module that mirage-superoptimize has compiled already (say, with measured selection on the GPU).
The function's arguments and results are ranked tensors of static shape; weights are arguments: constants are the host's.
--reference: defines inputs(torch) -> list of tensors and reference(torch, *inputs) -> list of tensors, for FOLDER/run.py.

The folder holds bench (an executable), libmirage_runtime.so, run.py and tensors.json. On the other machine: python3 FOLDER/run.py.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LLVM = "/usr/lib/llvm-22/bin"
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i1": 1, "i8": 1, "i32": 4, "i64": 8}
BUFFERIZE = ("one-shot-bufferize{bufferize-function-boundaries allow-unknown-ops "
             "function-boundary-type-conversion=identity-layout-map},"
             "buffer-results-to-out-params{hoist-static-allocs modify-public-functions},buffer-deallocation-pipeline,"
             "convert-linalg-to-loops")
FINISH = ("func.func(llvm-request-c-wrappers),convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-math-to-llvm,"
          "finalize-memref-to-llvm{use-generic-functions},gpu-to-llvm,convert-to-llvm,reconcile-unrealized-casts")


def run(command, text):
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"prepare.py: failed: {' '.join(command)}")
    return done.stdout


def tensors_of(text, what):
    """[[type, extents]] of the tensor types in a text."""
    found = re.findall(rf"tensor<((?:\d+x)*)({'|'.join(BYTES)})>", text)
    if len(found) != text.count("tensor<"):
        sys.exit(f"prepare.py: {what}: tensors of static shape and {', '.join(BYTES)} are wanted, got {text}")
    return [[element, [int(n) for n in shape.split("x")[:-1]]] for shape, element in found]


def signature(module, function):
    """(name, inputs, results) of the function, or of the only one with a body."""
    heads = re.findall(r"func\.func (?:public )?@([\w$.-]+)\((.*?)\) -> (.*?) (?:attributes .*?)?\{$", module, re.M)
    heads = [h for h in heads if not function or h[0] == function]
    if len(heads) != 1:
        sys.exit(f"prepare.py: {len(heads)} functions{' @' + function if function else ''} with results: name one by --function")
    name, inputs, results = heads[0]
    return name, tensors_of(inputs, "inputs"), tensors_of(results, "results")


def works_on_host(text):
    """What stands outside programs and looks at tensors."""
    return sorted(set(re.findall(r"\b(?:linalg|scf|memref\.(?:load|store|copy)|memref\.get_global)\b[.\w]*", text)))


def call_source(inputs, results, shared):
    tensors = inputs + results
    rows = ",\n".join(f"  {{{BYTES[t]}, {len(s)}, {{{', '.join(map(str, s)) or '1'}}}}}" for t, s in tensors)
    arguments = ", ".join(["void *"] * len(tensors))
    values = ", ".join(f"memrefs[{i}]" for i in range(len(tensors)))
    return (f'#include "bench.h"\nvoid _mlir_ciface_bench_function({arguments});\nconst int bench_num_inputs = {len(inputs)}, '
            f"bench_num_tensors = {len(tensors)};\nconst bool bench_shared = {'true' if shared else 'false'};\nconst BenchTensor bench_tensors[] = {{\n{rows}}};\n"
            f"void bench_call(void **memrefs) {{ _mlir_ciface_bench_function({values}); }}\n")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--bin", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--function")
    parser.add_argument("--reference")
    parser.add_argument("--options", default="measure=no", help="of mirage-superoptimize")
    parser.add_argument("--convert", default="async", help="options of convert-mirage-to-gpu; emulation: to try the folder here")
    return parser.parse_args()


def compile_module(args, tool):
    text = open(args.program, "rb").read()
    if b"gpu.binary" not in text:
        text = run([tool, "--convert-linalg-to-mirage", f"--mirage-superoptimize={args.options}"], text)
    return text


def main():
    args = arguments()
    tool, library = os.path.join(args.bin, "mirage-mlir-opt"), os.path.join(args.bin, "..", "lib", "libmirage_runtime.so")
    os.makedirs(args.out, exist_ok=True)
    out = lambda name: os.path.join(args.out, name)
    compiled = compile_module(args, tool)
    open(out("compiled.mlir"), "wb").write(compiled)
    name, inputs, results = signature(compiled.decode(), args.function)
    alone = compiled.decode().replace(f"@{name}(", "@bench_function(")  # whose name may be main
    alone = re.sub(r"^( *func\.func )(?:public )?@(?!bench_function\()", r"\1private @", alone, flags=re.M).encode()
    launches = run([tool, f"--pass-pipeline=builtin.module(symbol-dce,{BUFFERIZE},convert-mirage-to-gpu{{{args.convert}}})"], alone)
    lowered = run([tool, f"--pass-pipeline=builtin.module({FINISH})"], launches)
    outside = works_on_host(launches.decode())
    code = run([f"{LLVM}/mlir-translate", "--mlir-to-llvmir"], lowered)
    run([f"{LLVM}/llc", "-O2", "-filetype=obj", "-relocation-model=pic", "-o", out("program.o")], code)
    open(out("call.c"), "w").write(call_source(inputs, results, bool(outside)))
    for kind in ["libmirage_runtime.so"] + (["libmirage_emulator.so"] if "emulation" in args.convert else []):
        shutil.copy(os.path.join(os.path.dirname(library), kind), out(kind))
    run(["cc", "-O2", "-std=c11", "-I", HERE, out("call.c"), os.path.join(HERE, "bench.c"), out("program.o"), "-o", out("bench"),
         out("libmirage_runtime.so"), "-Wl,-rpath,$ORIGIN", "-lm"], b"")
    json.dump({"function": name, "inputs": inputs, "results": results}, open(out("tensors.json"), "w"), indent=1)
    shutil.copy(os.path.join(HERE, "run.py"), out("run.py"))
    if args.reference:
        shutil.copy(args.reference, out("reference.py"))
    for scratch in ("call.c", "program.o"):
        os.remove(out(scratch))
    if any(name.startswith("memref.get_global") for name in outside):
        print("constants lie in the host's memory, where kernels may not reach them: make arguments of them")
    if outside:
        print(f"on the host, in memory that it shares with the GPU: {', '.join(outside)} (mirage-mlir-opt "
              "--convert-linalg-to-mirage=explain says why)")
    print(f"{args.out}: @{name}, {len(inputs)} inputs, {len(results)} results; run {out('run.py')} on the GPU machine")


if __name__ == "__main__":
    main()
