"""Prints a program: blocks of y = x + silu(x a) (x b) c, without a norm between them.

stack.py BLOCKS WIDTH
"""
import sys

blocks, width = int(sys.argv[1]), int(sys.argv[2])
row, matrix = f"tensor<4x{width}xf16>", f"tensor<{width}x{width}xf16>"
weights = ", ".join(f"%{name}{i}: {matrix}" for i in range(blocks) for name in "abc")
print(f"mirage_kernel.graph @stack(%x0: {row}, {weights}) -> {row} {{")
for i in range(blocks):
    print(f"  %s{i} = matmul %x{i}, %a{i} : {row}, {matrix}")
    print(f"  %t{i} = silu %s{i} : {row}")
    print(f"  %u{i} = matmul %x{i}, %b{i} : {row}, {matrix}")
    print(f"  %g{i} = mul %t{i}, %u{i} : {row}, {row}")
    print(f"  %d{i} = matmul %g{i}, %c{i} : {row}, {matrix}")
    print(f"  %x{i + 1} = add %x{i}, %d{i} : {row}, {row}")
print(f"  return %x{blocks} : {row}\n}}")
