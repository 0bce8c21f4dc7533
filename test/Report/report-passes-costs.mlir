// The passes of a report have its costs, unless they ask for others.
// RUN: split-file %s %t
// RUN: cd %t && braid-opt prog.mlir -o /dev/null \
// RUN:   --comm-report="machine=ideal link-latency=1us link-bandwidth=1GB/s ranks=2 dynamic-size=10 output=- passes=comm-report" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ALL
// RUN: cd %t && braid-opt prog.mlir -o /dev/null \
// RUN:   --comm-report="profile=profile.json machine=ideal output=/dev/null passes=func.func(comm-schedule)" --remarks-filter=comm-schedule 2>&1 | FileCheck %s --check-prefix=PROFILE
// RUN: cd %t && braid-opt prog.mlir -o /dev/null --comm-report="machine=ideal output=/dev/null passes=comm-schedule{profile=profile.json}" --remarks-filter=comm-schedule 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PROFILE
// RUN: cd %t && braid-opt prog.mlir -o /dev/null --comm-report="machine=ideal output=/dev/null passes=comm-schedule" --remarks-filter=comm-schedule 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PLAIN
// RUN: cd %t && not braid-opt prog.mlir --comm-report="profile=profile.json machine=ideal output=/dev/null passes=comm-schedule{machine=cpu}" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OTHER
// RUN: cd %t && braid-opt prog.mlir -o /dev/null \
// RUN:   --comm-report="machine=ideal output=/dev/null passes=comm-report{passes=comm-report{output=inner.txt}}" && FileCheck %s --check-prefix=INNER < inner.txt

// The option wins over the module's attribute, as it does for the report itself.
// ALL: comm-report: machine ideal, collective model link, 2 ranks, dynamic size 10
// ALL: all_reduce "sum" {{.*}}, [[COST:[0-9]+]] ns (collective-model link)
// ALL: comm-report: machine ideal, collective model link, 2 ranks, dynamic size 10
// ALL: passes: comm-report
// ALL: all_reduce "sum" {{.*}}, [[COST]] ns (collective-model link)

// The all-reduce takes 70 ns by the profile, and hides behind compute of 100 ns.
// PROFILE: remark: [Passed] scheduled-function | {{.*}}Function=step | {{.*}}LowerBoundNs=100, MakespanBeforeNs=170, MakespanNs=100, {{.*}}Optimal=true
// PLAIN: remark: [Passed] scheduled-function | {{.*}}Function=step | {{.*}}MakespanNs=
// PLAIN-NOT: MakespanNs=100,

// OTHER: prog.mlir:3:3: error: the profile 'profile.json' was measured on 'ideal', expected the machine that costs are asked for: 'cpu'

// Options of the link model apply only to passes with the link model.
// RUN: cd %t && braid-opt prog.mlir -o /dev/null \
// RUN:   --comm-report="machine=ideal link-latency=1us output=/dev/null passes=comm-report{machine=h200x8}" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NCCL
// NCCL: comm-report: machine h200x8, collective model nccl,

// INNER: comm-report: machine ideal,

//--- prog.mlir
module attributes {comm.machine = "h200x8"} {
  comm.group @world all
  func.func @step(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %t = comm.all_reduce sum %x on @world {comm.label = "sum"} : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %k = comm.compute "k"(%x) {comm.cost_ns = 100 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    return %r, %k : tensor<4xf32>, tensor<4xf32>
  }
}
//--- profile.json
{"version": 1, "machine": "ideal", "entries": [{"label": "sum", "ns": 70}]}
