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
  Row<"Square", "square", "the square x * x">,
  Row<"Neg", "neg", "-x">,
  Row<"Sigmoid", "sigmoid", "1 / (1 + exp(-x))">,
  Row<"Silu", "silu", "the product x * sigmoid(x)">,
  Row<"Gelu", "gelu", "half of x * (1 + erf(x / sqrt 2))">,
  Row<"GeluTanh", "gelu_tanh", "the approximation of gelu by tanh">,
  Row<"Erf", "erf", "the error function">,
  Row<"Tanh", "tanh", "hyperbolic tangent">,
  Row<"Sin", "sin", "the sine of x, in radians; code is right to 2e-7 up to |x| = 2^22">,
  Row<"Cos", "cos", "the cosine of x, in radians; code is right to 2e-7 up to |x| = 2^22">,
  Row<"Relu", "relu", "the larger of x and 0">,
];

// Of i1: whether something holds.
class PredicateRow<string itsName, string itsMnemonic, string itsText, string left, string right>
    : Row<itsName, itsMnemonic, itsText> {
  string leftType = left;
  string rightType = right;
}
defvar Predicates = [
  PredicateRow<"Less", "less", "whether a < b, as i1", "f16", "f16">,
  PredicateRow<"LessEqual", "less_equal", "whether a <= b, as i1", "f16", "f16">,
  PredicateRow<"Greater", "greater", "whether a > b, as i1", "f16", "f16">,
  PredicateRow<"GreaterEqual", "greater_equal", "whether a >= b, as i1", "f16", "f16">,
  PredicateRow<"Equal", "equal", "whether a = b, as i1", "f16", "f16">,
  PredicateRow<"NotEqual", "not_equal", "whether a differs from b, as i1", "f16", "f16">,
  PredicateRow<"And", "and", "whether both hold", "i1", "i1">,
  PredicateRow<"Or", "or", "whether one holds, or both", "i1", "i1">,
  PredicateRow<"Mask", "mask", "b where the predicate a holds, bottom elsewhere", "i1", "f16">,
];

defvar Binary = [
  Row<"Add", "add", "the sum a + b, with right-aligned broadcasting">,
  Row<"Sub", "sub", "the difference a - b, with right-aligned broadcasting">,
  Row<"Mul", "mul", "the product a * b, with right-aligned broadcasting">,
  Row<"Div", "div", "the quotient a / b, with right-aligned broadcasting">,
  Row<"Max", "max", "the larger of a and b, with right-aligned broadcasting">,
  Row<"Min", "min", "the smaller of a and b, with right-aligned broadcasting">,
];

defvar Reduction = [
  Row<"ReduceSum", "reduce_sum", "sums along `dim`, of which `extent` is left: out[j] = sum over i of in[i * extent + j]">,
  Row<"ReduceMax", "reduce_max", "maxima along `dim`, of which `extent` is left: out[j] = max over i of in[i * extent + j]">,
  Row<"ReduceMean", "reduce_mean", "means along `dim`, of which `extent` is left: out[j] = mean over i of in[i * extent + j]">,
];

class Mirage_Matmul<Mirage_Level level> : Mirage_InferredOperator<level, "matmul",
    "contraction of the last two dimensions; leading ones are batch and broadcast"> {
  let detail = "`transpose_a`, `transpose_b`: the operand's last two dimensions change places first. Both operands have one " #
               "element type. Sums are taken in f32, and a tensor is rounded to the operands' type, unless its type is written and f32. " #
               "Bytes are multiplied as they are stored: of i8 by i8 the result is i32, exact, and goes around beyond 2^31; of f8 by " #
               "f8, of either kind each, it is f32. `cast` makes numbers of an i32, which scales are then multiplied by.";
  let example = "%y = matmul %a, %b : " # level.open # "4x16x8xf16>, " # level.open # "8x32xf16>\n" #
                "%z = matmul %a, %c {transpose_b} : " # level.open # "4x16x8xf16>, " # level.open # "32x8xf16>\n" #
                "%w = matmul %a, %b : " # level.open # "4x16x8xf16>, " # level.open # "8x32xf16> -> " # level.open # "4x16x32xf32>";
  let arguments = (ins level.value:$lhs, level.value:$rhs, UnitAttr:$transpose_a, UnitAttr:$transpose_b);
}

