// A dialect beside Braid's: ops that say what they cost, and a collective.
include "braid/Dialect/Comm/IR/CommCostInterface.td"
include "braid/Dialect/Comm/IR/CommInterfaces.td"
include "braid/Dialect/Comm/IR/CommTypes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Mini_Dialect : Dialect {
  let name = "mini";
  let cppNamespace = "::mini";
}

class Mini_Op<string mnemonic, list<Trait> traits> : Op<Mini_Dialect, mnemonic, traits>;

// Takes 700 ns on the machine h100x8, and gives no time for others.
def Mini_AttentionOp : Mini_Op<"attention", [
    Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<Comm_CostOpInterface, ["getWork", "getDurationNs"]>]> {
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

// A matmul of square matrices, whose kernel may leave multiprocessors to collectives.
def Mini_GemmOp : Mini_Op<"gemm", [
    Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<Comm_CostOpInterface, ["getWork", "canLimitMultiprocessors"]>]> {
  let arguments = (ins AnyRankedTensor:$left, AnyRankedTensor:$right);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$left `,` $right attr-dict `:` type($left)";
}

// Arithmetic on a number of multiprocessors that the program gives.
def Mini_NormOp : Mini_Op<"norm", [
    Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<Comm_CostOpInterface, ["getWork", "getMultiprocessors"]>]> {
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$count);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `by` $count attr-dict `:` type($input)";
}

class Mini_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : Mini_Op<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<AsyncStartOpInterface>,
        DeclareOpInterfaceMethods<CollectiveOpInterface,
                                  ["getReductionKind", "getRootIndex"]>], traits)> {
  let arguments = (ins StrAttr:$kind, AnyTypeOf<[AnyRankedTensor, AnyMemRef]>:$input,
                       Optional<AnyTypeOf<[AnyRankedTensor, AnyMemRef]>>:$output,
                       FlatSymbolRefAttr:$group, OptionalAttr<I64Attr>:$root);
  let results = (outs AnyType:$token);
  let assemblyFormat = [{
    $kind $input (`into` $output^ `:` type($output))? `on` $group (`root` $root^)? attr-dict
    `:` type($input) `->` type($token)
  }];
}

// A collective of any kind in the table of collectives.
def Mini_ExchangeOp : Mini_CollectiveOp<"exchange",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]>;

// The same, wrong: passes may erase and merge it.
def Mini_PureExchangeOp : Mini_CollectiveOp<"pure_exchange", [Pure]>;
