//===- Handler.cpp - XLA's custom calls of programs -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Error.h"
#include "JAX/Calls.h"

#include <xla/ffi/api/c_api.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace braid::rt;

static XLA_FFI_Error *makeError(const XLA_FFI_Api &api, const std::string &text,
                                XLA_FFI_Error_Code code) {
  XLA_FFI_Error_Create_Args args = {XLA_FFI_Error_Create_Args_STRUCT_SIZE,
                                    nullptr, text.c_str(), code};
  return api.XLA_FFI_Error_Create(&args);
}

/// Throws an error of XLA, if there is one.
static void throwError(const XLA_FFI_Api &api, XLA_FFI_Error *error) {
  if (!error)
    return;
  XLA_FFI_Error_GetMessage_Args message = {
      XLA_FFI_Error_GetMessage_Args_STRUCT_SIZE, nullptr, error, nullptr};
  api.XLA_FFI_Error_GetMessage(&message);
  std::string text = message.message;
  XLA_FFI_Error_Destroy_Args destroy = {XLA_FFI_Error_Destroy_Args_STRUCT_SIZE,
                                        nullptr, error};
  api.XLA_FFI_Error_Destroy(&destroy);
  throw Error(text);
}

/// The attribute `key`; 0 without one.
static int64_t findKey(const XLA_FFI_Attrs &attributes) {
  for (int64_t i = 0; i < attributes.size; ++i) {
    const XLA_FFI_ByteSpan &name = *attributes.names[i];
    if (std::string(name.ptr, name.len) != "key" ||
        attributes.types[i] != XLA_FFI_AttrType_SCALAR)
      continue;
    const auto &scalar = *static_cast<XLA_FFI_Scalar *>(attributes.attrs[i]);
    if (scalar.dtype == XLA_FFI_DataType_S64)
      return *static_cast<const int64_t *>(scalar.value);
  }
  return 0;
}

static int32_t readType(XLA_FFI_DataType type) {
  switch (type) {
  case XLA_FFI_DataType_PRED:
    return BRAID_RT_I1;
  case XLA_FFI_DataType_S8:
  case XLA_FFI_DataType_U8:
    return BRAID_RT_I8;
  case XLA_FFI_DataType_S16:
  case XLA_FFI_DataType_U16:
    return BRAID_RT_I16;
  case XLA_FFI_DataType_S32:
  case XLA_FFI_DataType_U32:
    return BRAID_RT_I32;
  case XLA_FFI_DataType_S64:
  case XLA_FFI_DataType_U64:
    return BRAID_RT_I64;
  case XLA_FFI_DataType_F16:
    return BRAID_RT_F16;
  case XLA_FFI_DataType_BF16:
    return BRAID_RT_BF16;
  case XLA_FFI_DataType_F32:
    return BRAID_RT_F32;
  case XLA_FFI_DataType_F64:
    return BRAID_RT_F64;
  case XLA_FFI_DataType_C64:
    return BRAID_RT_COMPLEX_F32;
  case XLA_FFI_DataType_C128:
    return BRAID_RT_COMPLEX_F64;
  case XLA_FFI_DataType_F8E4M3FN:
    return BRAID_RT_F8E4M3FN;
  case XLA_FFI_DataType_F8E5M2:
    return BRAID_RT_F8E5M2;
  default:
    return -1;
  }
}

static std::vector<jax::Buffer> readBuffers(void **given, int64_t count) {
  std::vector<jax::Buffer> buffers;
  for (int64_t i = 0; i < count; ++i) {
    const auto &buffer = *static_cast<const XLA_FFI_Buffer *>(given[i]);
    buffers.push_back(
        {buffer.data, buffer.dims, buffer.rank, readType(buffer.dtype)});
  }
  return buffers;
}

static void run(const XLA_FFI_Api &api, const XLA_FFI_CallFrame &frame) {
  std::shared_ptr<jax::Call> call = jax::findCall(findKey(frame.attrs));
  if (!call)
    throw Error("the custom call is of a program that this process has not "
                "loaded, or has no more");
  XLA_FFI_DeviceOrdinal_Get_Args device = {
      XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE, nullptr, frame.ctx, 0};
  throwError(api, api.XLA_FFI_DeviceOrdinal_Get(&device));
  XLA_FFI_RunId_Get_Args run = {XLA_FFI_RunId_Get_Args_STRUCT_SIZE, nullptr,
                                frame.ctx, 0};
  throwError(api, api.XLA_FFI_RunId_Get(&run));
  XLA_FFI_Stream_Get_Args stream = {XLA_FFI_Stream_Get_Args_STRUCT_SIZE,
                                    nullptr, frame.ctx, nullptr};
  if (call->usesStreams())
    throwError(api, api.XLA_FFI_Stream_Get(&stream));
  call->run(device.device_ordinal, run.run_id, stream.stream,
            readBuffers(frame.args.args, frame.args.size),
            readBuffers(frame.rets.rets, frame.rets.size));
}

XLA_FFI_Error *braid_jax_run(XLA_FFI_CallFrame *frame) {
  // XLA asks for the version before it calls.
  if (auto *extension = frame->extension_start;
      extension && extension->type == XLA_FFI_Extension_Metadata) {
    XLA_FFI_Metadata &metadata =
        *reinterpret_cast<XLA_FFI_Metadata_Extension *>(extension)->metadata;
    metadata.api_version.major_version = XLA_FFI_API_MAJOR;
    // What the handler calls is in older versions, too.
    metadata.api_version.minor_version =
        std::min(XLA_FFI_API_MINOR, frame->api->api_version.minor_version);
    metadata.traits = 0;
    return nullptr;
  }
  try {
    run(*frame->api, *frame);
  } catch (const std::exception &error) {
    return makeError(*frame->api, error.what(), XLA_FFI_Error_Code_INTERNAL);
  }
  return nullptr;
}
