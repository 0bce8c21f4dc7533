//===- Modules.h - Kernels and constants of programs ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_MODULES_H
#define BRAID_RUNTIME_CUDA_DEVICE_MODULES_H

#include "CUDA/Device/Memory.h"
#include "Engine/Device.h"
#include "braid-rt/Program.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace braid::rt::cuda {

/// The images and constants of programs on a GPU. All kernels are loaded.
class Modules {
public:
  Modules(const Gpu &gpu, DeviceMemory &memory) : gpu(gpu), memory(memory) {}
  ~Modules();
  Modules(const Modules &) = delete;
  Modules &operator=(const Modules &) = delete;

  /// Loads the images and constants of a program. Drops those of an unloaded
  /// program whose descriptors had the same addresses. Throws an Error if the
  /// GPU cannot run an image.
  void load(const braid_rt_program &program);

  /// The bytes of device memory that the constants need.
  static int64_t constantBytes(const braid_rt_device_program &program);

  DevicePointer constant(const braid_rt_constant &constant) const;

  /// Appends to `words` all that tells this launch of a kernel from others,
  /// the `argumentCount` arguments last, each in words of its own. Returns
  /// false if the driver does not know their sizes.
  bool describe(const braid_rt_kernel &kernel, const LaunchSize &size,
                void **arguments, int64_t argumentCount,
                std::vector<uint64_t> &words);
  /// Launches a kernel with the arguments of a description.
  void launch(const braid_rt_kernel &kernel, const LaunchSize &size,
              const uint64_t *words);

  /// Launches a kernel on the compute stream. Throws an Error that names it.
  void launch(const braid_rt_kernel &kernel, const LaunchSize &size,
              void **arguments, int64_t argumentCount);

private:
  struct Image {
    Module module = nullptr;
    std::unordered_map<std::string, Function> functions;
    bool waits = false; ///< It has BRAID_RT_KERNELS_WAIT.
  };
  struct Kernel {
    Function function = nullptr;
    bool waits = false;     ///< For the memory of earlier kernels, by itself.
    int64_t parameters = 0; ///< Their number; -1 if the driver does not know.
    std::vector<size_t> parameterBytes;
    int64_t sharedLimit = 0; ///< Of dynamic shared memory, as set now.
  };

  void checkChip(const braid_rt_image &image) const;
  void loadImage(const braid_rt_image &image);
  void loadConstants(const braid_rt_program &program);
  void forget(const braid_rt_program &program);
  void unload(Image &image);
  void findParameters(Kernel &kernel) const;
  Kernel &find(const braid_rt_kernel &kernel);
  void allowShared(Kernel &kernel, int64_t bytes);

  const Gpu &gpu;
  DeviceMemory &memory;
  std::unordered_map<const braid_rt_image *, Image> images;
  /// By the addresses that launches name.
  std::unordered_map<const braid_rt_kernel *, Kernel> kernels;
  std::unordered_map<const braid_rt_constant *, DevicePointer> constants;
  /// The memory of each program's constants.
  std::unordered_map<const braid_rt_program *, DevicePointer> constantBlocks;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_MODULES_H
