"""The roads: how a program becomes MLIR text. Each gives linalg on tensors, or TOSA, as that exporter prints it.

  torch-linalg  torch.export, torch-mlir
  torch-tosa    torch.export, torch-mlir, TOSA
  jax-iree      jax.jit(..).lower, iree-compile --compile-to=input; its util.func is func.func by another name
  jax-stablehlo jax.export, torch-mlir-opt --stablehlo-legalize-to-linalg
"""

import os
import re
import subprocess
import sys

from programs import PROGRAMS

ROADS = ("torch-linalg", "torch-tosa", "jax-iree", "jax-stablehlo")


def tool(name):
    return os.path.join(os.path.dirname(sys.executable), name)


def run(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=isinstance(text, str))
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stderr if isinstance(done.stderr, str) else done.stderr.decode()}")
    return done.stdout if isinstance(done.stdout, str) else done.stdout.decode()


def torch_mlir(program, output_type):
    import torch
    from torch_mlir import fx

    import programs_torch
    inputs = tuple(torch.ones(s, dtype=getattr(torch, program.dtype)) for s in program.shapes)
    module = programs_torch.Program(getattr(programs_torch, program.name))
    exported = torch.export.export(module, inputs)
    return str(fx.export_and_import(exported, output_type=output_type, func_name=program.name))


def lowered(program):
    import jax

    import programs_jax
    inputs = [jax.ShapeDtypeStruct(s, program.dtype) for s in program.shapes]
    return jax.jit(getattr(programs_jax, program.name)), inputs


def jax_iree(program):
    function, inputs = lowered(program)
    text = str(function.lower(*inputs).compiler_ir("stablehlo"))
    text = run([tool("iree-compile"), "--iree-input-type=stablehlo", "--compile-to=input", "-"], text)
    text = re.sub(r"util\.func (public |private )?", "func.func ", text)
    return re.sub(r"util\.return", "return", text)


def jax_stablehlo(program):
    from jax import export
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    function, inputs = lowered(program)
    artifact = export.export(function)(*inputs).mlir_module_serialized
    with ir.Context() as context:
        text = str(stablehlo.deserialize_portable_artifact(context, artifact))
    return run([tool("torch-mlir-opt"), "--inline", "--symbol-dce", "--stablehlo-legalize-to-linalg", "--canonicalize",
                "--cse"], text)


def export(road, name):
    program = PROGRAMS[name]
    if road == "torch-linalg":
        return torch_mlir(program, "linalg-on-tensors")
    if road == "torch-tosa":
        return torch_mlir(program, "tosa")
    return jax_iree(program) if road == "jax-iree" else jax_stablehlo(program)


if __name__ == "__main__":
    folder = sys.argv[1]
    for road in sys.argv[2:] or ROADS:
        os.makedirs(os.path.join(folder, road), exist_ok=True)
        for name in PROGRAMS:
            try:
                text = export(road, name)
            except Exception as error:  # each program's fate of its own
                print(f"{road} {name}: {str(error)[:2000]}")
                continue
            with open(os.path.join(folder, road, name + ".mlir"), "w") as file:
                file.write(text)