// Every level: element-wise operators, reductions, broadcast, cast, constant.
multiclass Mirage_CommonOperators<Mirage_Level level> {
  foreach row = Unary in
    def NAME # "_" # row.name # "Op" : Mirage_InferredOperator<level, row.mnemonic, row.text> {
      let detail = "Element by element.";
      let example = "%y = " # row.mnemonic # " %x : " # level.open # "2x4xf16>";
      let arguments = (ins level.value:$input);
    }
  foreach row = Binary in
    def NAME # "_" # row.name # "Op" : Mirage_InferredOperator<level, row.mnemonic, row.text> {
      let detail = "Element by element; an extent of 1, or one that is not there, stretches. Operands of two element types give f32.";
      let example = "%y = " # row.mnemonic # " %a, %b : " # level.open # "2x4xf16>, " # level.open # "4xf16>";
      let arguments = (ins level.value:$lhs, level.value:$rhs);
    }
  foreach row = Predicates in
    def NAME # "_" # row.name # "Op" : Mirage_InferredOperator<level, row.mnemonic, row.text> {
      let detail = "Element by element; an extent of 1, or one that is not there, stretches. Comparisons take two numbers, or two "
                   "indices (i32), and give predicates (i1); no number compares with NaN but by `not_equal`. Bottom, which `mask` "
                   "gives where its predicate does not hold, lies below every number: a maximum passes over it, and exp of it is 0.";
      let example = "%y = " # row.mnemonic # " %a, %b : " # level.open # "2x4x" # row.leftType # ">, " # level.open # "4x" #
                    row.rightType # ">";
      let arguments = (ins level.value:$lhs, level.value:$rhs);
    }
  def NAME # "_NotOp" : Mirage_InferredOperator<level, "not", "whether it does not hold"> {
    let detail = "Element by element, of predicates (i1).";
    let example = "%y = not %x : " # level.open # "2x4xi1>";
    let arguments = (ins level.value:$input);
  }
  foreach row = Reduction in
    def NAME # "_" # row.name # "Op" : Mirage_InferredOperator<level, row.mnemonic, row.text> {
      let detail = "With extent 1, the default, the whole dimension becomes one element. The dimension is not dropped. A tensor is " #
                   "rounded to the operand's type, unless its type is written and f32.";
      let example = "%y = " # row.mnemonic # " %x {dim = 1} : " # level.open # "2x8xf16>\n" #
                    "%z = " # row.mnemonic # " %x {dim = 1, extent = 4} : " # level.open # "2x8xf16>\n" #
                    "%w = " # row.mnemonic # " %x {dim = 1} : " # level.open # "2x8xf16> -> " # level.open # "2x1xf32>";
      let arguments = (ins level.value:$input, I64Attr:$dim, DefaultValuedAttr<I64Attr, "1">:$extent);
    }
  def NAME # "_BroadcastOp" : Mirage_TypedOperator<level, "broadcast", "stretches extents of 1, right-aligned"> {
    let detail = "Missing leading dimensions count as extents of 1.";
    let example = "%y = broadcast %x : " # level.open # "1x4xf16> -> " # level.open # "2x4xf16>";
    let arguments = (ins level.value:$input);
  }
  def NAME # "_CastOp" : Mirage_TypedOperator<level, "cast", "the same values in another element type"> {
    let detail = "f16, bf16 and f32 to each other; to a narrower type it rounds to nearest even. From i8, i4, f8E4M3FN and f8E5M2, which is " #
                 "exact; nothing is cast to these. A predicate becomes 0 or 1, an index the number.";
    let example = "%y = cast %x : " # level.open # "2x4xf32> -> " # level.open # "2x4xf16>" #
                  !if(!eq(level.open, "tensor<"), "\n%z = cast %w : tensor<2x4xi8> -> tensor<2x4xf16>", "");
    let arguments = (ins level.value:$input);
  }
  def NAME # "_ConstantOp" : Mirage_TypedOperator<level, "constant", "every element is `value`"> {
    let detail = "The value is kept as a double and rounded to the element type.";
    let example = "%y = constant 2.0 : " # level.open # "2x4xf16>";
    let arguments = (ins F64Attr:$value);
  }
}

