//===- MirageOperators.td - operators that several levels share -*- tablegen -*-===//
//
// The rows here and in the three dialect files are the rows of include/mirage/ops.def; test/dialect/ops-table.test compares
// the two. What each operator means: lib/eval; which shapes it takes: lib/ugraph/infer.c.
//
// Syntax of all of them:  `mnemonic value? operands? {key = value, ...}? : operand-types (-> result-type)?`
// The result type is left out where it follows from the operands, unless it has been given a place or a layout.
//
//===----------------------------------------------------------------------------===//

#ifndef MIRAGE_OPERATORS_TD
#define MIRAGE_OPERATORS_TD

include "MirageBase.td"

class Row<string itsName, string itsMnemonic, string itsText> {
  string name = itsName;
  string mnemonic = itsMnemonic;
  string text = itsText;
}

defvar Unary = [
  Row<"Exp", "exp", "e to the power of x; 0 for bottom">,
  Row<"Log", "log", "natural logarithm">,
  Row<"Sqrt", "sqrt", "square root">,
  Row<"Rsqrt", "rsqrt", "1 / sqrt(x)">,
  Row<"Square", "square", "x * x">,
  Row<"Neg", "neg", "-x">,
  Row<"Sigmoid", "sigmoid", "1 / (1 + exp(-x))">,
  Row<"Silu", "silu", "x * sigmoid(x)">,
  Row<"Gelu", "gelu", "x * (1 + erf(x / sqrt 2)) / 2">,
  Row<"GeluTanh", "gelu_tanh", "the approximation of gelu by tanh">,
  Row<"Erf", "erf", "the error function">,
  Row<"Tanh", "tanh", "hyperbolic tangent">,
  Row<"Relu", "relu", "max(x, 0)">,
];

defvar Binary = [
  Row<"Add", "add", "a + b, with right-aligned broadcasting">,
  Row<"Sub", "sub", "a - b, with right-aligned broadcasting">,
  Row<"Mul", "mul", "a * b, with right-aligned broadcasting">,
  Row<"Div", "div", "a / b, with right-aligned broadcasting">,
  Row<"Max", "max", "the larger of a and b, with right-aligned broadcasting">,
  Row<"Min", "min", "the smaller of a and b, with right-aligned broadcasting">,
];

defvar Reduction = [
  Row<"ReduceSum", "reduce_sum", "out[j] = sum over i of in[i * extent + j] along `dim`, which is kept with `extent` left">,
  Row<"ReduceMax", "reduce_max", "the same with the maximum">,
  Row<"ReduceMean", "reduce_mean", "the same with the mean">,
];

class Mirage_Matmul<Mirage_Level level> : Mirage_InferredOperator<level, "matmul",
    "contraction of the last two dimensions; leading ones are batch and broadcast"> {
  let arguments = (ins level.value:$lhs, level.value:$rhs, UnitAttr:$transpose_a, UnitAttr:$transpose_b);
}

// Every level: element-wise operators, reductions, broadcast, cast, constant.
multiclass Mirage_CommonOperators<Mirage_Level level> {
  foreach row = Unary in
    def NAME # "_" # row.name # "Op" : Mirage_InferredOperator<level, row.mnemonic, row.text> {
      let arguments = (ins level.value:$input);
    }
  foreach row = Binary in
    def NAME # "_" # row.name # "Op" : Mirage_InferredOperator<level, row.mnemonic, row.text> {
      let arguments = (ins level.value:$lhs, level.value:$rhs);
    }
  foreach row = Reduction in
    def NAME # "_" # row.name # "Op" : Mirage_InferredOperator<level, row.mnemonic, row.text> {
      let arguments = (ins level.value:$input, I64Attr:$dim, DefaultValuedAttr<I64Attr, "1">:$extent);
    }
  def NAME # "_BroadcastOp" : Mirage_TypedOperator<level, "broadcast", "stretches extents of 1, right-aligned"> {
    let arguments = (ins level.value:$input);
  }
  def NAME # "_CastOp" : Mirage_TypedOperator<level, "cast", "the same values in another element type"> {
    let arguments = (ins level.value:$input);
  }
  def NAME # "_ConstantOp" : Mirage_TypedOperator<level, "constant", "every element is `value`"> {
    let arguments = (ins F64Attr:$value);
  }
}

// Kernel and block level: matmul and data movement.
multiclass Mirage_TensorOperators<Mirage_Level level> {
  def NAME # "_MatmulOp" : Mirage_Matmul<level>;
  def NAME # "_RepeatOp" : Mirage_InferredOperator<level, "repeat", "`times` copies one after the other along `dim`"> {
    let arguments = (ins level.value:$input, I64Attr:$dim, I64Attr:$times);
  }
  def NAME # "_TransposeOp" : Mirage_InferredOperator<level, "transpose", "result dimension i is operand dimension perm[i]"> {
    let arguments = (ins level.value:$input, DenseI64ArrayAttr:$perm);
  }
  def NAME # "_ReshapeOp" : Mirage_TypedOperator<level, "reshape", "the same elements in row-major order"> {
    let arguments = (ins level.value:$input);
  }
  def NAME # "_SliceOp" : Mirage_InferredOperator<level, "slice", "elements begin .. end - 1 along `dim`"> {
    let arguments = (ins level.value:$input, I64Attr:$dim, I64Attr:$begin, I64Attr:$end);
  }
  def NAME # "_ConcatOp" : Mirage_InferredOperator<level, "concat", "the operands one after the other along `dim`"> {
    let arguments = (ins Variadic<level.value>:$inputs, I64Attr:$dim);
  }
}

// Block and thread level.
multiclass Mirage_BottomOperator<Mirage_Level level> {
  def NAME # "_BottomOp" : Mirage_TypedOperator<level, "bottom", "the value below every number: a maximum's start">;
}

#endif // MIRAGE_OPERATORS_TD
