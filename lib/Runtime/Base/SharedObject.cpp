//===- SharedObject.cpp - Checks of files to load -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/SharedObject.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace braid::rt;

namespace {
/// An open file of known size.
class File {
public:
  explicit File(const std::string &path)
      : descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status = {};
    if (descriptor < 0 || fstat(descriptor, &status) != 0)
      problem = std::strerror(errno);
    else if (!S_ISREG(status.st_mode))
      problem = S_ISDIR(status.st_mode) ? "found a folder, expected a file"
                                        : "found no regular file";
    else
      size = static_cast<uint64_t>(status.st_size);
  }
  ~File() {
    if (descriptor >= 0)
      close(descriptor);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  bool read(void *data, size_t bytes, uint64_t offset) const {
    return has(offset, bytes) &&
           pread(descriptor, data, bytes, static_cast<off_t>(offset)) ==
               static_cast<ssize_t>(bytes);
  }
  /// True if the file has `bytes` bytes from `offset`.
  bool has(uint64_t offset, uint64_t bytes) const {
    return offset <= size && bytes <= size - offset;
  }

  uint64_t size = 0;
  std::string problem; ///< Empty if the file can be read.

private:
  int descriptor;
};
} // namespace

/// The machine, word size and byte order of this process.
static constexpr struct {
  uint16_t machine;
  unsigned char wordSize, byteOrder;
} own = {
#if defined(__x86_64__)
    EM_X86_64,
#elif defined(__aarch64__)
    EM_AARCH64,
#else
    EM_NONE, // Not checked.
#endif
    sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32,
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    ELFDATA2MSB
#else
    ELFDATA2LSB
#endif
};

static std::string nameOfMachine(uint16_t machine) {
  static constexpr struct {
    uint16_t machine;
    const char *name;
  } names[] = {{EM_386, "x86 with 32 bits"}, {EM_X86_64, "x86-64"},
               {EM_ARM, "ARM with 32 bits"}, {EM_AARCH64, "AArch64"},
               {EM_PPC64, "PowerPC"},        {EM_S390, "S/390"},
               {EM_RISCV, "RISC-V"},         {EM_CUDA, "CUDA"}};
  for (const auto &known : names)
    if (known.machine == machine)
      return known.name;
  return "number " + std::to_string(machine);
}

/// What is wrong with the kind of file that `header` begins.
static std::string describeKind(const ElfW(Ehdr) & header) {
  if (header.e_ident[EI_CLASS] != own.wordSize)
    return std::string("was compiled for ") + (own.wordSize == ELFCLASS64
                                                   ? "32 bits, expected 64"
                                                   : "64 bits, expected 32");
  if (header.e_ident[EI_DATA] != own.byteOrder)
    return "was compiled for another byte order";
  if (own.machine != EM_NONE && header.e_machine != own.machine)
    return "was compiled for another machine: found " +
           nameOfMachine(header.e_machine) + ", expected " +
           nameOfMachine(own.machine);
  if (header.e_type == ET_REL)
    return "is an object file that is not linked, expected a shared object";
  if (header.e_type != ET_DYN)
    return std::string(header.e_type == ET_EXEC   ? "is an executable"
                       : header.e_type == ET_CORE ? "is a core dump"
                                                  : "is no library") +
           ", expected a shared object";
  return "";
}

/// The end of what `header` promises: of the tables of segments and sections,
/// and of what is loaded.
static uint64_t findEnd(const File &file, const ElfW(Ehdr) & header) {
  uint64_t end = sizeof(header);
  auto extend = [&](uint64_t offset, uint64_t bytes) {
    // Whatever lies beyond all numbers lies beyond the file.
    end = std::max(end,
                   bytes > UINT64_MAX - offset ? UINT64_MAX : offset + bytes);
  };
  uint64_t tableBytes = uint64_t(header.e_phnum) * sizeof(ElfW(Phdr));
  extend(header.e_phoff, tableBytes);
  extend(header.e_shoff, uint64_t(header.e_shnum) * header.e_shentsize);
  if (header.e_phentsize != sizeof(ElfW(Phdr)) ||
      !file.has(header.e_phoff, tableBytes))
    return end;
  std::vector<ElfW(Phdr)> segments(header.e_phnum);
  if (!file.read(segments.data(), tableBytes, header.e_phoff))
    return end;
  for (const ElfW(Phdr) &segment : segments)
    if (segment.p_type == PT_LOAD)
      extend(segment.p_offset, segment.p_filesz);
  return end;
}

/// What is wrong with the content of `file`.
static std::string describeContent(const File &file) {
  if (file.size == 0)
    return "is empty, expected a shared object (ELF)";
  ElfW(Ehdr) header = {};
  unsigned char magic[SELFMAG] = {};
  if (!file.read(magic, sizeof(magic), 0) ||
      std::memcmp(magic, ELFMAG, SELFMAG) != 0)
    return "is no shared object (ELF), by its first bytes";
  if (!file.read(&header, sizeof(header), 0))
    return "is truncated: found " + std::to_string(file.size) +
           " bytes, fewer than the header of a shared object";
  std::string kind = describeKind(header);
  if (!kind.empty())
    return kind;
  if (uint64_t end = findEnd(file, header); end > file.size)
    return "is truncated or damaged: found " + std::to_string(file.size) +
           " bytes, expected " +
           (end == UINT64_MAX ? "more" : std::to_string(end));
  return "";
}

std::string braid::rt::describeUnloadable(const std::string &path) {
  File file(path);
  if (!file.problem.empty())
    return file.problem;
  std::string problem = describeContent(file);
  return problem.empty() ? "" : "the file " + problem;
}
