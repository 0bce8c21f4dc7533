//===- FreePort.h - A port for a test ---------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_RUNTIME_CUDAENGINE_FREEPORT_H
#define BRAID_TEST_UNIT_RUNTIME_CUDAENGINE_FREEPORT_H

#include <cstdint>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace braid::test {

/// A port that was free a moment ago.
inline int32_t freePort() {
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  bind(listener, reinterpret_cast<sockaddr *>(&address), size);
  getsockname(listener, reinterpret_cast<sockaddr *>(&address), &size);
  close(listener);
  return ntohs(address.sin_port);
}

} // namespace braid::test

#endif // BRAID_TEST_UNIT_RUNTIME_CUDAENGINE_FREEPORT_H
