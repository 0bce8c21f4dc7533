//===- Sockets.h - Listening and connecting ---------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_PROCESSES_SOCKETS_H
#define BRAID_RUNTIME_CUDA_PROCESSES_SOCKETS_H

#include <cstdint>
#include <string>
#include <vector>

namespace braid::rt::cuda {

/// Listens at every address of this host that `host` names, IPv4 and IPv6.
/// `hasOtherHosts`: some ranks come from other hosts, which loopback addresses
/// do not serve. Throws an Error with the reason if there is no such address,
/// or if another program has the port at one of them.
std::vector<int> listenAt(const std::string &host, int32_t port,
                          bool hasOtherHosts = false);

/// Accepts a connection; -1 with errno if none is waiting or if this fails.
int acceptFrom(int listener);

/// Connects to a host, with repeated attempts until the deadline on the
/// monotonic clock. Throws an Error with the reason if this fails.
int connectTo(const std::string &host, int32_t port, int64_t deadlineNs);

/// The address at the other end, `10.0.0.7:41234`.
std::string describePeer(int socket);

/// `host:port`, with brackets around an address of IPv6.
std::string describePlace(const std::string &host, int32_t port);

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_PROCESSES_SOCKETS_H
