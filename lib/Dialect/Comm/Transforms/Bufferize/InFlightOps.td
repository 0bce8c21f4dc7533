//===- InFlightOps.td - Starts and waits during bufferization -*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_BUFFERIZE_INFLIGHTOPS_TD
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_BUFFERIZE_INFLIGHTOPS_TD

include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def InFlight_Dialect : Dialect {
  let name = "comm_in_flight";
  let cppNamespace = "::braid::comm::inflight";
  let summary = "Starts and waits with their tensors in flight";
  let description = [{
    The form that `comm-bufferize` gives starts that are awaited in their block,
    and their waits, before it runs One-Shot Bufferize, and that no one sees
    outside of it. One-Shot knows tensors alone, so a token that carries a value
    is split into a token and the tensor in flight, and the wait names the
    sources that the operation reads until then.
  }];
  let useDefaultTypePrinterParser = 1;
}

def InFlight_Token : TypeDef<InFlight_Dialect, "RawToken"> {
  let mnemonic = "token";
  let summary = "a token whose tensors stand beside it";
  let description = [{
    The type differs from `!comm.token` so that it can be told from tokens that
    are still to be split. It becomes `!comm.token` after bufferization.
  }];
}

class InFlight_Op<string mnemonic, list<string> methods, list<Trait> traits = []>
    : Op<InFlight_Dialect, mnemonic, !listconcat([
        DeclareOpInterfaceMethods<BufferizableOpInterface, !listconcat([
            "bufferizesToMemoryRead", "bufferizesToMemoryWrite",
            "getAliasingValues", "bufferize"], methods)>], traits)>;

def InFlight_StartOp : InFlight_Op<"start", ["resolveConflicts"], [
    AttrSizedOperandSegments, AttrSizedResultSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a start with the tensors that it has in flight";
  let description = [{
    Stands for the op `startName` with attributes `startAttrs` whose operand i is
    number `operandOrder[i]` of (sources, destinations of all values, others).

    Value i is computed into destination number `destinationOf[i]`, or, where
    this is −1, into the buffer of source i.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$sources,
                       Variadic<AnyRankedTensor>:$destinations,
                       Variadic<AnyType>:$others,
                       StrAttr:$startName, DictionaryAttr:$startAttrs,
                       DenseI64ArrayAttr:$operandOrder,
                       DenseI64ArrayAttr:$destinationOf);
  let results = (outs Variadic<InFlight_Token>:$tokens,
                      Variadic<AnyRankedTensor>:$inFlight);
  let assemblyFormat = [{
    $startName `(` $sources `)` `into` `(` $destinations `)` `others` `(` $others `)`
    attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// True if value `index` is computed into the buffer of its source.
    bool isInPlace(unsigned index) { return getDestinationOf()[index] < 0; }
  }];
}

def InFlight_WaitOp : InFlight_Op<"wait", ["mustBufferizeInPlace", "isNotConflicting"], [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a wait with the tensors that it lets land";
  let description = [{
    Gives the tensor in flight. The operation may read the tensors in `kept`
    until here, so their buffers may not be written before.
  }];
  let arguments = (ins InFlight_Token:$token, Optional<AnyRankedTensor>:$inFlight,
                       Variadic<AnyRankedTensor>:$kept);
  let results = (outs Optional<AnyRankedTensor>:$value);
  let assemblyFormat = [{
    $token `value` `(` ($inFlight^)? `)` `keeps` `(` $kept `)` attr-dict `:`
    functional-type(operands, results)
  }];
}

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_BUFFERIZE_INFLIGHTOPS_TD
