# Streams weights in groups of rows, whose products are scaled and summed, through the generated code: on the emulator against float64.
#
#   grouped.py BIN FOLDER-FOR-FILES [target]
#
# prints a line for each: what, whether its loop streams, and what mirage-run says of the result.
import pathlib
import re
import subprocess
import sys


def run(binaries, folder, name, target, text):
    source, module = folder / "grouped.mlir", folder / "grouped.compiled.mlir"
    source.write_text(text)
    passes = ["--mirage-verify", f"--mirage-layout=target={target} explain", f"--mirage-lower=target={target}"]
    called = subprocess.run([f"{binaries}/mirage-mlir-opt", str(source), *passes, "-o", str(module)], check=True, capture_output=True, text=True)
    forms = re.findall(r"form: streamed weights: (.*)", called.stderr)
    found = subprocess.run([f"{binaries}/mirage-run", "--target=emulator", f"--graph={name}", f"--compile={target}", str(module)], capture_output=True, text=True)
    verdict = re.search(r"output 0.*", found.stdout)
    return " ".join(forms), verdict[0] if verdict else found.stdout + found.stderr


def main():
    binaries, folder, target = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "h200"
    folder.mkdir(parents=True, exist_ok=True)
    for kind in ("grouped", "grouped-rows"):
        template = (pathlib.Path(__file__).parent / "inputs" / f"{kind}.mlir").read_text()
        head, *graphs = re.split(r"(?=^mirage_kernel\.graph)", template, flags=re.M)
        for stored, dtype, scale, columns, rows in (("i4", "f16", "f16", 48, 1), ("i4", "bf16", "f32", 32, 1), ("i8", "f16", "f16", 16, 3), ("f8E4M3FN", "bf16", "bf16", 64, 1)):
            for graph in graphs[1:]:
                text = graphs[0] + graph
                for what, value in (("STORED", stored), ("TYPE", dtype), ("SCALE", scale), ("COLUMNS", columns), ("BLOCKS", 384 // columns), ("xMx", f"x{rows}x")):
                    text = text.replace(what, str(value))
                name = re.search(r"@(\w+)", graph)[1]
                print(kind, name, stored, dtype, scale, columns, *run(binaries, folder, name, target, text))


main()
