// REQUIRES: nvptx, libdevice, ptxas
// RUN: env CUDA_ROOT=%cuda braid-opt %s --convert-linalg-to-gpu --braid-lower-kernels --gpu-module-to-binary=format=fatbin \
// RUN:   | FileCheck %s
// RUN: env CUDA_ROOT=%cuda braid-opt %s --convert-linalg-to-gpu --braid-lower-kernels=chip=sm_100 \
// RUN:   --gpu-module-to-binary=format=bin | FileCheck %s --check-prefix=CHIP
// RUN: env CUDA_ROOT=%t.none not braid-opt %s --convert-linalg-to-gpu --braid-lower-kernels 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE

// libdevice is linked, and ptxas and fatbinary accept what comes out.
// CHECK: gpu.launch_func @kernels::@elementwise
// CHECK: gpu.binary @kernels [#gpu.object<#nvvm.target<O = 3, chip = "sm_90", features = "+ptx80", link = ["{{.*}}libdevice.10.bc"]>, properties = {{{.*}}}, "
// CHIP: gpu.binary @kernels [#gpu.object<#nvvm.target<O = 3, chip = "sm_100", link
// NONE: error: the kernels call __nv_expf, which is in CUDA's libdevice, and there is no {{.*}}.none{{.*}}libdevice.10.bc; CUDA_ROOT names another folder of a CUDA toolkit
func.func @f(%a: memref<1024xf32>, %b: memref<1024xf32>) {
  linalg.exp ins(%a : memref<1024xf32>) outs(%b : memref<1024xf32>)
  return
}
