/*===- braid-rt.h - The Braid runtime's C ABI -----------------------*- C -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#ifndef BRAID_RT_BRAID_RT_H
#define BRAID_RT_BRAID_RT_H

#include "braid-rt/Attention.h"
#include "braid-rt/Blas.h"
#include "braid-rt/Collectives.h"
#include "braid-rt/Convolution.h"
#include "braid-rt/Device.h"
#include "braid-rt/Host.h"
#include "braid-rt/Link.h"
#include "braid-rt/Memory.h"
#include "braid-rt/Numerics.h"
#include "braid-rt/Parts.h"
#include "braid-rt/Program.h"
#include "braid-rt/Routines.h"
#include "braid-rt/Types.h"

#endif /* BRAID_RT_BRAID_RT_H */
