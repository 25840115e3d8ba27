# The weight stream of inputs/direct.mlir as the tests of stored types run it.
import subprocess


def compiled(text, module, binaries, target):
    """Plans the text into `module`. Not selected: that is for the cost model to say."""
    source = module.with_suffix(".source.mlir")
    source.write_text(text)
    passes = ["--mirage-verify", f"--mirage-layout=target={target}"]
    subprocess.run([f"{binaries}/mirage-mlir-opt", str(source), *passes, "-o", str(module)], check=True, capture_output=True)
    return module


def run(module, binaries, target, *options):
    """What mirage-run says of it on the emulator."""
    command = [f"{binaries}/mirage-run", "--target=emulator", "--graph=streamed", f"--compile={target}", *options, str(module)]
    return subprocess.run(command, capture_output=True, text=True)
