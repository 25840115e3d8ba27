"""Writes and reads small .npy files, with nothing but Python.

npy.py FILE.npy COUNT VALUE...     writes a vector of float32: the values over and over
npy.py --size FILE.npy...          prints the root mean square of each file's elements
"""
import math
import re
import struct
import sys


def write(path, count, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({count},), }}"
    header = header.ljust(117) + "\n"
    elements = [values[i % len(values)] for i in range(count)]
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{count}f", *elements))


def size(path):
    data = open(path, "rb").read()
    length = struct.unpack("<H", data[8:10])[0]
    letter = {"<f2": "e", "<f4": "f", "<f8": "d"}[re.search(rb"'descr': '([^']*)'", data)[1].decode()]
    elements = [x for x, in struct.iter_unpack("<" + letter, data[10 + length:])]
    return math.sqrt(sum(x * x for x in elements) / len(elements))


if sys.argv[1] == "--size":
    for path in sys.argv[2:]:
        print(f"size {size(path):.3g}")
else:
    write(sys.argv[1], int(sys.argv[2]), [float(x) for x in sys.argv[3:]])
