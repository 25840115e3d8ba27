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
  }];
  let useDefaultTypePrinterParser = 1;
}

def Thread_FragmentType : TypeDef<MirageThread_Dialect, "Fragment"> {
  let mnemonic = "fragment";
  let summary = "a tile in registers: `!mirage_thread.fragment<2x48xf32>`";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` custom<FragmentBody>($shape, $elementType) `>`";
  let genVerifyDecl = 1;
}

def ThreadLevel : Mirage_Level<MirageThread_Dialect, Thread_FragmentType, HasParent<"::mirage::block::ThreadOp">>;

defm Thread : Mirage_CommonOperators<ThreadLevel>;
defm Thread : Mirage_BottomOperator<ThreadLevel>;

def Thread_MmaOp : Mirage_InferredOperator<ThreadLevel, "mma", "the matrix instruction: a @ b + c"> {
  let arguments = (ins Thread_FragmentType:$lhs, Thread_FragmentType:$rhs, Thread_FragmentType:$accumulator,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b);
}

def Thread_YieldOp : Mirage_Op<MirageThread_Dialect, "yield", [Pure, Terminator, HasParent<"::mirage::block::ThreadOp">]> {
  let summary = "ends a thread graph with its results";
  let arguments = (ins Variadic<Thread_FragmentType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}
