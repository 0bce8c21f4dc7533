//===- RuntimeDialects.td - Attributes of the lowering -----*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_CONVERSION_RUNTIMEDIALECTS_TD
#define BRAID_CONVERSION_RUNTIMEDIALECTS_TD

include "mlir/IR/DialectBase.td"

def Braid_Dialect : Dialect {
  let name = "braid";
  let cppNamespace = "::braid";
  let summary = "Attributes of the lowering on ops and functions";
  let description = [{
    The dialect has no op and no type. It verifies these discardable attributes:

    | attribute | on | meaning |
    |---|---|---|
    | `braid.entry`, an array of dictionaries | functions | entry point, with its arguments and results |
    | `braid.arena` | any op | allocation of the arena of an entry |
    | `braid.overwrites` | any op | matmul that overwrites its result |
    | `braid.bias` | any op | matmul whose third input is added to each row |
    | `braid.epilogue = "relu"`, `"gelu"` | any op | function that the library applies to a matmul |
    | `braid.precision = "tf32"` | any op | matmul, convolution or attention of f32 that may run in TF32 |
    | `braid.part_size`, an i64 | functions | kernel of the iterations between its last two arguments, so many at once |
  }];
  let hasOperationAttrVerify = 1;
}

def BraidRT_Dialect : Dialect {
  let name = "braid_rt";
  let cppNamespace = "::braid";
  let summary = "Attributes of the lowering on modules";
  let description = [{
    The dialect has no op and no type. It verifies these discardable attributes of
    modules:

    | attribute | meaning |
    |---|---|
    | `braid_rt.target = "cuda"` | where kernels run; the host without it |
    | `braid_rt.schedule = "5f1c"` | hash of the program after scheduling |
    | `braid_rt.arena_bytes = 512 : i64` | size of the largest arena of an entry |
    | `braid_rt.host_reads = 2 : i64` | number of ops that read device memory on the host |
    | `braid_rt.buffer_allocs = 1 : i64` | number of ops that allocate buffers outside of the arena |
    | `braid_rt.numerics`, an array of dictionaries | sums that may have another order than in the program as written |
    | `braid_rt.constants = 5 : i64` | number of constants that the lowering has named |
  }];
  let hasOperationAttrVerify = 1;
}

#endif // BRAID_CONVERSION_RUNTIMEDIALECTS_TD
