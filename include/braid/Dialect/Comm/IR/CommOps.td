//===- CommOps.td - Groups, waits and compute of the comm dialect -*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_IR_COMMOPS_TD
#define BRAID_DIALECT_COMM_IR_COMMOPS_TD

include "braid/Dialect/Comm/IR/CommBase.td"
include "braid/Dialect/Comm/IR/CommCollectives.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

def Comm_GroupOp : Comm_Op<"group", [Symbol]> {
  let summary = "names one or more sets of ranks that communicate";
  let description = [{
    `all` is every rank of the program; their number is known at run time. A list
    of lists partitions some or all ranks: each inner list is one communicator,
    and a rank communicates within the list that contains it. A rank is in at most
    one list. A rank in no list may not run the group's collectives.

    The position of a rank in its list is its index in the group; `root` and
    `comm.rank` are such indices. If the shape of a collective depends on the size
    of its group, the lists have equal lengths.

    Constraints:

    * (C30) There is a list, and no list is empty.
    * (C31) Ranks are from 0 to 2147483647, and each is in one list at most, once.

    Example:

    ```mlir
    comm.group @world all
    comm.group @tp [[0, 1], [2, 3]]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<Comm_RankListsAttr>:$ranks,
                       OptionalAttr<StrAttr>:$sym_visibility);
  let assemblyFormat = "$sym_name custom<GroupRanks>($ranks) attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// True if the group is every rank of the program.
    bool isAll() { return !getRanks(); }
    /// The lists of ranks; empty for `all`.
    ::llvm::SmallVector<::llvm::ArrayRef<int64_t>> getRankLists();
    /// The number of members, if it is known and the same in every list.
    ::std::optional<int64_t> getStaticSize();
    /// The least number of members that any communicator of the group has; none
    /// for `all`.
    ::std::optional<int64_t> getMinimumSize();
    /// True if rank `rank` is in the lists, and also for `all`.
    bool mayContain(int64_t rank);
  }];
}

class Comm_GroupQueryOp<string mnemonic>
    : Comm_Op<mnemonic, [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                         DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let arguments = (ins FlatSymbolRefAttr:$group);
  let results = (outs Index:$result);
  let assemblyFormat = "`on` $group attr-dict";
}

def Comm_RankOp : Comm_GroupQueryOp<"rank"> {
  let summary = "the index of this rank within a group";
  let description = [{
    The index is −1 on a rank that is in no list of the group.

    Example:

    ```mlir
    %r = comm.rank on @tp
    ```
  }];
}

def Comm_SizeOp : Comm_GroupQueryOp<"size"> {
  let summary = "the number of members of this rank's communicator";
  let description = [{
    If all lists of the group have one length, the size is that length on every
    rank, and canonicalization folds the op. Otherwise the size is 0 on a rank that
    is in no list.

    Example:

    ```mlir
    %n = comm.size on @tp
    ```
  }];
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

def Comm_WaitOp : Comm_Op<"wait", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "waits for an operation in flight";
  let description = [{
    Blocks the compute stream until the operation of the token has ended, and
    returns the value of the operation, if it has one. A token has one wait on
    every path.

    On buffers the wait names every buffer in flight: `reads` names the buffers
    that the operation only reads, `writes` those that it writes. If the start
    defines the token, the buffers are those of the start.

    Constraints:

    * (C32) A wait for a token with a value names no buffers.
    * (C33) `writes` has buffers that the start writes, `reads` buffers that it
      only reads.
    * (C34) The buffers of the token's own operand are named; of a token without
      one, all buffers of the start. Sources with `comm.lasting_sources` need not
      be.

    Example:

    ```mlir
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    comm.wait %u reads(%src : memref<4xf32>) writes(%dst : memref<4xf32>) : !comm.token
    ```
  }];
  let arguments = (ins Comm_Token:$token, Variadic<AnyMemRef>:$reads,
                       Variadic<AnyMemRef>:$writes);
  let results = (outs Optional<AnyRankedTensor>:$value);
  let assemblyFormat = [{
    $token (`reads` `(` $reads^ `:` type($reads) `)`)?
    (`writes` `(` $writes^ `:` type($writes) `)`)? attr-dict `:`
    custom<WaitTypes>(type($token), type($value))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$token), [{
      build($_builder, $_state, token, ::mlir::ValueRange(), ::mlir::ValueRange());
    }]>
  ];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// The start of the awaited operation, if it is the op that defines the
    /// token; null if the token comes from elsewhere.
    ::braid::comm::AsyncStartOpInterface getStart();
  }];
}

//===----------------------------------------------------------------------===//
// Compute
//===----------------------------------------------------------------------===//

def Comm_ComputeOp : Comm_Op<"compute", [
    IsolatedFromAbove, RecursiveMemoryEffects, RecursivelySpeculatable,
    SingleBlock, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<AsyncStartOpInterface, ["getTokens"]>,
    ParallelRegionOpInterface]> {
  let summary = "one schedulable unit of compute, such as a fused kernel";
  let description = [{
    With a region the op is executable: the arguments of the region are the
    operands, and `comm.yield` gives the results. Without a region the op is
    opaque: it can be scheduled and simulated, but not lowered. Attributes of the
    region form follow the keyword `attributes`. A region form without operands
    and results is spelled `comm.compute "f"() -> () { ... }`.

    An `async` op runs on a side stream. Its results are tokens, one for each
    value, or one `!comm.token` if it has no value.

    An opaque op on tensors is pure. An opaque op reads and writes every memref
    operand.

    Constraints:

    * (C35) No operand is a token, and without `async` no result is one.
    * (C36) An `async` op has one token for each value, or one token without a
      value.
    * (C37) With memref operands an `async` op has a token without a value, and its
      other operands are ranked memrefs and scalars.
    * (C38) The arguments of the region have the operands' types. The region ends
      with a `comm.yield` of the values' types.

    Example:

    ```mlir
    %y = comm.compute "relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %t = comm.compute async "relu"(%x) {comm.cost_ns = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %z = comm.compute "exp"(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
      %e = math.exp %a : tensor<4xf32>
      comm.yield %e : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$kernel, UnitAttr:$async, Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region MaxSizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    /// An opaque op; `valueTypes` are the values', not the tokens', types.
    OpBuilder<(ins "::llvm::StringRef":$kernel, "::mlir::ValueRange":$inputs,
                   "::mlir::TypeRange":$valueTypes, CArg<"bool", "false">:$async)>
  ];
  let extraClassDeclaration = [{
    /// True if the op has no region: it can be scheduled but not lowered.
    bool isOpaque() { return getBody().empty(); }
    /// The types of the values that the op computes: the results' types, or
    /// what the tokens of an `async` op stand for.
    ::llvm::SmallVector<::mlir::Type> getValueTypes();
  }];
}

def Comm_YieldOp : Comm_Op<"yield", [Pure, Terminator, ReturnLike,
                                     HasParent<"ComputeOp">]> {
  let summary = "gives the values of a compute region";
  let description = [{
    Example:

    ```mlir
    comm.yield %y : tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

#endif // BRAID_DIALECT_COMM_IR_COMMOPS_TD
