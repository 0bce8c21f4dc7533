//===- Matmuls.h - Matmuls with cuBLASLt ------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_MATMULS_H
#define BRAID_RUNTIME_CUDA_DEVICE_MATMULS_H

#include "CUDA/API/Blas.h"
#include "CUDA/Device/Memory.h"
#include "CUDA/Device/Trials.h"
#include "Engine/Device.h"

#include <array>
#include <unordered_map>
#include <vector>

namespace braid::rt::cuda {

/// Matmuls on the compute stream. The first use of a matmul creates its
/// descriptors and chooses its algorithm, which is the library's first proposal
/// or the fastest of those in `propose`. Both are kept.
class Matmuls {
public:
  Matmuls(const Blas &blas, const Gpu &gpu, DeviceMemory &memory,
          Trials &trials)
      : blas(blas), gpu(gpu), memory(memory), trials(trials) {}
  ~Matmuls();
  Matmuls(const Matmuls &) = delete;
  Matmuls &operator=(const Matmuls &) = delete;

  /// The device memory that prepare allocates: one workspace, because matmuls
  /// run one after the other on the compute stream.
  static constexpr int64_t workspaceBytes = int64_t(64) << 20;

  /// True if prepare has been called.
  bool isPrepared() const { return handle != nullptr; }
  void prepare();
  /// The workspace, which other work of the compute stream may use, too.
  DevicePointer sharedWorkspace() const { return workspace; }

  /// Multiplies, after checkMatmul. Throws an Error if the library does not
  /// support the matmul.
  void multiply(Matmul matmul, const void *a, const void *b, void *c);

private:
  /// The key of a plan: the matmul without the address of the bias, and the
  /// alignments of A, B and C.
  using Key = std::array<int64_t, 17>;
  struct KeyHash {
    size_t operator()(const Key &key) const;
  };
  struct Operands {
    const void *a, *b;
    void *c, *workspace;
  };
  /// A matmul in the library's column-major order: A and B are exchanged, and
  /// C is the transposed result.
  struct Plan {
    MatmulDesc desc = nullptr;
    MatrixLayout a = nullptr, b = nullptr, c = nullptr, d = nullptr;
    MatmulAlgorithm algorithm = {};
    double alpha[2] = {}, beta[2] = {}; ///< In the type of the accumulation.
    const void *bias = nullptr;         ///< As `desc` has it now.
  };

  Plan &find(const Matmul &matmul, const Operands &operands);
  Plan choose(const Matmul &matmul, const Key &key);
  Plan chooseWithin(Matmul matmul, const Key &key);
  void describe(Plan &plan, const Matmul &matmul) const;
  MatrixLayout layout(DataType type, int64_t rows, int64_t columns,
                      int64_t leading, int64_t batch, int64_t stride) const;
  /// The algorithms that the library proposes for the multiprocessors of
  /// `matmul`, best first; behind them those for fewer multiprocessors that
  /// whole clusters fill, if all are measured. Throws an Error if there are
  /// none.
  std::vector<MatmulHeuristicResult>
  propose(const Plan &plan, const Matmul &matmul, const Key &key) const;
  /// Adds what the library proposes for `plan` to `results`, each once.
  BlasStatus addProposals(const Plan &plan, MatmulPreference preference,
                          std::vector<MatmulHeuristicResult> &results) const;
  BlasStatus run(const Plan &plan, const Operands &operands,
                 const MatmulAlgorithm &algorithm, Stream stream) const;
  void multiplyByNothing(const Matmul &matmul, void *c) const;
  void release(Plan &plan) const;

  int32_t measure(Plan &plan, const Matmul &matmul,
                  const std::vector<MatmulHeuristicResult> &candidates);
  int32_t chooseByTimes(const Matmul &matmul,
                        const std::vector<MatmulHeuristicResult> &candidates,
                        const std::vector<float> &times) const;
  int32_t getClusterSize(const MatmulAlgorithm &algorithm) const;

  template <typename Value>
  void set(MatmulDesc desc, MatmulDescAttribute attribute, Value value) const {
    blas.call(blas.matmulDescSetAttribute, desc, attribute, &value,
              sizeof(value));
  }

  const Blas &blas;
  const Gpu &gpu;
  DeviceMemory &memory;
  Trials &trials;
  BlasHandle handle = nullptr;
  DevicePointer workspace = 0;
  std::unordered_map<Key, Plan, KeyHash> plans;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_MATMULS_H
