//===- JobKeyTest.cpp - The secret of a job -------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Processes/JobKey.h"
#include "Base/Error.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sys/stat.h>
#include <thread>

using namespace braid::rt;
using namespace braid::rt::cuda;
using testing::AllOf;
using testing::HasSubstr;

using Table = std::map<std::string, std::string>;

namespace {
class JobKeys : public testing::Test {
protected:
  JobKeys() {
    char name[] = "/tmp/braid-job-key-XXXXXX";
    folder = mkdtemp(name);
  }
  ~JobKeys() override { std::filesystem::remove_all(folder); }

  /// A launch of two ranks, `local` of them on this host; 0: unknown.
  static JobKey find(const Table &table, int32_t local = 2) {
    Launch launch;
    launch.launcher = "torchrun";
    launch.size = 2;
    launch.localSize = local;
    launch.hasOtherHosts = local == 1;
    return findJobKey(launch, [&](const char *name) {
      auto found = table.find(name);
      return found == table.end() ? nullptr : found->second.c_str();
    });
  }
  static std::string errorOf(const Table &table, int32_t local = 2) {
    try {
      find(table, local);
      return "";
    } catch (const Error &error) {
      return error.what();
    }
  }
  std::string write(const std::string &name, const std::string &text,
                    mode_t mode) const {
    std::string path = folder + "/" + name;
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path;
  }

  std::string folder; ///< Of mode 700.
};
} // namespace

TEST_F(JobKeys, ThatOfTheLaunchComesFirst) {
  Launch launch;
  launch.key = "the key of a caller";
  auto variable = [](const char *) { return "the key of the user"; };
  EXPECT_EQ(findJobKey(launch, variable).bytes, "the key of a caller");
  launch.key = "short";
  try {
    findJobKey(launch, variable);
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.what(),
                HasSubstr("the option 'job-key' has a key of 5 characters, "
                          "expected 16 to 4096"));
  }
}

TEST_F(JobKeys, VariableIsTheKey) {
  JobKey key = find({{"BRAID_JOB_KEY", "0123456789abcdef"}}, 1);
  EXPECT_EQ(key.bytes, "0123456789abcdef");
  EXPECT_EQ(key.source, "BRAID_JOB_KEY");
}

TEST_F(JobKeys, KeyThatIsEasyToGuessIsRefused) {
  EXPECT_THAT(errorOf({{"BRAID_JOB_KEY", "secret"}}),
              AllOf(HasSubstr("a key of 6 characters, expected 16 to 4096"),
                    HasSubstr("openssl rand -hex 32")));
  EXPECT_THAT(errorOf({{"BRAID_JOB_KEY", std::string(5000, 'x')}}),
              HasSubstr("a key of 5000 characters"));
}

TEST_F(JobKeys, FileIsTheKey) {
  std::string path = write("key", "0123456789abcdef\n", 0600);
  EXPECT_EQ(find({{"BRAID_JOB_KEY_FILE", path}}, 1).bytes, "0123456789abcdef");
}

TEST_F(JobKeys, FileThatOthersMayReadIsRefused) {
  for (mode_t mode : {0640, 0604, 0660, 0601})
    EXPECT_THAT(errorOf({{"BRAID_JOB_KEY_FILE",
                          write("key", "0123456789abcdef", mode)}}),
                AllOf(HasSubstr("is open to other users: found mode 6"),
                      HasSubstr("expected 600")))
        << mode;
}

TEST_F(JobKeys, FileThatIsNoneIsRefused) {
  EXPECT_THAT(
      errorOf({{"BRAID_JOB_KEY_FILE", folder + "/none"}}),
      AllOf(HasSubstr("/none, cannot be opened"), HasSubstr("No such file")));
  EXPECT_THAT(errorOf({{"BRAID_JOB_KEY_FILE", folder}}),
              HasSubstr("is no file"));
  // Nothing waits for someone who writes.
  std::string pipe = folder + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(errorOf({{"BRAID_JOB_KEY_FILE", pipe}}), HasSubstr("is no file"));
}

TEST_F(JobKeys, OnlyOneKeyMayBeGiven) {
  EXPECT_THAT(errorOf({{"BRAID_JOB_KEY", "0123456789abcdef"},
                       {"BRAID_JOB_KEY_FILE", "/x"}}),
              HasSubstr("are both set"));
}

TEST_F(JobKeys, SeveralHostsNeedAKey) {
  EXPECT_THAT(
      errorOf({{"XDG_RUNTIME_DIR", folder}}, 1),
      AllOf(HasSubstr("the ranks are on several hosts (1 of 2 on this one)"),
            HasSubstr("BRAID_JOB_KEY"), HasSubstr("BRAID_JOB_KEY_FILE")));
  EXPECT_FALSE(std::filesystem::exists(folder + "/braid"));
}

TEST_F(JobKeys, RanksOfAHostFindTheSameKey) {
  std::set<std::string> keys;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i]() {
      JobKey key = find({{"XDG_RUNTIME_DIR", folder}}, i % 2 ? 2 : 0);
      std::lock_guard<std::mutex> lock(mutex);
      keys.insert(key.bytes);
    });
  for (std::thread &thread : threads)
    thread.join();
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys.begin()->size(), 64u);
  struct stat status = {};
  ASSERT_EQ(stat((folder + "/braid/key").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(stat((folder + "/braid").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  // Drafts do not stay.
  auto files = std::filesystem::directory_iterator(folder + "/braid");
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(JobKeys, FolderOfOthersIsNotUsed) {
  std::filesystem::create_directory(folder + "/braid");
  chmod((folder + "/braid").c_str(), 0755);
  EXPECT_THAT(errorOf({{"XDG_RUNTIME_DIR", folder}}),
              AllOf(HasSubstr("is open to other users: found mode 755, "
                              "expected 700"),
                    HasSubstr("BRAID_JOB_KEY")));
  std::filesystem::remove(folder + "/braid");
  // A link may lead anywhere.
  std::filesystem::create_directory(folder + "/elsewhere");
  std::filesystem::create_directory_symlink(folder + "/elsewhere",
                                            folder + "/braid");
  EXPECT_THAT(errorOf({{"XDG_RUNTIME_DIR", folder}}),
              HasSubstr("cannot open the folder"));
}

TEST_F(JobKeys, DamagedKeyOfAHostIsNamed) {
  find({{"XDG_RUNTIME_DIR", folder}});
  write("braid/key", "", 0600);
  EXPECT_THAT(errorOf({{"XDG_RUNTIME_DIR", folder}}),
              HasSubstr("/braid/key is damaged: remove it"));
  write("braid/key", std::string(64, 'a'), 0644);
  EXPECT_THAT(errorOf({{"XDG_RUNTIME_DIR", folder}}),
              HasSubstr("is open to other users: found mode 644"));
}

TEST_F(JobKeys, SessionFolderThatIsNotTheUsersIsLeftAlone) {
  // A batch system passes the variable on to hosts without the folder.
  std::string key = find({}).bytes;
  EXPECT_EQ(find({{"XDG_RUNTIME_DIR", folder + "/none"}}).bytes, key);
  chmod(folder.c_str(), 0755);
  EXPECT_EQ(find({{"XDG_RUNTIME_DIR", folder}}).bytes, key);
  EXPECT_EQ(find({{"XDG_RUNTIME_DIR", "relative"}}).bytes, key);
}
