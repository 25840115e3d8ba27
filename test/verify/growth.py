# growth.py - how the bound of a trial grows with tensor size and with the number of operators.
#
#   growth.py path/to/mirage-mlir-opt      prints the Markdown tables of lib/verify/README.md
#
# Each row is a real run: a program verified against its own copy, at full size unless the cell says otherwise. Rows of a
# tensor are few, since the bound is that of the worst element, not of their number; what counts is how many elements are summed into one.
import re
import subprocess
import sys


def graph(name, inputs, result, lines, source=None):
    args = ", ".join(f"%{n}: tensor<{t}xf32>" for n, t in inputs)
    attributes = f" attributes {{source = @{source}}}" if source else ""
    body = "\n".join("  " + line for line in lines)
    return (f"mirage_kernel.graph @{name}({args}) -> tensor<{result}xf32>{attributes} {{\n{body}\n"
            f"  return %y : tensor<{result}xf32>\n}}\n")


def linear(k):
    return [("x", f"1x{k}"), ("w", f"{k}x1")], "1x1", [f"%y = matmul %x, %w : tensor<1x{k}xf32>, tensor<{k}x1xf32>"]


def norm(k):
    return ([("x", f"1x{k}"), ("w", f"{k}x1")], "1x1",
            [f"%n = rms_norm %x {{eps = 1.0e-05}} : tensor<1x{k}xf32>",
             f"%y = matmul %n, %w : tensor<1x{k}xf32>, tensor<{k}x1xf32>"])


def softmax(n):
    return [("x", f"1x{n}")], f"1x{n}", [f"%y = softmax %x {{dim = 1}} : tensor<1x{n}xf32>"]


def attention(n):
    return ([("q", "1x64"), ("k", f"{n}x64"), ("v", f"{n}x2")], "1x2",
            ["%y = scaled_dot_product_attention %q, %k, %v {scale = 0.125} : "
             f"tensor<1x64xf32>, tensor<{n}x64xf32>, tensor<{n}x2xf32>"])


def mlp(k):
    t = f"tensor<1x{k}xf32>, tensor<{k}x1xf32>"
    return ([("x", f"1x{k}"), ("w", f"{k}x1"), ("v", f"{k}x1")], "1x1",
            [f"%a = matmul %x, %w : {t}", f"%b = matmul %x, %v : {t}", "%s = silu %a : tensor<1x1xf32>",
             "%y = mul %s, %b : tensor<1x1xf32>, tensor<1x1xf32>"])


def chain(first, step):
    def build(count):
        lines = [first] + [step.format(a=f"t{i}", b=f"t{i + 1}") for i in range(count)]
        lines[-1] = lines[-1].replace(f"%t{count} =", "%y =")
        return [("x", "1x8"), ("w", "8x8")], "1x8", lines
    return build


START = "%t0 = neg %x : tensor<1x8xf32>"
products = chain(START, "%{b} = matmul %{a}, %w : tensor<1x8xf32>, tensor<8x8xf32>")
squares = chain(START, "%{b} = square %{a} : tensor<1x8xf32>")
quotients = chain(START, "%{b} = div %x, %{a} : tensor<1x8xf32>, tensor<1x8xf32>")
sigmoids = chain(START, "%{b} = sigmoid %{a} : tensor<1x8xf32>")
roots = chain(START, "%{b} = sqrt %{a} : tensor<1x8xf32>")

SIZES = [("linear, K", linear), ("RMSNorm + linear, K", norm), ("softmax, N", softmax), ("attention, N keys", attention),
         ("gated unit, K", mlp)]
COUNTS = [("matmul with one weight", products), ("square", squares), ("div", quotients), ("sigmoid", sigmoids),
          ("sqrt", roots)]


def run(opt, build, size):
    inputs, result, lines = build(size)
    text = graph("p", inputs, result, lines) + graph("c", inputs, result, lines, "p")
    done = subprocess.run([opt, "--mirage-verify=explain guard=false max-work=1e9", "-o", "/dev/null"], input=text,
                          capture_output=True, text=True)
    found = re.search(r"below 2\^(-[\d.]+) \((\d+) trials?, .*degree (\d+), 2\^(\d+) monomials, (\d+) calls", done.stderr)
    if not found:
        why = re.search(r"unsupported: ([^,:\n]*)", done.stderr)
        return why[1] if why else done.stderr.strip()[:60]
    bound, trials, degree, terms, calls = found.groups()
    instance = ", by transfer" if "by transfer from a smaller instance" in done.stderr else ""
    instance += ", in pieces" if re.search(r"in \d+ pieces?", done.stderr) else ""
    return f"2^{float(bound) / int(trials):.1f} ({degree}, 2^{terms}, {calls}), {trials} trial{'s' * (trials != '1')}{instance}"


def table(opt, head, rows, sizes):
    print(f"| {head} | " + " | ".join(map(str, sizes)) + " |")
    print("|---" * (len(sizes) + 1) + "|")
    for name, build in rows:
        print(f"| {name} | " + " | ".join(run(opt, build, size) for size in sizes) + " |")
    print()


table(sys.argv[1], "size", SIZES, [16, 256, 4096, 65536])
table(sys.argv[1], "operators in a row", COUNTS, [1, 4, 16, 64])
