//===- Control.h - Control messages -----------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_CONTROL_H
#define BRAID_RUNTIME_MPI_CONTROL_H

namespace braid::rt {

/// The tags of the control communicator.
enum ControlKind {
  StatusQuestion, ///< The number of the inquiry.
  StatusAnswer,   ///< The same, and a RankStatus.
  GivenUp,        ///< A member gives an operation up: queue, number, text.
  Failed,         ///< The sender has failed: its text.
  FailureHeard,   ///< The sender starts nothing more with the failed rank: its
                  ///< counters.
  LastOperations, ///< The last operations that the failed rank completes.
  GroupAsked,     ///< To rank 0: the key and the ranks of a group.
  GroupReady      ///< From rank 0: the members make the group now.
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_CONTROL_H
