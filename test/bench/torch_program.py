"""Programs of the kernel dialect as PyTorch functions, for comparison: what a user would have written.

    program = Program.read("workloads/gqa_b1.mlir")
    outputs = program(*program.draw(seed=1))        # eager; torch.compile(program) works too

Reads the text form of one graph of kernel-level operators, as workloads/ and odd/ hold them. An operator has PyTorch's own function
where there is one (rms_norm, softmax, ...). Inputs are normal(0, 1) times the program's mirage_kernel.input_scales."""

import re
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}
UNARY = {"exp": torch.exp, "log": torch.log, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt, "square": torch.square, "neg": torch.neg,
         "erf": torch.erf, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu, "silu": F.silu, "gelu": F.gelu,
         "gelu_tanh": lambda x: F.gelu(x, approximate="tanh")}
BINARY = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "max": torch.maximum, "min": torch.minimum}
REDUCE = {"reduce_sum": lambda x, d: x.sum(d, keepdim=True), "reduce_max": lambda x, d: x.amax(d, keepdim=True),
          "reduce_mean": lambda x, d: x.mean(d, keepdim=True)}
TENSOR = re.compile(r"tensor<((?:\d+x)*)(f16|bf16|f32)>")
GRAPH = re.compile(r"mirage_kernel\.graph @(\w+)\((.*?)\)\s*->[^{]*?(?:attributes \{(.*?)\}\s*)?\{\n(.*?)\n\s*return ([^:]*):", re.S)
STEP = re.compile(r"%(\w+) = (\w+)\s*([^{:]*?)\s*(?:\{(.*?)\})?\s*:\s*(.*)")


def shape_of(text):
    dims, dtype = TENSOR.search(text).groups()
    return [int(d) for d in dims.split("x")[:-1]], DTYPES[dtype]


def attributes_of(text):
    """{dim = 1, perm = [1, 0], transpose_b} as a dictionary of numbers, lists and True."""
    found = {}
    for name, _, values, value in re.findall(r"(\w+)(\s*=\s*(?:\[(.*?)\]|([^\s,]+)))?", text or ""):
        found[name] = [int(v) for v in values.split(",")] if values else float(value) if value else True
    return found


class Program:
    def __init__(self, text):
        name, inputs, attributes, body, results = GRAPH.search(text).groups()
        self.name = name
        self.inputs = [(label, *shape_of(of)) for label, of in re.findall(r"%(\w+): (tensor<[^>]*>)", inputs)]
        scales = re.search(r"input_scales = array<f64: (.*?)>", attributes or "")
        self.scales = [float(s) for s in scales[1].split(",")] if scales else [1.0] * len(self.inputs)
        lines = [line.split("//")[0].strip() for line in body.split("\n")]
        self.steps = [self.step(line) for line in lines if line]
        self.results = re.findall(r"%(\w+)", results)

    @staticmethod
    def read(path):
        return Program(Path(path).read_text())

    @staticmethod
    def step(line):
        match = STEP.fullmatch(line)
        if not match:
            raise ValueError(f"not an operator: {line}")
        result, op, operands, attributes, types = match.groups()
        constant = float(operands) if op == "constant" else None
        return result, op, re.findall(r"%(\w+)", operands), attributes_of(attributes), types, constant

    def draw(self, seed, device="cpu"):
        rng = torch.Generator(device).manual_seed(seed)
        return [(torch.randn(shape, generator=rng, device=device) * scale).to(dtype)
                for (_, shape, dtype), scale in zip(self.inputs, self.scales)]

    def reference(self, inputs):
        """The outputs in float64."""
        return self(*[tensor.double() for tensor in inputs])

    def __call__(self, *inputs):
        values = dict(zip([label for label, _, _ in self.inputs], inputs))
        for result, op, operands, attributes, types, constant in self.steps:
            values[result] = apply(op, [values[o] for o in operands], attributes, types, constant)
        return [values[r] for r in self.results]


def run_arguments(folder, inputs, references):
    """Saves the tensors for mirage-run, and returns the options that name them."""
    arguments = []
    for option, tensors in ("input", inputs), ("reference", references):
        for i, tensor in enumerate(tensors):
            path = Path(folder) / f"{option}{i}.npy"
            np.save(path, tensor.to(torch.float32).cpu().numpy())
            arguments += [f"--{option}", f"{i}={path}"]
    return arguments


def relative_error(got, references):
    """Of the worst output: Frobenius norms of the error and of the reference."""
    return max(float((g.double() - r).norm() / r.norm()) for g, r in zip(got, references))


def apply(op, x, attributes, types, constant):
    dim = int(attributes.get("dim", -1))
    if op in UNARY:
        return UNARY[op](x[0])
    if op in ("max", "min"):  # of a constant, which PyTorch's want as a tensor
        return BINARY[op](*(torch.as_tensor(operand, dtype=x[0].dtype, device=x[0].device) for operand in x))
    if op in BINARY:
        return BINARY[op](*x)
    if op in REDUCE:
        return REDUCE[op](x[0], dim)
    if op == "constant":
        return constant
    if op == "matmul":
        a, b = (t.transpose(-1, -2) if attributes.get(f"transpose_{n}") else t for t, n in zip(x, "ab"))
        return a @ b
    if op == "softmax":
        return torch.softmax(x[0], dim)
    if op == "rms_norm":
        return F.rms_norm(x[0], x[0].shape[-1:], *x[1:], eps=attributes["eps"])
    if op == "layer_norm":
        return F.layer_norm(x[0], x[0].shape[-1:], *x[1:], eps=attributes["eps"])
    if op == "scaled_dot_product_attention":
        return F.scaled_dot_product_attention(*x, scale=attributes["scale"])
    if op == "transpose":
        return x[0].permute(attributes["perm"])
    if op == "slice":
        return x[0].narrow(dim, int(attributes["begin"]), int(attributes["end"] - attributes["begin"]))
    if op == "concat":
        return torch.cat(x, dim)
    if op == "repeat":
        return torch.cat([x[0]] * int(attributes["times"]), dim)
    to, dtype = shape_of(types.split("->")[-1])
    if op == "reshape":
        return x[0].reshape(to)
    if op == "broadcast":
        return x[0].expand(to)
    if op == "cast":
        return x[0].to(dtype if x[0].dtype != torch.float64 else torch.float64)
    raise ValueError(f"no PyTorch function for {op}")
