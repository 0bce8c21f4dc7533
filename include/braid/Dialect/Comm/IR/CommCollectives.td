//===- CommCollectives.td - Collectives of the comm dialect -*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_IR_COMMCOLLECTIVES_TD
#define BRAID_DIALECT_COMM_IR_COMMCOLLECTIVES_TD

include "braid/Dialect/Comm/IR/CommBase.td"

/// An optional method of `CollectiveOpInterface` that an op answers.
class Comm_Answer<string methodName, string methodDefinition> {
  string method = methodName;
  string definition = methodDefinition;
}

/// The op has an attribute `reduction`.
def Comm_Reduces : Comm_Answer<"getReductionKind", [{
  ::std::optional<::braid::comm::ReductionKind> $cppClass::getReductionKind() {
    return getReduction();
  }
}]>;

/// The op has an attribute `root`.
def Comm_HasRoot : Comm_Answer<"getRootIndex", [{
  ::std::optional<int64_t> $cppClass::getRootIndex() { return getRoot(); }
}]>;

/// The op has an attribute `dim`.
def Comm_HasDim : Comm_Answer<"getSplitDim", [{
  int64_t $cppClass::getSplitDim() { return getDim(); }
}]>;

/// A method that the op defines in C++.
class Comm_Defines<string methodName> : Comm_Answer<methodName, "">;

/// An operation between ranks. The row of the mnemonic in
/// braid-rt/Collectives.def has its facts. `answers` are the optional methods of
/// `CollectiveOpInterface` that the op implements.
class Comm_StartOp<string mnemonic, list<Comm_Answer> answers, list<Trait> traits = []>
    : Comm_Op<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<AsyncStartOpInterface>,
        DeclareOpInterfaceMethods<CollectiveOpInterface,
                                  !foreach(answer, answers, answer.method)>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>], traits)> {
  string startDefinitions = [{
    ::braid::comm::CollectiveKind $cppClass::getCollectiveKind() {
      return ::braid::comm::CollectiveKind::}] # mnemonic # [{;
    }
    ::mlir::Attribute $cppClass::getLane() { return getLaneOfCollective(*this); }
    bool $cppClass::canRunInPlace() {
      return getTraits(getCollectiveKind()).canRunInPlace;
    }
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
      getStartEffects(*this, effects);
    }
    void $cppClass::getAsmResultNames(
        ::llvm::function_ref<void(::mlir::Value, ::llvm::StringRef)> setName) {
      nameTokens(*this, setName);
    }
  }] # !foldl("", answers, text, answer, text # answer.definition);
  let extraClassDefinition = startDefinitions;
}

/// A collective with any number of operands: several make one coalesced launch.
class Comm_CoalescableOp<string mnemonic, list<Comm_Answer> answers, list<Trait> traits = []>
    : Comm_StartOp<mnemonic, answers,
                   !listconcat([AttrSizedOperandSegments], traits)> {
  dag commonArguments = (ins Variadic<Comm_Data>:$inputs, Variadic<Comm_Data>:$outputs,
                             FlatSymbolRefAttr:$group);
  let results = (outs Variadic<Comm_Token>:$tokens);
  string operandDefinitions = [{
    ::llvm::MutableArrayRef<::mlir::OpOperand> $cppClass::getSourceOperands() {
      return getOpOperands(*this, getInputs());
    }
    ::llvm::MutableArrayRef<::mlir::OpOperand> $cppClass::getDestinationOperands() {
      return getOpOperands(*this, getOutputs());
    }
    void $cppClass::setDestinations(::mlir::ValueRange destinations) {
      getOutputsMutable().assign(destinations);
    }
  }];
  /// Empty in an op that defines the method itself.
  string shapeDefinition = [{
    ::llvm::LogicalResult $cppClass::reifyValueShape(
        ::mlir::OpBuilder &builder, unsigned index,
        ::llvm::SmallVectorImpl<::mlir::OpFoldResult> &shape) {
      return reifyFromOperands(*this, builder, index, shape);
    }
  }];
  string typeDefinition = "";
  let extraClassDefinition =
      startDefinitions # operandDefinitions # shapeDefinition # typeDefinition;
}

/// The value of every token has the type of its operand.
class Comm_SameShapeOp<string mnemonic, list<Comm_Answer> answers>
    : Comm_CoalescableOp<mnemonic, answers, [InferTypeOpAdaptor]> {
  let typeDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location>,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      inferTokenTypes(context, adaptor.getInputs(), types);
      return ::mlir::success();
    }
  }];
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

