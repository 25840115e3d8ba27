"""Writes the PTX of a module's one gpu.binary to standard output: ptx.py module.mlir"""
import re
import sys

with open(sys.argv[1]) as module:
    objects = re.findall(r'assembly = "((?:[^"\\]|\\.)*)"', module.read())
if len(objects) != 1:
    sys.exit(f"ptx.py: {sys.argv[1]} has {len(objects)} PTX objects, expected 1")
text = re.sub(r"\\([0-9A-F]{2}|.)", lambda m: chr(int(m[1], 16)) if len(m[1]) == 2 else m[1], objects[0])
sys.stdout.write(text)
