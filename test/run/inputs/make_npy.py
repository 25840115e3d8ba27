"""Writes .npy files, good and broken, without NumPy:  make_npy.py FILE DESCR SHAPE [fortran] [short|long] [version=N] [header=TEXT] [masked=N] [values=A,B,..]

SHAPE is like 2x3 (or "scalar"); element i is i mod 7 - 3. Of a mask, the first N elements of each row are -inf. `values` gives all.
"""
import struct
import sys

path, descr, shape_text, *flags = sys.argv[1:]
shape = () if shape_text == "scalar" else tuple(int(extent) for extent in shape_text.split("x"))
count = 1
for extent in shape:
    count *= extent
code = {"f2": "e", "f4": "f", "f8": "d", "i4": "i", "i8": "q", "b1": "?", "V2": "H"}[descr[1:]]
order = ">" if descr[0] == ">" else "<"
values = [i % 7 - 3 if code in "efd" else i % 2 for i in range(count)]
options = dict(flag.split("=", 1) for flag in flags if "=" in flag)
if "masked" in options:
    values = [float("-inf") if i % shape[-1] < int(options["masked"]) else 0.0 for i in range(count)]
if "values" in options:
    values = [float(value) for value in options["values"].split(",")]
data = struct.pack(f"{order}{count}{code}", *values)
if "short" in flags:
    data = data[:-3]
if "long" in flags:
    data += b"\0"
header = options.get("header", repr({"descr": descr, "fortran_order": "fortran" in flags, "shape": shape})) + "\n"
version = int(options.get("version", 1))
length = struct.pack("<H" if version == 1 else "<I", len(header))
with open(path, "wb") as file:
    file.write(b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + data)
