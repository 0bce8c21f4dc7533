// Files that are no traces, or traces of another program.
// RUN: rm -rf %t && mkdir %t
// DEFINE: %{report} = braid-opt %s -o /dev/null

// RUN: not %{report} --comm-report="trace=%t/none.json" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: cannot compare with the run of option 'trace': {{.*}}none.json: {{.*}}

// RUN: echo '{"traceEvents": []}' >%t/no-rank.json
// RUN: not %{report} --comm-report="trace=%t/no-rank.json" 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: error: cannot compare with the run of option 'trace': {{.*}}no-rank.json: no field "distributedInfo.rank", expected a trace that braid-run --trace has written

// RUN: echo '{"distributedInfo": {"rank": 0}, "timing": "host", "traceEvents": [7]}' >%t/number.json
// RUN: not %{report} --comm-report="trace=%t/number.json" 2>&1 | FileCheck %s --check-prefix=EVENT
// EVENT: number.json: traceEvents[0]: found 7, expected an event

// RUN: echo '{"distributedInfo": {"rank": 0}, "timing": "host", "traceEvents": [{"ph": "X", "pid": 0, "cat": "wait", "name": "w", "ts": 1, "dur": -1}]}' >%t/backwards.json
// RUN: not %{report} --comm-report="trace=%t/backwards.json" 2>&1 | FileCheck %s --check-prefix=BACKWARDS
// BACKWARDS: backwards.json: traceEvents[0]: found an event without a name, a time "ts" or a duration "dur" of at least 0, expected all three

// A name that is shorter than its category.
// RUN: echo '{"distributedInfo": {"rank": 0}, "timing": "host", "traceEvents": [{"ph": "X", "pid": 0, "cat": "wait", "name": "w", "ts": 1, "dur": 1}]}' >%t/short.json
// RUN: not %{report} --comm-report="trace=%t/short.json" 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: short.json: no invocation of rank 0, expected a trace that braid-run --trace has written

// RUN: echo '{"distributedInfo": {"rank": 0}, "timing": "host", "traceEvents": []}' >%t/empty.json
// RUN: not %{report} --comm-report="trace=%t/empty.json" 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: empty.json: no invocation of rank 0, expected a trace that braid-run --trace has written

// RUN: not %{report} --comm-report="trace=%S/Inputs/host-run.json" 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: host-run.json: found a run with 2 starts and waits, expected the 0 of @step; the passes have to be those of the run

// RUN: not %{report} --comm-report="trace=%S/Inputs/device-run.json" 2>&1 | FileCheck %s --check-prefix=PRODUCTS
// PRODUCTS: device-run.json: found a run of 2 matmuls, expected the 1 of @step; the passes have to be those of the run

// RUN: sed s/step/train/ %S/Inputs/host-run.json >%t/train.json
// RUN: not %{report} --comm-report="trace=%t/train.json" 2>&1 | FileCheck %s --check-prefix=FUNCTION
// FUNCTION: train.json: found a run of @train, expected one of a function of the program

// RUN: not %{report} --comm-report="measured-profile=%t/profile.json" 2>&1 | FileCheck %s --check-prefix=PROFILE
// PROFILE: error: found option 'measured-profile' without option 'trace', which names the measurement

func.func @step(%a: tensor<8x8xbf16>) -> tensor<8x8xbf16> {
  %c = linalg.matmul ins(%a, %a : tensor<8x8xbf16>, tensor<8x8xbf16>) outs(%a : tensor<8x8xbf16>) -> tensor<8x8xbf16>
  return %c : tensor<8x8xbf16>
}
