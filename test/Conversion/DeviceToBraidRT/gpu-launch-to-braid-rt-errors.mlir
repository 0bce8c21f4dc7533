// Launches that are not supported.
//
// RUN: braid-opt %s --split-input-file --verify-diagnostics --convert-gpu-launch-to-braid-rt

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @relu() kernel {
    gpu.return
  }
}
func.func @not_compiled() {
  %c1 = arith.constant 1 : index
  // expected-error @below {{'gpu.launch_func' op launches a kernel of @kernels, expected a gpu.binary, which --gpu-module-to-binary makes}}
  gpu.launch_func @kernels::@relu blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
  return
}
}

// -----

module attributes {gpu.container_module} {
// expected-error @below {{'gpu.binary' op has 2 objects, expected one}}
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "a">,
                     #gpu.object<#nvvm.target<chip = "sm_90">, "b">]
func.func @two_objects() {
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@relu blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90">, "a">]
func.func @asynchronous() {
  %c1 = arith.constant 1 : index
  // expected-error @below {{failed to legalize operation 'gpu.launch_func'}}
  %t = gpu.launch_func async @kernels::@relu blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
  return
}
}
