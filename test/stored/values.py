# Every value of each stored type, to f16 and bf16, through the generated code of the weight stream on the emulator: to the last bit.
#
#   values.py BIN FOLDER-FOR-FILES [target]
#
# The weight's column j holds value row + j; three rows of x are zero but for a one, so a result is a value as it stands. NaN have columns
# of their own, whose results are none either. (Infinities are no input: mirage-run takes the largest number.)
import math
import pathlib
import re
import struct
import sys

from stream import compiled, run

K, N, ONES = 1024, 384, (5, 514, 1023)


def save(path, rows):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}".ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for row in rows:
            file.write(struct.pack(f"<{len(row)}f", *row))


def load(path):
    data = path.read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    letter = {"<f2": "e", "<f4": "f", "<f8": "d"}[re.search(rb"'descr': '([^']*)'", data)[1].decode()]
    return [value for value, in struct.iter_unpack("<" + letter, data[10 + length :])]


def f8(byte, exponents, bias, infinities):
    mantissas = 7 - exponents
    field, fraction, sign = (byte >> mantissas) & (2**exponents - 1), byte & (2**mantissas - 1), -1 if byte & 0x80 else 1
    if infinities and field == 2**exponents - 1:
        return math.nan if fraction else sign * math.inf
    if not infinities and byte & 0x7F == 0x7F:
        return math.nan
    return sign * (math.ldexp(fraction, 1 - bias - mantissas) if field == 0 else math.ldexp(1 + fraction / 2**mantissas, field - bias))


def values(stored):
    if stored == "i8":
        return [float(byte - 128) for byte in range(256)]
    if stored == "i4":
        return [float(byte - 8) for byte in range(16)]
    return [f8(byte, 4, 7, False) if stored == "f8E4M3FN" else f8(byte, 5, 15, True) for byte in range(256)]


def weights(stored):
    every = values(stored)
    numbers = [value for value in every if math.isfinite(value)]
    w = [[numbers[(row + column) % len(numbers)] for column in range(N)] for row in range(K)]
    odd = {2 * i + i % 2 for i in range(sum(map(math.isnan, every)))}  # columns of either parity
    for column in odd:
        w[ONES[0]][column] = math.nan
    return w, odd


def main():
    binaries, folder, target = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "h200"
    template = (pathlib.Path(__file__).parent / "inputs" / "direct.mlir").read_text().replace("COLUMNS", "48").replace("BLOCKS", "8")
    folder.mkdir(parents=True, exist_ok=True)
    save(folder / "x.npy", [[float(k == one) for k in range(K)] for one in ONES])
    for stored in ("i8", "i4", "f8E4M3FN", "f8E5M2"):
        w, odd = weights(stored)
        save(folder / "w.npy", w)
        for dtype in ("f16", "bf16"):
            module = compiled(template.replace("STORED", stored).replace("TYPE", dtype), folder / "values.compiled.mlir", binaries, target)
            inputs = [f"--input={i}={folder}/{name}.npy" for i, name in enumerate("xw")]
            run(module, binaries, target, "--skip-non-finite", f"--save-output={folder}", *inputs)
            out = load(folder / "output0.npy")
            right = sum(math.isnan(value) if i % N in odd else value == w[ONES[i // N]][i % N] for i, value in enumerate(out))
            numbers = len({value for value in out if math.isfinite(value)})
            print(stored, dtype, f"{right} of {len(out)} right, {numbers} numbers, {len(odd)} that are none")


main()
