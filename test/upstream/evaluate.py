"""Float64 evaluation of the original's µGraph JSON, straight from the file's attributes: the oracle of check.py --mutate.

It shares nothing with lib/import: numpy, one thread block after the other, shapes from the attributes alone. Graph = list of
kernel operators, as in the file. Raises Invalid for graphs that have no meaning (extents that do not divide, operands that do
not fit, maps out of range, two blocks that store different values to one place, elements that nobody stores)."""

import itertools

import numpy as np


class Invalid(Exception):
    pass


UNARY = {
    "exp": np.exp,
    "square": np.square,
    "sqrt": np.sqrt,
    "silu": lambda x: x / (1 + np.exp(-x)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0),
    "log": np.log,
}
BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "matmul": np.matmul}


def fold(x, dim, left):
    """out[j] = sum over i of x[i * left + j] along `dim`."""
    if dim >= x.ndim or x.shape[dim] % left:
        raise Invalid(f"dimension {dim} of {x.shape} does not fold to {left}")
    shape = x.shape[:dim] + (x.shape[dim] // left, left) + x.shape[dim + 1 :]
    return x.reshape(shape).sum(axis=dim)


def apply(name, inputs, dimx):
    if name in UNARY:
        return UNARY[name](inputs[0])
    if name in BINARY:
        try:
            return BINARY[name](*inputs)
        except ValueError as error:
            raise Invalid(str(error)) from error
    if name == "rms_norm":
        return inputs[0] / np.sqrt(np.mean(inputs[0] ** 2, axis=-1, keepdims=True))
    if name.startswith("reduction_"):
        return fold(inputs[0], int(name[10]), dimx if name.endswith("_to_dimx") else 1)
    if name.startswith("concat_"):
        return np.concatenate(inputs, axis=int(name[7]))
    raise Invalid(f"operator {name}")


class Accum:
    """An accumulator: contributions over the loop, then finish()."""

    def __init__(self, name, dimx):
        self.name, self.dimx, self.sum, self.count = name, dimx, None, 0

    def add(self, x):
        last = x.ndim - 1
        if self.name == "accum_nored":
            part = x
        elif self.name == "accum_redtox_ld_sum":
            part = fold(x, last, self.dimx)
        elif self.name == "accum_red_ld_rms":
            part = fold(x**2, last, 1)
        else:
            part = fold(x, last, 1)
        self.count += x.shape[last]
        self.sum = part if self.sum is None else self.sum + part

    def finish(self):
        if self.name == "accum_red_ld_mean":
            return self.sum / self.count
        if self.name == "accum_red_ld_rms":
            return np.sqrt(self.sum / self.count)
        return self.sum


def name_of(op):
    return op["op_type"][3:-3].replace("forloop_", "")


def guid_of(op, i=0):
    return op["input_tensors"][i]["guid"]


def parts(shape, grid, index, grid_map, steps=1, step=0, loop_dim=-1):
    """Slices of a tensor that a block reads or writes, in one iteration."""
    begin, extent, used = [0] * len(shape), list(shape), set()
    for axis in range(3):
        dim = grid_map["xyz"[axis]]
        if dim >= len(shape):
            raise Invalid("map out of range")
        if dim < 0 or grid[axis] == 1:
            continue
        if dim in used:
            raise Invalid("two grid axes split one dimension")
        used.add(dim)
        if extent[dim] % grid[axis]:
            raise Invalid(f"{extent[dim]} does not divide into {grid[axis]}")
        extent[dim] //= grid[axis]
        begin[dim] += index[axis] * extent[dim]
    if loop_dim >= 0 and steps > 1:
        if loop_dim >= len(shape) or extent[loop_dim] % steps:
            raise Invalid("the loop does not divide its dimension")
        extent[loop_dim] //= steps
        begin[loop_dim] += step * extent[loop_dim]
    return tuple(slice(b, b + e) for b, e in zip(begin, extent))


class Kernel:
    def __init__(self, op, tensors):
        b = op["bgraph"]
        self.op, self.tensors = op, tensors
        self.grid = [b["grid_dim"][a] for a in "xyz"]
        self.range, self.dimx, self.ops = b["forloop_range"], b.get("reduction_dimx", 1), b["operators"]
        self.results, self.written = {}, {}

    def phase(self):
        """Which tensors live after the loop; refuses operators that mix."""
        after = {}
        for op in self.ops:
            name = name_of(op)
            if name == "input":
                after[op["output_tensors"][0]["guid"]] = False
                continue
            lives = [after[t["guid"]] for t in op["input_tensors"]]
            if name.startswith("accum") and lives[0]:
                raise Invalid("accumulated twice")
            if self.range > 1 and (len(set(lives)) > 1 or (name == "output" and not lives[0])):
                raise Invalid("mixes loop and epilogue")
            if name != "output":
                after[op["output_tensors"][0]["guid"]] = lives[0] or name.startswith("accum") or any(lives)
        return after

    def block(self, index, after):
        values = {}
        accums = {}
        for step in range(self.range):
            for op in self.ops:
                name = name_of(op)
                if name == "input":
                    source = self.tensors[op["dtensor"]["guid"]]
                    where = parts(source.shape, self.grid, index, op["input_map"], self.range, step, op["forloop_dim"])
                    values[op["output_tensors"][0]["guid"]] = source[where]
                elif name.startswith("accum"):
                    guid = op["output_tensors"][0]["guid"]
                    accums.setdefault(guid, Accum(name, self.dimx)).add(values[guid_of(op)])
                elif name != "output" and not after[op["output_tensors"][0]["guid"]]:
                    inputs = [values[t["guid"]] for t in op["input_tensors"]]
                    values[op["output_tensors"][0]["guid"]] = apply(name, inputs, self.dimx)
        for op in self.ops:
            name = name_of(op)
            if name == "input":
                continue
            if name == "output":
                self.store(op, index, values[guid_of(op)])
            elif name.startswith("accum"):
                guid = op["output_tensors"][0]["guid"]
                values[guid] = accums[guid].finish()
            elif after[op["output_tensors"][0]["guid"]]:
                inputs = [values[t["guid"]] for t in op["input_tensors"]]
                values[op["output_tensors"][0]["guid"]] = apply(name, inputs, self.dimx)

    def store(self, op, index, tile):
        guid, shape = op["dtensor"]["guid"], list(tile.shape)
        for axis in range(3):
            dim = op["output_map"]["xyz"[axis]]
            if dim >= len(shape):
                raise Invalid("map out of range")
            if dim >= 0:
                shape[dim] *= self.grid[axis]
        if guid not in self.results:
            self.results[guid], self.written[guid] = np.zeros(shape), np.zeros(shape, bool)
        where = parts(self.results[guid].shape, self.grid, index, op["output_map"])
        target, seen = self.results[guid][where], self.written[guid][where]
        if seen.any() and not np.allclose(target[seen], tile[seen], rtol=1e-9, atol=1e-12):
            raise Invalid("two blocks store different values to one place")
        target[...] = tile
        seen[...] = True

    def run(self):
        after = self.phase()
        for index in itertools.product(*(range(n) for n in self.grid)):
            self.block(index, after)
        for t in self.op["output_tensors"]:
            if t["guid"] not in self.results or not self.written[t["guid"]].all():
                raise Invalid("an output is not stored in full")
            self.tensors[t["guid"]] = self.results[t["guid"]]


def evaluate(graph, inputs):
    tensors, outputs, inputs = {}, [], list(inputs)
    with np.errstate(all="ignore"):
        for op in graph:
            name = name_of(op)
            if name == "input":
                tensors[op["output_tensors"][0]["guid"]] = inputs.pop(0)
            elif name == "output":
                outputs.append(tensors[guid_of(op)])
            elif name == "customized":
                Kernel(op, tensors).run()
            else:
                values = [tensors[t["guid"]] for t in op["input_tensors"]]
                tensors[op["output_tensors"][0]["guid"]] = apply(name, values, 1)
    return outputs


def draw_inputs(graph, seed):
    rng = np.random.default_rng(seed)
    shapes = [op["output_tensors"][0] for op in graph if op["op_type"] == "kn_input_op"]
    return [rng.uniform(-0.5, 0.5, size=t["dim"][: t["num_dims"]]) for t in shapes]