// Kernel and block level: matmul, data movement, indices.
multiclass Mirage_TensorOperators<Mirage_Level level> {
  def NAME # "_IotaOp" : Mirage_TypedOperator<level, "iota", "the index along dimension `dim`, from `start` on, as i32"> {
    let detail = "Element i is `start` + i[`dim`]. In a block graph `grid` has a step for each grid axis and `loop` one for each "
                 "enclosing loop, which the block's index and the iteration are multiplied by: so a tile of 64 rows, one for each "
                 "block along x, has `grid = [64]`. Every element is at most 2^24 on either side of zero.";
    let example = !if(!eq(level.open, "tensor<"), "%y = iota {dim = 0} : tensor<64x1xi32>",
                      "%y = iota {dim = 0, start = 8} : " # level.open # "16x1xi32>");
    let arguments = (ins I64Attr:$dim, DefaultValuedAttr<I64Attr, "0">:$start, OptionalAttr<DenseI64ArrayAttr>:$grid,
                         OptionalAttr<DenseI64ArrayAttr>:$loop);
  }
  def NAME # "_MatmulOp" : Mirage_Matmul<level>;
  def NAME # "_RepeatOp" : Mirage_InferredOperator<level, "repeat", "`times` copies one after the other along `dim`"> {
    let detail = "The extent along `dim` grows by `times`.";
    let example = "%y = repeat %x {dim = 0, times = 2} : " # level.open # "2x4xf16>";
    let arguments = (ins level.value:$input, I64Attr:$dim, I64Attr:$times);
  }
  def NAME # "_TransposeOp" : Mirage_InferredOperator<level, "transpose", "result dimension i is operand dimension perm[i]"> {
    let detail = "`perm` names every dimension once.";
    let example = "%y = transpose %x {perm = [1, 0]} : " # level.open # "2x4xf16>";
    let arguments = (ins level.value:$input, DenseI64ArrayAttr:$perm);
  }
  def NAME # "_ReshapeOp" : Mirage_TypedOperator<level, "reshape", "the same elements in row-major order"> {
    let detail = "The number of elements stays.";
    let example = "%y = reshape %x : " # level.open # "2x4xf16> -> " # level.open # "8xf16>";
    let arguments = (ins level.value:$input);
  }
  def NAME # "_SliceOp" : Mirage_InferredOperator<level, "slice", "elements begin .. end - 1 along `dim`"> {
    let detail = "The other dimensions stay whole.";
    let example = "%y = slice %x {dim = 1, begin = 1, end = 3} : " # level.open # "2x4xf16>";
    let arguments = (ins level.value:$input, I64Attr:$dim, I64Attr:$begin, I64Attr:$end);
  }
  def NAME # "_ConcatOp" : Mirage_InferredOperator<level, "concat", "the operands one after the other along `dim`"> {
    let detail = "At least one operand; all but `dim` must agree.";
    let example = "%y = concat %a, %b {dim = 0} : " # level.open # "2x4xf16>, " # level.open # "3x4xf16>";
    let arguments = (ins Variadic<level.value>:$inputs, I64Attr:$dim);
  }
}

// Block and thread level.
multiclass Mirage_BottomOperator<Mirage_Level level> {
  def NAME # "_BottomOp" : Mirage_TypedOperator<level, "bottom", "the value below every number: a maximum's start"> {
    let detail = "exp of it is 0. A `load` may fill what lies outside the tensor with it.";
    let example = "%y = bottom : " # level.open # "2x4xf32>";
  }
}

#endif // MIRAGE_OPERATORS_TD