def Comm_AllReduceOp : Comm_SameShapeOp<"all_reduce", [Comm_Reduces]> {
  let summary = "starts a reduction and gives the result to every member";
  let description = [{
    The reductions are `sum product min max avg band bor bxor` and
    `premul_sum(%s : f32)`, which multiplies the operands of each member by the
    member's scale before the sum. The scale has the element type of the operands.

    | elements | reductions |
    |---|---|
    | `i1` | `min max band bor bxor` |
    | other integers | all; integers are signed, and `avg` truncates |
    | floats | `sum product min max avg premul_sum` |
    | complex numbers | `sum avg premul_sum` |

    In the buffer form a source may be its own destination.

    Example:

    ```mlir
    %t = comm.all_reduce sum %x on @tp : tensor<4x4xf32>
    %u:2 = comm.all_reduce max %x, %y on @tp : tensor<4xf32>, tensor<8xbf16>
    %v = comm.all_reduce premul_sum(%s : f32) %x on @tp : tensor<4xf32>
    %w = comm.all_reduce sum %a into %b on @tp : memref<4xf32>, memref<4xf32>
    ```
  }];
  let arguments = !con((ins Comm_ReductionKind:$reduction, Optional<AnyType>:$scale),
                       commonArguments);
  let assemblyFormat = [{
    $reduction (`(` $scale^ `:` type($scale) `)`)? $inputs (`into` $outputs^)? `on` $group
    attr-dict `:` custom<SameShapeTypes>(ref($inputs), ref($outputs), type($inputs),
                                         type($outputs), type($tokens))
  }];
}

def Comm_ReduceOp : Comm_SameShapeOp<"reduce", [Comm_Reduces, Comm_HasRoot]> {
  let summary = "starts a reduction and gives the result to the root";
  let description = [{
    Every other member gets its own operand. The root is an index within the
    group.

    Example:

    ```mlir
    %t = comm.reduce sum %x on @tp root 0 : tensor<4xf32>
    ```
  }];
  let arguments = !con((ins Comm_ReductionKind:$reduction, Optional<AnyType>:$scale),
                       commonArguments, (ins I64Attr:$root));
  let assemblyFormat = [{
    $reduction (`(` $scale^ `:` type($scale) `)`)? $inputs (`into` $outputs^)? `on` $group
    `root` $root attr-dict `:`
    custom<SameShapeTypes>(ref($inputs), ref($outputs), type($inputs), type($outputs),
                           type($tokens))
  }];
}

