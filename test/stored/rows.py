# Streams weights with a row for each output through the generated code: on the emulator against float64.
#
#   rows.py BIN FOLDER-FOR-FILES [target]
#
# prints a line for each: what, whether its loops stream, and what mirage-run says of their results.
import pathlib
import re
import subprocess
import sys

# Rows, depth, outputs of a block and of all. Depths of which a lane takes 16 bytes, 8 or 4; outputs in whole units of 16, and not; a
# last block with fewer. Not where warps cannot share the steps, nor where a block has an odd number of outputs.
CASES = [(1, 4096, 48, 96), (3, 2048, 32, 96), (10, 1024, 6, 96), (1, 1536, 24, 94), (2, 1088, 48, 96), (1, 1024, 3, 96)]

# Windows of rows that begin 2, 4 and 1 bytes behind a whole word, or in half a byte.
WINDOWS = [("f8E4M3FN", "f16", 2, 1100), ("i8", "bf16", 8, 1100), ("i8", "f16", 3, 1101), ("i4", "bf16", 6, 1102), ("i4", "f16", 5, 1100)]


def streamed(binaries, module, target, graph):
    command = [f"{binaries}/mirage-run", "--target=emulator", f"--graph={graph}", f"--compile={target}", str(module)]
    called = subprocess.run(command, capture_output=True, text=True)
    verdict = re.search(r"output 0.*: (\w+)$", called.stdout, flags=re.M)
    return verdict[1] if verdict else called.stdout + called.stderr


def filled(text, numbers):
    for name, value in numbers.items():
        text = text.replace(name, str(value))
    return text


def show(binaries, folder, target, text, graphs, *what):
    source, module = folder / "rows.mlir", folder / "rows.compiled.mlir"
    source.write_text(text)
    passes = ["--mirage-verify", f"--mirage-layout=target={target} explain"]
    called = subprocess.run([f"{binaries}/mirage-mlir-opt", str(source), *passes, "-o", str(module)], capture_output=True, text=True)
    forms = re.findall(r"form: streamed weights: (.*)", called.stderr)
    print(*what, *forms, *[streamed(binaries, module, target, graph) for graph in graphs])


def main():
    binaries, folder, target = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "h200"
    inputs = pathlib.Path(__file__).parent / "inputs"
    template, window = (inputs / "rows.mlir").read_text(), (inputs / "rows-window.mlir").read_text()
    folder.mkdir(parents=True, exist_ok=True)
    for stored in ("i8", "i4", "f8E4M3FN", "f8E5M2", "itself"):
        for dtype in ("f16", "bf16"):
            for rows, depth, outputs, of in CASES:
                text = template
                if stored == "itself":
                    text = re.sub(r"  +%ct? = cast.*\n", "", text)
                    text = re.sub(r"(matmul|transpose)(.*)%c", r"\1\2%w", text)
                numbers = {"ROWS": rows, "DEPTH": depth, "HALF": depth // 2, "OUTPUTS": outputs, "BLOCKS": -(-of // outputs), "OF": of}
                text = filled(text, {"STORED": dtype if stored == "itself" else stored, "TYPE": dtype, **numbers})
                show(binaries, folder, target, text, ("streamed", "turned"), stored, dtype, f"{rows}x{depth}x{outputs}")
    for stored, dtype, begin, pitch in WINDOWS:
        numbers = {"STORED": stored, "TYPE": dtype, "BEGIN": begin, "END": begin + 1024, "PITCH": pitch}
        show(binaries, folder, target, filled(window, numbers), ("streamed",), "window", stored, begin, pitch)


main()
