// The passes of a report have its max-memory, unless they set their own.
// RUN: braid-opt %s -o /dev/null --comm-report="machine=ideal output=- passes=comm-schedule" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FREE --implicit-check-not="MEMORY LIMIT"
// RUN: braid-opt %s -o /dev/null --comm-report="machine=ideal max-memory=5KB output=- passes=comm-schedule" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=INHERITED --implicit-check-not="MEMORY LIMIT"
// RUN: braid-opt %s -o /dev/null --comm-report="machine=ideal max-memory=5KB output=- passes=func.func(comm-schedule)" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=INHERITED --implicit-check-not="MEMORY LIMIT"
// RUN: braid-opt %s -o /dev/null --comm-report="machine=ideal max-memory=5KB output=- passes=braid-overlap" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=INHERITED --implicit-check-not="MEMORY LIMIT"
// RUN: braid-opt %s -o /dev/null --comm-report="machine=ideal max-memory=5KB output=- passes=comm-schedule{max-memory=1GB}" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OWN
// RUN: braid-opt %s -o /dev/null --comm-report="machine=ideal max-memory=1GB output=- passes=comm-schedule{max-memory=5KB}" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TIGHTER --implicit-check-not="MEMORY LIMIT"
// RUN: not braid-opt %s -o /dev/null --comm-report="machine=ideal max-memory=4000B output=/dev/null passes=comm-schedule" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=EXCESS

// Without a limit both gathers are in flight at once.
// FREE: Timeline of @gather_twice before
// FREE: Est. runtime (ms): 0.000400
// FREE: Timeline of @gather_twice after
// FREE: Est. runtime (ms): 0.000300
// FREE-NEXT: peak memory 6004 bytes

// INHERITED: max-memory 5000 bytes
// INHERITED: Timeline of @gather_twice after
// INHERITED: Est. runtime (ms): 0.000400
// INHERITED-NEXT: peak memory 4008 bytes

// OWN: max-memory 5000 bytes
// OWN: Timeline of @gather_twice after
// OWN: Est. runtime (ms): 0.000300
// OWN-NEXT: peak memory 6004 bytes
// OWN: MEMORY LIMIT EXCEEDED: the peak is 1004 bytes above the max-memory of 5000 bytes

// TIGHTER: max-memory 1000000000 bytes
// TIGHTER: Timeline of @gather_twice after
// TIGHTER: Est. runtime (ms): 0.000400
// TIGHTER-NEXT: peak memory 4008 bytes

// EXCESS: error: no order of this block keeps max-memory = 4000 bytes: the best needs 4008 bytes, 8 too many
// EXCESS: error: passes 'comm-schedule' of comm-report failed

// A report within hands it on, and has its own of it.
// RUN: braid-opt %s -o /dev/null \
// RUN:   --comm-report="machine=ideal max-memory=5KB output=/dev/null passes=comm-report{passes=comm-report{output=%t.inherited}}"
// RUN: FileCheck %s --check-prefix=INNER < %t.inherited
// RUN: braid-opt %s -o /dev/null \
// RUN:   --comm-report="machine=ideal max-memory=5KB output=/dev/null passes=comm-report{max-memory=6KB passes=comm-report{output=%t.own}}"
// RUN: FileCheck %s --check-prefix=INNER-OWN < %t.own
// INNER: max-memory 5000 bytes
// INNER-OWN: max-memory 6000 bytes

comm.group @pairs [[0, 1], [2, 3]]

func.func @gather_twice(%a: tensor<250xf32>, %b: tensor<250xf32>) -> (tensor<f32>, tensor<f32>) {
  %t = comm.all_gather %a on @pairs dim 0 {comm.cost_ns = 100 : i64, comm.label = "first"} : tensor<250xf32> -> tensor<500xf32>
  %r = comm.wait %t : !comm.token<tensor<500xf32>>
  %f = comm.compute "f"(%r) {comm.cost_ns = 100 : i64} : (tensor<500xf32>) -> tensor<f32>
  %u = comm.all_gather %b on @pairs dim 0 {comm.cost_ns = 100 : i64, comm.label = "second"} : tensor<250xf32> -> tensor<500xf32>
  %s = comm.wait %u : !comm.token<tensor<500xf32>>
  %g = comm.compute "g"(%s) {comm.cost_ns = 100 : i64, comm.label = "g"} : (tensor<500xf32>) -> tensor<f32>
  return %f, %g : tensor<f32>, tensor<f32>
}