def Comm_ReduceScatterOp
    : Comm_CoalescableOp<"reduce_scatter", [Comm_Reduces, Comm_HasDim]> {
  let summary = "starts a reduction and gives one part of the result to each member";
  let description = [{
    The result is split along `dim` into equal parts, one for each member of the
    group. Member i gets part i.

    Example:

    ```mlir
    %t = comm.reduce_scatter sum %x on @tp dim 0 : tensor<8x4xf32> -> tensor<4x4xf32>
    ```
  }];
  let arguments = !con((ins Comm_ReductionKind:$reduction, Optional<AnyType>:$scale),
                       commonArguments, (ins I64Attr:$dim));
  let assemblyFormat = [{
    $reduction (`(` $scale^ `:` type($scale) `)`)? $inputs (`into` $outputs^)? `on` $group
    `dim` $dim attr-dict `:`
    custom<ShapedTypes>(ref($inputs), ref($outputs), type($inputs), type($outputs),
                        type($tokens))
  }];
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

def Comm_BroadcastOp : Comm_SameShapeOp<"broadcast", [Comm_HasRoot]> {
  let summary = "starts a copy of the root's operand to every member";
  let description = [{
    The operands of other members than the root only give the shape.

    Example:

    ```mlir
    %t = comm.broadcast %x on @tp root 0 : tensor<4xf32>
    ```
  }];
  let arguments = !con(commonArguments, (ins I64Attr:$root));
  let assemblyFormat = [{
    $inputs (`into` $outputs^)? `on` $group `root` $root attr-dict `:`
    custom<SameShapeTypes>(ref($inputs), ref($outputs), type($inputs), type($outputs),
                           type($tokens))
  }];
}

def Comm_AllGatherOp : Comm_CoalescableOp<"all_gather", [Comm_HasDim]> {
  let summary = "starts a concatenation of all members' operands";
  let description = [{
    Every member gets the operands of all members, joined along `dim` in the order
    of the members' indices.

    Example:

    ```mlir
    %t = comm.all_gather %x on @tp dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
    ```
  }];
  let arguments = !con(commonArguments, (ins I64Attr:$dim));
  let assemblyFormat = [{
    $inputs (`into` $outputs^)? `on` $group `dim` $dim attr-dict `:`
    custom<ShapedTypes>(ref($inputs), ref($outputs), type($inputs), type($outputs),
                        type($tokens))
  }];
}

def Comm_AllToAllOp : Comm_CoalescableOp<"all_to_all", [
    Comm_Defines<"verifyMembers">, Comm_Defines<"getCallSuffix">,
    Comm_Defines<"getCallArguments">]> {
  let summary = "starts an exchange of parts between all members";
  let description = [{
    The operand is split along dimension 0. Member i gets part i of every member,
    joined in the order of the members' indices.

    Without `splits` the parts are equal. `splits [...] into [...]` gives the
    sizes of the parts that this member sends to each member and receives from
    each member. The sizes are index values or constants. All ranks run the same
    text, so the constants of a list without values are equal. A matrix
    `splits [[...], ...]` gives the sizes of all members: row r has the sizes that
    member r sends, and column c those that member c receives. The size of a
    dynamic dimension 0 of the result is the sum of the received sizes.

    Constraints:

    * (C16) Without `splits` the value has the shape of the source.
    * (C17) Without `splits` the size of dimension 0 of a source is a multiple of
      the number of members, in every list of the group.
    * (C18) With `splits` there is one operand.
    * (C19) Source and value have the same rank, at least 1, and the same sizes but
      along dimension 0.
    * (C20) `splits` has two lists of one length, or a matrix.
    * (C21) A list has one index value for each size that is not constant.
    * (C22) Sizes are not negative. In a list without values they are equal, and
      add up to the size of dimension 0.
    * (C23) A matrix is square. Its rows add up to the size of dimension 0 of the
      source, its columns to that of the value.
    * (C24) There are as many sizes in a list, and rows in a matrix, as members in
      every list of the group.

    Example:

    ```mlir
    %t = comm.all_to_all %x on @tp : tensor<4x8xf32>
    %u = comm.all_to_all %x on @tp splits [%i0, %i1] into [%o0, %o1]
      : tensor<?x8xf32> -> tensor<?x8xf32>
    %v = comm.all_to_all %x on @tp splits [[1, 3], [2, 2]] : tensor<4xf32> -> tensor<?xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = !con(commonArguments,
                       (ins Variadic<Index>:$sendSizes, Variadic<Index>:$receiveSizes,
                            OptionalAttr<DenseI64ArrayAttr>:$staticSendSizes,
                            OptionalAttr<DenseI64ArrayAttr>:$staticReceiveSizes,
                            OptionalAttr<Comm_RankListsAttr>:$splitMatrix));
  let assemblyFormat = [{
    $inputs (`into` $outputs^)? `on` $group
    (custom<Splits>($sendSizes, $staticSendSizes, $receiveSizes, $staticReceiveSizes,
                    $splitMatrix)^)? attr-dict `:`
    custom<OptionallyShapedTypes>(ref($inputs), ref($outputs), type($inputs), type($outputs),
                                  type($tokens))
  }];
  let shapeDefinition = "";
  let extraClassDeclaration = [{
    /// True if the op gives the sizes of the parts.
    bool hasSplits() { return getStaticSendSizes() || getSplitMatrix(); }
    /// The sizes of the parts that this member sends, values or constants; empty
    /// without a `splits ... into` clause.
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedSendSizes();
    /// The sizes of the parts that this member receives, values or constants;
    /// empty without a `splits ... into` clause.
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedReceiveSizes();
  }];
}

def Comm_GatherOp : Comm_CoalescableOp<"gather", [Comm_HasRoot]> {
  let summary = "starts a concatenation of all members' operands on the root";
  let description = [{
    The root gets the operands of all members, joined along dimension 0. Every
    other member gets zeros of that shape.

    Example:

    ```mlir
    %t = comm.gather %x on @tp root 0 : tensor<4xf32> -> tensor<8xf32>
    ```
  }];
  let arguments = !con(commonArguments, (ins I64Attr:$root));
  let assemblyFormat = [{
    $inputs (`into` $outputs^)? `on` $group `root` $root attr-dict `:`
    custom<ShapedTypes>(ref($inputs), ref($outputs), type($inputs), type($outputs),
                        type($tokens))
  }];
}

def Comm_ScatterOp : Comm_CoalescableOp<"scatter", [Comm_HasRoot]> {
  let summary = "starts a distribution of the parts of the root's operand";
  let description = [{
    The root's operand is split into equal parts along dimension 0. Member i gets
    part i. The operands of other members only give the shape.

    Example:

    ```mlir
    %t = comm.scatter %x on @tp root 0 : tensor<8xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = !con(commonArguments, (ins I64Attr:$root));
  let assemblyFormat = [{
    $inputs (`into` $outputs^)? `on` $group `root` $root attr-dict `:`
    custom<ShapedTypes>(ref($inputs), ref($outputs), type($inputs), type($outputs),
                        type($tokens))
  }];
}

def Comm_PermuteOp : Comm_SameShapeOp<"permute", [
    Comm_Defines<"verifyMembers">, Comm_Defines<"getCallArguments">]> {
  let summary = "starts transfers between pairs of members";
  let description = [{
    Each pair has the indices of a source and a target within the group. A member
    that is no target gets zeros.

    Constraints:

    * (C25) A pair has two members of every list of the group.
    * (C26) No member is the source of two pairs or the target of two pairs.

    Example:

    ```mlir
    %t = comm.permute %x on @tp pairs [[0, 1], [1, 0]] : tensor<2xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = !con(commonArguments, (ins Comm_RankListsAttr:$pairs));
  let assemblyFormat = [{
    $inputs (`into` $outputs^)? `on` $group `pairs` custom<RankLists>($pairs) attr-dict `:`
    custom<SameShapeTypes>(ref($inputs), ref($outputs), type($inputs), type($outputs),
                           type($tokens))
  }];
}

//===----------------------------------------------------------------------===//
// Point to point
//===----------------------------------------------------------------------===//

def Comm_SendOp : Comm_StartOp<"send", [
    Comm_Defines<"verifyMembers">, Comm_Defines<"getCallArguments">]> {
  let summary = "starts a transfer to another member";
  let description = [{
    The peer is an index within the group, a constant or a value. Sends and receives of a group share a lane. Sends and receives
    without a wait between them run together, so that an exchange cannot deadlock.
    A wait for a message of their lane ends such a batch. The sends of one member to
    another match the receives by their order. The token carries no value.

    Constraints, of `comm.recv` as well:

    * (C27) The peer is a value, or a constant within every list of the group.
    * (C28) Every list of the group has another member than the rank itself.

    Example:

    ```mlir
    %t = comm.send %x on @tp to 1 : tensor<4xf32>
    %u = comm.send %x on @tp to %next : tensor<4xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Comm_Data:$input, FlatSymbolRefAttr:$group, Optional<Index>:$peer,
                       OptionalAttr<I64Attr>:$staticPeer);
  let results = (outs Comm_ValuelessToken:$token);
  let assemblyFormat = [{
    $input `on` $group `to` custom<Peer>($peer, $staticPeer) attr-dict `:` type($input)
  }];
}

def Comm_RecvOp : Comm_StartOp<"recv", [
    Comm_Defines<"verifyMembers">, Comm_Defines<"getCallArguments">],
    [AttrSizedOperandSegments]> {
  let summary = "starts a transfer from another member";
  let description = [{
    The operands after the peer are the sizes of the dynamic dimensions of the
    received tensor. See `comm.send` for peers and matching.

    Constraints:

    * (C29) There is one size for each dynamic dimension of a tensor without a
      destination, and none otherwise.

    Example:

    ```mlir
    %t = comm.recv on @tp from 0 : tensor<4xf32>
    %u = comm.recv on @tp from %prev (%n) : tensor<?x4xf32>
    %v = comm.recv into %buffer on @tp from 0 : memref<4xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Optional<Comm_Data>:$output, FlatSymbolRefAttr:$group,
                       Optional<Index>:$peer, OptionalAttr<I64Attr>:$staticPeer,
                       Variadic<Index>:$sizes);
  let results = (outs Comm_Token:$token);
  let assemblyFormat = [{
    (`into` $output^)? `on` $group `from` custom<Peer>($peer, $staticPeer)
    (`(` $sizes^ `)`)? attr-dict `:`
    custom<ReceiveType>(ref($output), type($output), type($token))
  }];
}

//===----------------------------------------------------------------------===//
// Synchronization
//===----------------------------------------------------------------------===//

def Comm_BarrierOp : Comm_StartOp<"barrier", []> {
  let summary = "starts a barrier between all members";
  let description = [{
    The wait of a barrier ends when every member has started the barrier. A barrier
    without a wait blocks nothing.

    Example:

    ```mlir
    %t = comm.barrier on @tp
    comm.wait %t : !comm.token
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$group);
  let results = (outs Comm_ValuelessToken:$token);
  let assemblyFormat = "`on` $group attr-dict";
}

#endif // BRAID_DIALECT_COMM_IR_COMMCOLLECTIVES_TD
