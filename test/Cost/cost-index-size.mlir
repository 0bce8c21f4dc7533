// RUN: split-file %s %t
// RUN: braid-opt %t/default.mlir --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEFAULT
// RUN: braid-opt %t/narrow.mlir --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NARROW

// The data layout of the module gives the size of index, 64 bits by default. A
// concatenation reads and writes its 200 elements, at 1000 bytes per ns.

// DEFAULT: tensor.concat tensor<200x1000xindex>, 3200 ns (roofline)
// NARROW: tensor.concat tensor<200x1000xindex>, 1600 ns (roofline)

//--- default.mlir
func.func @concat(%x: tensor<100x1000xindex>, %y: tensor<100x1000xindex>) -> tensor<200x1000xindex> {
  %c = tensor.concat dim(0) %x, %y : (tensor<100x1000xindex>, tensor<100x1000xindex>) -> tensor<200x1000xindex>
  return %c : tensor<200x1000xindex>
}

//--- narrow.mlir
module attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} {
  func.func @concat(%x: tensor<100x1000xindex>, %y: tensor<100x1000xindex>) -> tensor<200x1000xindex> {
    %c = tensor.concat dim(0) %x, %y : (tensor<100x1000xindex>, tensor<100x1000xindex>) -> tensor<200x1000xindex>
    return %c : tensor<200x1000xindex>
  }
}
