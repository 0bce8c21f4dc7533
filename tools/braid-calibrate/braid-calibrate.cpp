//===- braid-calibrate.cpp - Measures a machine ---------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calibrator.h"

#include "Cost/Profile/Profile.h"
#include "Support/JsonFile.h"
#include "braid/Support/CleanUp.h"
#include "braid/Support/OutputFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include "ProfilePage.inc"

#include <csignal>
#include <ctime>

using namespace braid;
using namespace braid::calibrate;
using llvm::Error;
using llvm::StringRef;

static int fail(const llvm::Twine &message, int status) {
  llvm::errs() << "braid-calibrate: error: " << message << "\n";
  return status;
}

static std::string today() {
  std::time_t now = std::time(nullptr);
  std::tm local = {};
  localtime_r(&now, &local);
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", &local);
  return text;
}

static Error writeFile(const std::string &path, llvm::StringRef text) {
  if (std::string error = writeWholeFile(path, text); !error.empty())
    return llvm::createStringError(error);
  return Error::success();
}

static void summarize(const Calibrator &calibrator, const Calibration &result,
                      const std::string &path) {
  std::string launch;
  if (std::optional<int64_t> ns = calibrator.getMeasuredLaunch())
    launch = ", lanes begin after " + std::to_string(*ns) + " ns";
  llvm::outs() << "wrote " << path << ": " << result.gpus << " x " << result.gpu
               << ", " << result.matmuls.size() << " matmuls, "
               << result.collectives.size() << " curves, "
               << (result.contention ? "contention" : "no contention") << launch
               << ", spread " << llvm::format("%.3f", result.spread) << "\n";
  for (const std::string &what : result.missing)
    llvm::outs() << "missing: " << what << "\n";
}

/// Fails if the file cannot be written. What is in the file stays, and a file
/// that is not there is not made.
static Error checkWritable(const std::string &path) {
  bool isThere = llvm::sys::fs::exists(path);
  {
    std::error_code problem;
    llvm::raw_fd_ostream file(path, problem, llvm::sys::fs::OF_Append);
    if (problem)
      return llvm::createStringError("cannot write " + path + ": " +
                                     problem.message());
  }
  if (!isThere)
    llvm::sys::fs::remove(path);
  return Error::success();
}

/// Writes the page that draws `profile`, the text of one.
static Error writePage(const std::string &path, StringRef profile) {
  auto [head, tail] = kPageHtml.split("@profile@");
  std::string text = head.str();
  // No browser may find the end of the script in a text of the profile.
  for (char c : profile)
    text += c == '<' ? "\\u003c" : std::string(1, c);
  return writeFile(path, text + tail.str());
}

/// Writes the page of a profile that there is already.
static Error showProfile(const Options &options) {
  const std::string &path = options.shown;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> text =
      readRegularFile(path);
  if (!text)
    return llvm::createStringError(path + ": " +
                                   llvm::toString(text.takeError()));
  llvm::Expected<Profile> profile = readProfile((*text)->getBuffer(), path);
  if (!profile)
    return llvm::createStringError(path + ": " +
                                   llvm::toString(profile.takeError()));
  if (!profile->getCalibration())
    return llvm::createStringError(path + ": found a profile of no machine, "
                                          "expected one of version 2");
  return writePage(options.page, writeCalibration(profile->getHardware(),
                                                  *profile->getCalibration()));
}

int main(int argc, char **argv) {
  constexpr int failed = 1, wrongUsage = 2;
  cleanUpOnSignals();
  // A file that becomes too large is an error with the name of the file.
  std::signal(SIGXFSZ, SIG_IGN);
  llvm::Expected<Options> options = parseOptions(argc, argv);
  if (!options)
    return fail(llvm::toString(options.takeError()), wrongUsage);
  if (!options->shown.empty()) {
    if (Error error = showProfile(*options))
      return fail(llvm::toString(std::move(error)), wrongUsage);
    return 0;
  }
  // Find out now that a file cannot be written, not after minutes.
  for (const std::string &path : {options->output, options->page})
    if (!path.empty())
      if (Error error = checkWritable(path))
        return fail(llvm::toString(std::move(error)), wrongUsage);
  std::string date = today();
  Calibration result;
  std::string text;
  auto save = [&](const Calibrator &calibrator) {
    result = calibrator.getResult();
    result.date = date;
    text = writeCalibration(calibrator.getHardware(), result);
    // The last call says whether the file can be written.
    llvm::consumeError(writeFile(options->output, text));
  };
  Calibrator calibrator(*options, save);
  if (Error error = calibrator.run())
    return fail(llvm::toString(std::move(error)), failed);
  if (Error error = writeFile(options->output, text))
    return fail(llvm::toString(std::move(error)), failed);
  summarize(calibrator, result, options->output);
  if (!options->page.empty())
    if (Error error = writePage(options->page, text))
      return fail(llvm::toString(std::move(error)), failed);
  // What no tool would read is of no use.
  if (llvm::Expected<Profile> profile = readProfile(text); !profile)
    return fail(options->output + ": " + llvm::toString(profile.takeError()),
                failed);
  return 0;
}
