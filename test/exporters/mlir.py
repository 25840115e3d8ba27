"""Modules as the tests handle them: converted by our passes, their functions alone as stock MLIR reads them, walked."""

import os
import re
import subprocess

from torch_mlir import ir

import mirage_mlir  # noqa: F401  (the extension's errors)
from mirage_mlir import _mirage

MLIR_OPT = os.environ.get("MIRAGE_MLIR_OPT", "/usr/lib/llvm-22/bin/mlir-opt")
TOSA_TO_LINALG = ("builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith{include-apply-rescale=true},"
                  "tosa-to-tensor,tosa-to-scf,canonicalize,cse))")


def stock(text, *flags):
    """The module through a stock mlir-opt."""
    done = subprocess.run([MLIR_OPT, *flags], input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def passes(text, pipeline):
    """The module through our passes, and what they say: (severity, sentence)."""
    ok, out, messages, _ = _mirage.run(text, f"builtin.module({pipeline})")
    if not ok:
        raise RuntimeError("\n".join(m[3] for m in messages))
    return out, [(m[0], m[3]) for m in messages]


def functions_of(text):
    """A converted module without its programs, whose calls are calls of functions: for tools that do not know our dialect."""
    kept, declared, inside = [], {}, False
    for line in text.splitlines():
        inside = inside or line.startswith("  mirage_kernel.graph")
        if inside:
            inside = line != "  }"
            continue
        call = re.search(r"mirage_kernel\.call @(\w+)\(.*?\) : (\(.*\) -> .*)$", line)
        if call:
            declared[call[1]] = call[2]
            line = line.replace("mirage_kernel.call", "func.call")
        kept.append(line)
    at = next(i for i, line in enumerate(kept) if line.startswith("module")) + 1
    kept[at:at] = [f"  func.func private @{name}{types}" for name, types in declared.items()]
    return "\n".join(kept) + "\n"


def parse(text):
    context = ir.Context()
    context.allow_unregistered_dialects = True
    return ir.Module.parse(text, context)


def public_function(module):
    """The function that the exporter wrote."""
    found = [op for op in module.body.operations if op.operation.name == "func.func" and len(op.regions[0].blocks)]
    assert len(found) == 1, "one function with a body"
    return found[0]
