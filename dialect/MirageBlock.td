//===- MirageBlock.td - the mirage_block dialect ----------------*- tablegen -*-===//
//
// Block graphs: what one thread block does with tiles.
//
//===----------------------------------------------------------------------------===//

include "MirageOperators.td"

def MirageBlock_Dialect : Mirage_Dialect<"block"> {
  let summary = "block graphs: what one thread block does with tiles";
  let description = [{
    Operators load tiles of the kernel's tensors, compute on them and store them. Loops are operators with a region, and
    accumulators are their loop-carried values. Arithmetic gives f32 tiles whatever the operands' types.

    Example:

    ```mlir
    mirage_kernel.graph @sums(%x: tensor<8x64xf32>) -> tensor<8x1xf32> {
      %y = custom (%a = %x) outs(%b) grid [8] : (tensor<8x64xf32>) -> tensor<8x1xf32> {
        %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
        %sum = loop 4 (%acc = %zero sum) : !mirage_block.tile<1x1xf32> {
          %t = load %a {grid = [0], loop = [1]} : tensor<8x64xf32> -> !mirage_block.tile<1x16xf32>
          %s = reduce_sum %t {dim = 1} : !mirage_block.tile<1x16xf32>
          yield %s : !mirage_block.tile<1x1xf32>
        }
        store %sum, %b {grid = [0]} : !mirage_block.tile<1x1xf32>, tensor<8x1xf32>
      }
      return %y : tensor<8x1xf32>
    }
    ```
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mirage::thread::MirageThreadDialect"]; // what a thread operator holds
}

//===----------------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------------===//

class Block_Enum<string name, string text, list<string> words> : Mirage_Enum<"::mirage::block", name, text, words>;
class Block_Attr<string name, string itsMnemonic> : AttrDef<MirageBlock_Dialect, name> { let mnemonic = itsMnemonic; }

def Block_Place : Block_Enum<"Place", "where a tile lives", ["undecided", "shared", "register"]>;
def Block_Ask : Block_Enum<"Ask", "how much of a tile's place a person fixed", ["nothing", "place", "layout", "offset"]>;
def Block_Fill : Block_Enum<"Fill", "what a masked element of a load holds", ["zero", "one", "bottom"]>;
def Block_Combine : Block_Enum<"Combine", "how a loop-carried value takes an iteration's contribution",
                               ["sum", "max", "rescale", "concat", "assign"]>;

def Block_FillAttr : EnumAttr<MirageBlock_Dialect, Block_Fill, "fill"> {
  let summary = "what a masked element of a load holds: `zero`, `one`, `bottom`";
  let description = [{
    A mean or a product over a tile that reaches beyond the tensor takes what lies there as this.

    Example:

    ```mlir
    #mirage_block.fill<bottom>
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Block_CarryAttr : Block_Attr<"Carry", "carry"> {
  let summary = "the combine of one loop-carried value: `sum`, `max`, `rescale`, `concat(dim)`, `assign`";
  let description = [{
    With acc the carried value, c the iteration's contribution and f its factor: acc + c; max(acc, c); acc * f + c; c put at
    its place along `dim`; c.

    Example:

    ```mlir
    #mirage_block<carry sum>
    #mirage_block<carry concat(1)>
    ```
  }];
  let parameters = (ins "::mirage::block::Combine":$combine, DefaultValuedParameter<"int32_t", "-1", "concat only">:$dim);
  let assemblyFormat = "$combine (`(` $dim^ `)`)?";
  let genVerifyDecl = 1;
}

def Block_LayoutAttr : Block_Attr<"Layout", "layout"> {
  let summary = "where the elements of a tile lie; removing it never changes a result";
  let description = [{
    A swizzle moves 16-byte chunks so that rows do not meet in one bank; a panel cuts long rows into blocks that lie one after the other.

    Example:

    ```mlir
    #mirage_block.layout<offset = 1024, stages = 2, swizzle = 3, panel = 64, strides = [64, 1]>
    ```
  }];
  let parameters = (ins
      DefaultValuedParameter<"int32_t", "-1", "byte offset in the block's shared memory">:$offset,
      DefaultValuedParameter<"int32_t", "1", "buffers that the loop's iterations use in turn">:$stages,
      DefaultValuedParameter<"uint32_t", "0", "16-byte chunk index is XORed with the row index mod 2^swizzle">:$swizzle,
      DefaultValuedParameter<"int32_t", "0", "elements of the last dimension in a row; 0 = all">:$panel,
      OptionalArrayRefParameter<"int64_t", "in elements, one per dimension">:$strides,
      DefaultValuedParameter<"::mirage::block::Ask", "::mirage::block::Ask::k_nothing",
                             "in a planned kernel: how much of this a person had fixed">:$asked);
  let assemblyFormat = "`<` struct($offset, $stages, $swizzle, $panel, custom<Strides>($strides), $asked) `>`";
  let genVerifyDecl = 1;
}

def Block_TileType : TypeDef<MirageBlock_Dialect, "Tile"> {
  let mnemonic = "tile";
  let summary = "a tile that the threads of a block hold together";
  let description = [{
    `!mirage_block.tile<2x48xf16>`, and once planned `!mirage_block.tile<2x48xf16, shared, <offset = 1024, stages = 2>>` or
    `!mirage_block.tile<2x48xf32, register>`. Place and layout say how, not what.

    Example:

    ```mlir
    !mirage_block.tile<2x48xf16>
    !mirage_block.tile<2x48xf16, shared, <offset = 1024, stages = 2>>
    !mirage_block.tile<2x48xf32, register>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, "::mirage::block::Place":$place,
                        OptionalParameter<"::mirage::block::LayoutAttr">:$layout);
  let assemblyFormat = "`<` custom<TileBody>($shape, $elementType, $place, $layout) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------------===//

def BlockParents : ParentOneOf<["::mirage::kernel::CustomOp", "LoopOp"]>;
def BlockLevel : Mirage_Level<MirageBlock_Dialect, Block_TileType, "!mirage_block.tile<", BlockParents>;

defm Block : Mirage_CommonOperators<BlockLevel>;
defm Block : Mirage_TensorOperators<BlockLevel>;
defm Block : Mirage_BottomOperator<BlockLevel>;

class Block_Collective<string mnemonic, string text> : Mirage_InferredOperator<BlockLevel, mnemonic, text> {
  let detail = "All blocks that differ only in the grid axes named by `axes` get the same result.";
  let example = "%y = " # mnemonic # " %x {axes = [0]} : !mirage_block.tile<2x4xf32>";
  let arguments = (ins Block_TileType:$input, DenseI64ArrayAttr:$axes);
}
def Block_ClusterSumOp : Block_Collective<"cluster_sum", "sum over the blocks of a cluster, through distributed shared memory">;
def Block_ClusterMaxOp : Block_Collective<"cluster_max", "maximum over the blocks of a cluster">;
def Block_GridSumOp : Block_Collective<"grid_sum", "sum over co-resident blocks, through device memory">;
def Block_GridMaxOp : Block_Collective<"grid_max", "maximum over co-resident blocks">;

def Block_LoadOp : Mirage_Operator<BlockLevel, "load", "the block's tile of an input tensor",
    [AlwaysSpeculatable, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let description = [{
    `%t = load %tensor {grid = [..], loop = [..], fill = zero} : tensor<..> -> tile`. grid[a] is the tensor dimension that
    grid axis a splits, loop[l] the one that the l-th enclosing loop splits; -1 or left out: none. Elements outside the tensor
    hold `fill`. `begin = [..], end = [..]`: of dimension d only the window [begin[d], end[d]) is seen, as if it were the tensor; 0, 0
    or left out: all of it. `order = [..]`: dimension d of all this is the tensor's dimension order[d]; the last one stays the last.
    `tiles = [..]`: of dimension d tiles have tiles[d] elements and the tensor's end cuts the last one short; 0 or left out: the extent is
    divided evenly. `%w {grid = [1], tiles = [0, 128]} : tensor<64x3000xf16>` over 24 blocks gives tiles of 128 columns, by division 125.
    Of a dimension that the grid and a loop split, a block has tiles that lie side by side; with `cyclic` each iteration takes the next tile for
    each block: block b of 4 then has tiles b, b + 4, b + 8, ..., so that every block has its share of the first n elements.
    `%k {grid = [0, 1], loop = [1], cyclic} : tensor<32x8192x128xf16>`.
    A load reads only, and may be removed or merged, unless the kernel's schedule lists loads by position.

    Example:
    
    ```mlir
    mirage_kernel.graph @padded(%x: tensor<8x50xf32>) -> tensor<8x50xf32> {
      %y = custom (%a = %x) outs(%b) grid [8, 4] : (tensor<8x50xf32>) -> tensor<8x50xf32> {
        %t = load %a {grid = [0, 1], fill = one} : tensor<8x50xf32> -> !mirage_block.tile<1x13xf32>
        %s = log %t : !mirage_block.tile<1x13xf32>
        store %s, %b {grid = [0, 1]} : !mirage_block.tile<1x13xf32>, tensor<8x50xf32>
      }
      return %y : tensor<8x50xf32>
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tensor, OptionalAttr<DenseI64ArrayAttr>:$grid, OptionalAttr<DenseI64ArrayAttr>:$loop,
                       OptionalAttr<DenseI64ArrayAttr>:$order, OptionalAttr<DenseI64ArrayAttr>:$begin, OptionalAttr<DenseI64ArrayAttr>:$end,
                       OptionalAttr<DenseI64ArrayAttr>:$tiles, UnitAttr:$cyclic,
                       DefaultValuedAttr<Block_FillAttr, "::mirage::block::Fill::k_zero">:$fill);
  let results = (outs Block_TileType:$result);
}

def Block_StoreOp : Mirage_Operator<BlockLevel, "store", "writes the block's tile of an output tensor"> {
  let description = [{
    `store %tile, %tensor {grid = [..], loop = [..], order = [..], begin = [..], end = [..], tiles = [..], cyclic} : tile, tensor<..>`, as for a load. Elements outside the tensor,
    or its window, are dropped.

    Example:
    
    ```mlir
    mirage_kernel.graph @padded(%x: tensor<8x50xf32>) -> tensor<8x50xf32> {
      %y = custom (%a = %x) outs(%b) grid [8, 4] : (tensor<8x50xf32>) -> tensor<8x50xf32> {
        %t = load %a {grid = [0, 1], fill = one} : tensor<8x50xf32> -> !mirage_block.tile<1x13xf32>
        %s = log %t : !mirage_block.tile<1x13xf32>
        store %s, %b {grid = [0, 1]} : !mirage_block.tile<1x13xf32>, tensor<8x50xf32>
      }
      return %y : tensor<8x50xf32>
    }
    ```
  }];
  let arguments = (ins Block_TileType:$tile, Arg<AnyRankedTensor, "an output", [MemWrite]>:$tensor,
                       OptionalAttr<DenseI64ArrayAttr>:$grid, OptionalAttr<DenseI64ArrayAttr>:$loop,
                       OptionalAttr<DenseI64ArrayAttr>:$order, OptionalAttr<DenseI64ArrayAttr>:$begin, OptionalAttr<DenseI64ArrayAttr>:$end,
                       OptionalAttr<DenseI64ArrayAttr>:$tiles, UnitAttr:$cyclic);
}

def Block_LoopOp : Mirage_RegionOp<MirageBlock_Dialect, "loop", "block",
    [RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlockImplicitTerminator<"YieldOp">, BlockParents]> {
  let summary = "runs its region `range` times";
  let description = [{
    ```
    %r, ... = loop N (%carry = %init combine, ...) : T, ... { ... yield %c, ... rescale %f, ... : T, ... }
    ```
    Each carry starts at its initial value and takes every iteration's contribution by its combine; the region sees its
    current value. A carry with `rescale` also takes a factor, yielded behind the contributions.

    Example:
    
    ```mlir
    mirage_kernel.graph @sums(%x: tensor<8x64xf32>) -> tensor<8x1xf32> {
      %y = custom (%a = %x) outs(%b) grid [8] : (tensor<8x64xf32>) -> tensor<8x1xf32> {
        %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
        %sum = loop 4 (%acc = %zero sum) : !mirage_block.tile<1x1xf32> {
          %t = load %a {grid = [0], loop = [1]} : tensor<8x64xf32> -> !mirage_block.tile<1x16xf32>
          %s = reduce_sum %t {dim = 1} : !mirage_block.tile<1x16xf32>
          yield %s : !mirage_block.tile<1x1xf32>
        }
        store %sum, %b {grid = [0]} : !mirage_block.tile<1x1xf32>, tensor<8x1xf32>
      }
      return %y : tensor<8x1xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Block_TileType>:$inits, I64Attr:$range, TypedArrayAttrBase<Block_CarryAttr, "carries">:$carries);
  let results = (outs Variadic<Block_TileType>:$results);
}

def Block_ThreadOp : Mirage_RegionOp<MirageBlock_Dialect, "thread", "thread",
    [IsolatedFromAbove, RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock, BlockParents]> {
  let summary = "computes on fragments in registers, without touching shared memory";
  let description = [{
    ```
    %r, ... = thread (%f = %tile, ...) : T, ... { ... yield %f, ... : T, ... }
    ```

    It sees its operands only; its results are tiles again.

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
  let arguments = (ins Variadic<Block_TileType>:$inputs);
  let results = (outs Variadic<Block_TileType>:$results);
}

def Block_YieldOp : Mirage_Op<MirageBlock_Dialect, "yield", [Pure, Terminator, HasParent<"LoopOp">]> {
  let summary = "ends an iteration: one contribution per carry, then one factor per `rescale` carry";
  let description = [{
    Contributions have the shapes of the carries. `yield %c, ... rescale %f, ... : T, ...` where carries rescale.

    Example:

    ```mlir
    mirage_kernel.graph @sums(%x: tensor<8x64xf32>) -> tensor<8x1xf32> {
      %y = custom (%a = %x) outs(%b) grid [8] : (tensor<8x64xf32>) -> tensor<8x1xf32> {
        %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
        %sum = loop 4 (%acc = %zero sum) : !mirage_block.tile<1x1xf32> {
          %t = load %a {grid = [0], loop = [1]} : tensor<8x64xf32> -> !mirage_block.tile<1x16xf32>
          %s = reduce_sum %t {dim = 1} : !mirage_block.tile<1x16xf32>
          yield %s : !mirage_block.tile<1x1xf32>
        }
        store %sum, %b {grid = [0]} : !mirage_block.tile<1x1xf32>, tensor<8x1xf32>
      }
      return %y : tensor<8x1xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Block_TileType>:$values);
  let hasCustomAssemblyFormat = 1;
  let builders = [OpBuilder<(ins), [{ /* no values */ }]>];
}
