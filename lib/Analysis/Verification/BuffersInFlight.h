//===- BuffersInFlight.h - The buffers in flight on one path -- -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_VERIFICATION_BUFFERSINFLIGHT_H
#define BRAID_LIB_ANALYSIS_VERIFICATION_BUFFERSINFLIGHT_H

#include "Analysis/Memory/BufferAccesses.h"
#include "Analysis/Verification/Values/PathBuffers.h"
#include "Findings.h"

#include <memory>
#include <vector>

namespace braid {

/// Follows the buffers that operations of one rank read and write while they
/// are in flight. From a start to its wait no op writes or frees a buffer that
/// the operation reads, nor touches a buffer that it writes.
class BuffersInFlight {
public:
  using Buffer = std::shared_ptr<const PathBuffer>;

  explicit BuffersInFlight(Findings &findings) : findings(findings) {}

  /// `buffer` is in flight until the wait of `token`, which `launch`, started
  /// by `start`, gives.
  void begin(unsigned launch, unsigned token, Buffer buffer, bool isWritten,
             mlir::Operation *start);
  /// Ends what is in flight until the wait of `token`.
  void end(unsigned token);
  /// Ends the flight of `buffer` in `launch`.
  void endBuffer(unsigned launch, const Buffer &buffer);

  /// `op` accesses `buffer`.
  void access(mlir::Operation *op, const Buffer &buffer, BufferAccessKind kind);
  /// Keeps all accesses from now on, for `endUnknown`.
  void keepAccesses() { keepsAccesses = true; }
  /// A wait names buffers of an operation that started, at `started`, before
  /// the program did: all accesses so far were made in its flight.
  void endUnknown(llvm::ArrayRef<Buffer> reads, llvm::ArrayRef<Buffer> writes,
                  mlir::Location started);

  bool isEmpty() const { return flights.empty() && !keepsAccesses; }
  /// True if a piece of buffer `root` is in flight.
  bool isInFlight(unsigned root) const;

private:
  struct Flight {
    unsigned launch;
    unsigned token;
    Buffer buffer;
    bool isWritten;
    mlir::Operation *start;
    mlir::Location started;
  };
  struct KeptAccess {
    mlir::Operation *op;
    Buffer buffer;
    BufferAccessKind kind;
  };
  bool check(mlir::Operation *op, const Buffer &buffer, BufferAccessKind kind,
             const Flight &flight);

  Findings &findings;
  std::vector<Flight> flights;
  std::vector<KeptAccess> kept;
  bool keepsAccesses = false;
};

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_VERIFICATION_BUFFERSINFLIGHT_H
