//===- MirageThread.td - the mirage_thread dialect --------------*- tablegen -*-===//
//
// Thread graphs: chains of operators on fragments in registers.
//
//===----------------------------------------------------------------------------===//

include "MirageOperators.td"

def MirageThread_Dialect : Mirage_Dialect<"thread"> {
  let summary = "thread graphs: chains of operators on fragments in registers";
  let description = [{
    A fragment is a tile spread over the registers of the threads that own it. Its type gives the extents of the whole tile.

    Example:

    ```mlir
    mirage_kernel.graph @chain(%x: tensor<8x16xf16>) -> tensor<8x16xf16> {
      %y = custom (%a = %x) outs(%b) grid [8] : (tensor<8x16xf16>) -> tensor<8x16xf16> {
        %t = load %a {grid = [0]} : tensor<8x16xf16> -> !mirage_block.tile<1x16xf16>
        %r = thread (%f = %t) : !mirage_block.tile<1x16xf16> {
          %e = exp %f : !mirage_thread.fragment<1x16xf16>
          %s = sqrt %e : !mirage_thread.fragment<1x16xf32>
          yield %s : !mirage_thread.fragment<1x16xf32>
        }
        store %r, %b {grid = [0]} : !mirage_block.tile<1x16xf32>, tensor<8x16xf16>
      }
      return %y : tensor<8x16xf16>
    }
    ```
  }];
  let useDefaultTypePrinterParser = 1;
}

def Thread_FragmentType : TypeDef<MirageThread_Dialect, "Fragment"> {
  let mnemonic = "fragment";
  let summary = "a tile in registers: `!mirage_thread.fragment<2x48xf32>`";
  let description = [{
    Which thread holds which element is the code generator's choice.

    Example:

    ```mlir
    !mirage_thread.fragment<2x48xf32>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` custom<FragmentBody>($shape, $elementType) `>`";
  let genVerifyDecl = 1;
}

def ThreadLevel : Mirage_Level<MirageThread_Dialect, Thread_FragmentType, "!mirage_thread.fragment<", HasParent<"::mirage::block::ThreadOp">>;

defm Thread : Mirage_CommonOperators<ThreadLevel>;
defm Thread : Mirage_BottomOperator<ThreadLevel>;

def Thread_MmaOp : Mirage_InferredOperator<ThreadLevel, "mma", "the matrix instruction: a @ b + c"> {
  let detail = "The accumulator is f32. `transpose_a`, `transpose_b`: the operand's dimensions change places first.";
  let example = "%y = mma %a, %b, %c : !mirage_thread.fragment<16x16xf16>, !mirage_thread.fragment<16x8xf16>, "
                "!mirage_thread.fragment<16x8xf32>";
  let arguments = (ins Thread_FragmentType:$lhs, Thread_FragmentType:$rhs, Thread_FragmentType:$accumulator,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b);
}

def Thread_YieldOp : Mirage_Op<MirageThread_Dialect, "yield", [Pure, Terminator, HasParent<"::mirage::block::ThreadOp">]> {
  let summary = "ends a thread graph with its results";
  let description = [{
    One value per result of the `thread` operation.

    Example:

    ```mlir
    mirage_kernel.graph @chain(%x: tensor<8x16xf16>) -> tensor<8x16xf16> {
      %y = custom (%a = %x) outs(%b) grid [8] : (tensor<8x16xf16>) -> tensor<8x16xf16> {
        %t = load %a {grid = [0]} : tensor<8x16xf16> -> !mirage_block.tile<1x16xf16>
        %r = thread (%f = %t) : !mirage_block.tile<1x16xf16> {
          %e = exp %f : !mirage_thread.fragment<1x16xf16>
          %s = sqrt %e : !mirage_thread.fragment<1x16xf32>
          yield %s : !mirage_thread.fragment<1x16xf32>
        }
        store %r, %b {grid = [0]} : !mirage_block.tile<1x16xf32>, tensor<8x16xf16>
      }
      return %y : tensor<8x16xf16>
    }
    ```
  }];
  let arguments = (ins Variadic<Thread_FragmentType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}
