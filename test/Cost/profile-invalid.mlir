// RUN: split-file %s %t

// A mistake in the profile is told where it is.
// RUN: not braid-opt %t/program.mlir --comm-report="machine=ideal profile=%t/negative.json" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: cannot read the profile '{{.*}}negative.json' of option 'profile': found -5 in field "entries[0].ns", expected nanoseconds of at least 0 and below 2^63, or a list of such
// RUN: not braid-opt %t/program.mlir --comm-reorder-compute-for-overlap="machine=ideal profile=%t/negative.json" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not braid-opt %t/program.mlir --comm-report="machine=ideal profile=%t/syntax.json" 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: error: cannot read the profile '{{.*}}syntax.json' of option 'profile': [3:1, byte={{[0-9]+}}]: Expected object key

// Files that cannot be read.
// RUN: not braid-opt %t/program.mlir --comm-report="profile=%t/none.json" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: program.mlir:1:1: error: cannot read the profile '{{.*}}none.json' of option 'profile': No such file or directory
// RUN: not braid-opt %t/program.mlir --comm-report="profile=%t" 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: program.mlir:1:1: error: cannot read the profile '{{.*}}' of option 'profile': not a regular file
// RUN: not braid-opt %t/program.mlir --comm-report="profile=/dev/zero" 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: program.mlir:1:1: error: cannot read the profile '/dev/zero' of option 'profile': not a regular file

// Times of another machine.
// RUN: not braid-opt %t/program.mlir --comm-report="machine=a100x8 profile=%t/h200.json" 2>&1 | FileCheck %s --check-prefix=HARDWARE
// HARDWARE: program.mlir:1:1: error: the profile '{{.*}}h200.json' was measured on 'h200x8', expected the machine that costs are asked for: 'a100x8'
// RUN: braid-opt %t/program.mlir --comm-report="machine=h200x8 profile=%t/h200.json" 2>&1 | FileCheck %s --check-prefix=SAME
// SAME: comm-report: machine h200x8
// RUN: not braid-opt %t/program.mlir --comm-report="machine=h200x8 profile=%t/smaller.json" 2>&1 | FileCheck %s --check-prefix=SMALLER
// SMALLER: program.mlir:1:1: error: the profile '{{.*}}smaller.json' was measured on 78 multiprocessors, expected those of machine 'h200x8': 132

//--- program.mlir
module {
  func.func @f(%x: tensor<4xf32>) {
    return
  }
}
//--- negative.json
{"version": 1,
 "entries": [
  {"label": "gradients",    "ns": -5}
]}
//--- syntax.json
{"version": 1,
 "entries": [],
}
//--- h200.json
{"version": 1, "machine": "h200x8", "entries": []}
//--- smaller.json
{"version": 2, "machine": {"name": "h200x8", "gpu": "G", "gpus": 2, "multiprocessors": 78},
 "software": {}, "date": "2026-11-22", "spread": 0}
