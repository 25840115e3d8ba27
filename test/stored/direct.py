# Streams weights of each stored type, in each width that a lane takes, through the generated code: on the emulator against float64.
#
#   direct.py BIN FOLDER-FOR-FILES [target]
#
# prints a line for each: what, the places of the weight and of its cast, and what mirage-run says of the result.
import pathlib
import re
import sys

from stream import compiled, run


def main():
    binaries, folder, target = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "h200"
    template = (pathlib.Path(__file__).parent / "inputs" / "direct.mlir").read_text()
    folder.mkdir(parents=True, exist_ok=True)
    for stored in ("i8", "i4", "f8E4M3FN", "f8E5M2"):
        for dtype in ("f16", "bf16"):
            for columns in (16, 32, 48):
                text = template.replace("STORED", stored).replace("TYPE", dtype).replace("COLUMNS", str(columns))
                module = compiled(text.replace("BLOCKS", str(384 // columns)), folder / "direct.compiled.mlir", binaries, target)
                places = re.findall(rf"tile<512x{columns}x\w+, (\w+)", module.read_text())
                done = run(module, binaries, target)
                verdict = re.search(r"output 0.*", done.stdout)
                print(stored, dtype, columns, *sorted(set(places)), verdict[0] if verdict else done.stdout + done.stderr)


main()
