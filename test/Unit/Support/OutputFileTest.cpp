//===- OutputFileTest.cpp - Files that are whole or not there -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Support/OutputFile.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace braid;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

namespace {

class OutputFileTest : public testing::Test {
protected:
  OutputFileTest() {
    std::string pattern = testing::TempDir() + "braid-output-XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  ~OutputFileTest() override { fs::remove_all(folder); }

  std::string at(const std::string &name) const { return folder + "/" + name; }
  std::string read(const std::string &name) const {
    std::ifstream stream(at(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto &entry : fs::directory_iterator(folder))
      result.push_back(entry.path().filename());
    std::sort(result.begin(), result.end());
    return result;
  }
  unsigned modeOf(const std::string &name) const {
    struct stat status = {};
    EXPECT_EQ(stat(at(name).c_str(), &status), 0);
    return status.st_mode & 07777;
  }

  std::string folder;
};

TEST_F(OutputFileTest, AppearsWhenFinished) {
  OutputFile file(at("a"));
  file.write("one ");
  file.write("two");
  EXPECT_THAT(read("a"), IsEmpty());
  EXPECT_FALSE(fs::exists(at("a")));
  EXPECT_THAT(file.finish(), IsEmpty());
  EXPECT_EQ(read("a"), "one two");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(OutputFileTest, LeavesNothingUnfinished) {
  EXPECT_THAT(writeWholeFile(at("a"), "older"), IsEmpty());
  {
    OutputFile file(at("a"));
    file.write("newer");
    OutputFile other(at("b"));
    other.write("newer");
  }
  EXPECT_EQ(read("a"), "older");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(OutputFileTest, HasThePermissionsOfOtherFiles) {
  mode_t before = umask(027);
  EXPECT_THAT(writeWholeFile(at("a"), ""), IsEmpty());
  EXPECT_THAT(writeWholeFile(at("b"), "", 0777), IsEmpty());
  umask(before);
  EXPECT_EQ(modeOf("a"), 0640U);
  EXPECT_EQ(modeOf("b"), 0750U);
  // An older file keeps its own.
  chmod(at("a").c_str(), 0604);
  EXPECT_THAT(writeWholeFile(at("a"), "new"), IsEmpty());
  EXPECT_EQ(modeOf("a"), 0604U);
  EXPECT_EQ(read("a"), "new");
}

TEST_F(OutputFileTest, WritesWhereLinksLead) {
  fs::create_directory(at("below"));
  fs::create_symlink("below/target", at("link"));
  fs::create_symlink("link", at("second"));
  for (const char *text : {"new", "newer"}) {
    EXPECT_THAT(writeWholeFile(at("second"), text), IsEmpty());
    EXPECT_EQ(read("below/target"), text);
  }
  EXPECT_TRUE(fs::is_symlink(at("second")) && fs::is_symlink(at("link")));
}

TEST_F(OutputFileTest, WritesDevicesAndOpenFilesInPlace) {
  EXPECT_THAT(writeWholeFile("/dev/null", "text"), IsEmpty());
  std::ofstream(at("open")) << "longer than the text";
  FILE *open = std::fopen(at("open").c_str(), "r+");
  std::string name = "/proc/self/fd/" + std::to_string(fileno(open));
  fs::create_symlink(name, at("link"));
  EXPECT_THAT(writeWholeFile(at("link"), "text"), IsEmpty());
  char text[32] = "";
  EXPECT_EQ(std::fread(text, 1, sizeof(text), open), 4U);
  EXPECT_STREQ(text, "text");
  std::fclose(open);
}

TEST_F(OutputFileTest, ErrorsNameTheFile) {
  EXPECT_EQ(writeWholeFile("/dev/full", "text"),
            "cannot write /dev/full: No space left on device");
  EXPECT_EQ(writeWholeFile(at("none/a"), "text"),
            "cannot write " + at("none/a") + ": No such file or directory");
  EXPECT_EQ(writeWholeFile(folder, "text"),
            "cannot write " + folder + ": Is a directory");
  EXPECT_EQ(writeWholeFile("", "text"),
            "cannot write : No such file or directory");
  fs::create_symlink("loop", at("loop"));
  EXPECT_THAT(writeWholeFile(at("loop"), "text"), HasSubstr("symbolic links"));
}

TEST_F(OutputFileTest, AnErrorKeepsTheOlderFile) {
  EXPECT_THAT(writeWholeFile(at("a"), "older"), IsEmpty());
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 4096;
  setrlimit(RLIMIT_FSIZE, &small);
  std::string text(10000, 'x');
  std::string error = writeWholeFile(at("a"), text),
              other = writeWholeFile(at("b"), text);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(error, "cannot write " + at("a") + ": File too large");
  EXPECT_EQ(other, "cannot write " + at("b") + ": File too large");
  EXPECT_EQ(read("a"), "older");
  EXPECT_THAT(names(), ElementsAre("a"));
}

/// Lets this process see a file system without files that have no name, until
/// the process ends.
void refuseFilesWithoutName() {
  // The third argument of openat has the flags; their lower half comes first.
  constexpr uint32_t flags = offsetof(seccomp_data, args[2]);
  constexpr uint32_t unnamed = O_TMPFILE & ~O_DIRECTORY;
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, flags),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, unnamed, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog program = {std::size(filter), filter};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/// Runs `body` in a process that sees a file system without files that have no
/// name. Returns 0 if nothing in there has failed.
template <typename Body> int runWithNames(Body body) {
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    refuseFilesWithoutName();
    body();
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(OutputFileTest, FileSystemsWithoutUnnamedFilesHaveTemporaryNames) {
  EXPECT_EQ(runWithNames([&] {
              EXPECT_THAT(writeWholeFile(at("a"), "text"), IsEmpty());
              EXPECT_EQ(read("a"), "text");
              {
                OutputFile file(at("b"));
                EXPECT_EQ(names().size(), 2u);
              }
              EXPECT_THAT(names(), ElementsAre("a"));
            }),
            0);
}

TEST_F(OutputFileTest, SignalHandlersRemoveTemporaryNames) {
  EXPECT_EQ(runWithNames([&] {
              EXPECT_THAT(writeWholeFile(at("a"), "text"), IsEmpty());
              OutputFile one(at("b")), other(at("c"));
              EXPECT_EQ(names().size(), 3u);
              OutputFile::removeUnfinished();
              EXPECT_THAT(names(), ElementsAre("a"));
            }),
            0);
}

} // namespace
