//===- CostSettings.cpp - Choosing a cost model ---------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/Profile/Calibration.h"
#include "Cost/Profile/Profile.h"
#include "Support/JsonFile.h"
#include "braid/Cost/IR/OpCostModel.h"
#include "braid/Support/Units.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Path.h"

using namespace braid;
using namespace mlir;

/// Reads the `what` of `origin` from the file `path` with `parse`. Emits an
/// error at `loc` and fails if this is not possible.
template <typename T>
static FailureOr<std::shared_ptr<const T>>
load(Location loc, StringRef path, StringRef what, const Twine &origin,
     llvm::function_ref<llvm::Expected<T>(StringRef)> parse) {
  auto fail = [&](llvm::Error error) {
    return emitError(loc) << "cannot read the " << what << " '" << path
                          << "' of " << origin << ": "
                          << llvm::toString(std::move(error));
  };
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> file =
      readRegularFile(path);
  if (!file)
    return fail(file.takeError());
  llvm::Expected<T> parsed = parse((*file)->getBuffer());
  if (!parsed)
    return fail(parsed.takeError());
  return std::make_shared<const T>(std::move(*parsed));
}

/// Sets the hardware of `options` to that with the name `name`, or to that of
/// the file `name`. Emits an error at `loc` with the origin of the name,
/// `origin`, if there is no such hardware.
static LogicalResult setHardware(CostOptions &options, Location loc,
                                 StringRef name, const Twine &origin) {
  if (name.ends_with(".json")) {
    FailureOr<std::shared_ptr<const Hardware>> hardware =
        load<Hardware>(loc, name, "machine", origin, [&](StringRef text) {
          return parseHardware(text, llvm::sys::path::stem(name));
        });
    if (failed(hardware))
      return failure();
    options.ownHardware = *hardware;
    options.hardware = options.ownHardware.get();
    return success();
  }
  options.hardware = lookupHardware(name);
  if (options.hardware)
    return success();
  return emitError(loc) << "unknown machine '" << name << "' in " << origin
                        << ", expected one of: " << joinHardwareNames()
                        << ", or a .json file";
}

/// Sets the ranks per node of the hardware of `options`, unless `ranksPerNode`
/// is 0. Emits an error at `loc` if the number is out of range.
static LogicalResult setRanksPerNode(CostOptions &options, Location loc,
                                     int64_t ranksPerNode) {
  // The same limit as in machine files.
  constexpr int64_t most = 1 << 24;
  if (ranksPerNode < 0 || ranksPerNode > most)
    return emitError(loc) << "invalid number of ranks " << ranksPerNode
                          << " in option 'ranks-per-node', expected 1 to "
                          << most;
  if (ranksPerNode == 0)
    return success();
  auto hardware = std::make_shared<Hardware>(*options.hardware);
  hardware->ranksPerNode = ranksPerNode;
  options.ownHardware = hardware;
  options.hardware = hardware.get();
  return success();
}

static LogicalResult resolveHardware(CostOptions &options, Operation *op,
                                     StringRef setting) {
  if (!setting.empty())
    return setHardware(options, op->getLoc(), setting, "option 'machine'");
  for (Operation *parent = op; parent; parent = parent->getParentOp())
    if (StringRef name = comm::CommDialect::kMachineAttrName;
        auto machine = parent->getAttrOfType<StringAttr>(name))
      return setHardware(options, parent->getLoc(), machine,
                         "attribute '" + name + "'");
  return success();
}

static FailureOr<std::shared_ptr<const Profile>> loadProfile(Location loc,
                                                             StringRef path) {
  return load<Profile>(
      loc, path, "profile", "option 'profile'", [&](StringRef text) {
        return readProfile(text, ("from profile " + path).str());
      });
}

/// Says so if a profile claims to be of `hardware`, but was measured on GPUs of
/// another known machine with as many multiprocessors.
static void warnOfOtherMachine(Operation *op, StringRef path,
                               const Calibration &calibration,
                               const Hardware &hardware) {
  const Hardware *measured = findHardwareOfGpu(calibration.gpu);
  // The GPUs of a user's own machine are unknown.
  if (measured && measured->name != hardware.name &&
      lookupHardware(hardware.name))
    emitWarning(op->getLoc())
        << "the profile '" << path << "' was measured on " << calibration.gpu
        << " of '" << measured->name
        << "', expected the machine that costs are asked for: '"
        << hardware.name << "'; braid-calibrate measures a machine";
}

/// The profile of `settings`. If the profile names its hardware, the hardware
/// must be `hardware`. Emits an error and fails otherwise.
static FailureOr<std::shared_ptr<const Profile>>
resolveProfile(Operation *op, const CostSettings &settings,
               const Hardware &hardware) {
  bool isNew = !settings.measurements;
  if (isNew) {
    FailureOr<std::shared_ptr<const Profile>> profile =
        loadProfile(op->getLoc(), settings.profile);
    if (failed(profile))
      return failure();
    settings.measurements = *profile;
  }
  StringRef measured = settings.measurements->getHardware();
  if (!measured.empty() && measured != hardware.name)
    return emitError(op->getLoc())
           << "the profile '" << settings.profile << "' was measured on '"
           << measured << "', expected the machine that costs are asked for: '"
           << hardware.name << "'";
  const std::shared_ptr<const Calibration> &calibration =
      settings.measurements->getCalibration();
  if (calibration && hardware.multiprocessors != calibration->multiprocessors)
    return emitError(op->getLoc())
           << "the profile '" << settings.profile << "' was measured on "
           << calibration->multiprocessors
           << " multiprocessors, expected those of machine '" << hardware.name
           << "': " << hardware.multiprocessors;
  if (isNew && calibration)
    warnOfOtherMachine(op, settings.profile, *calibration, hardware);
  return settings.measurements;
}

/// Puts what was measured of the hardware of `options` into them: that of its
/// profile, or else of the one that is shipped, if the hardware is `isKnown` by
/// its name: the figures of a file may be of another machine.
static void setCalibration(CostOptions &options, bool isKnown) {
  if (options.measurements)
    options.calibration = options.measurements->getCalibration();
  if (!options.calibration && isKnown)
    options.calibration = getShippedCalibration(options.hardware->name);
  if (!options.calibration)
    return;
  auto measured =
      std::make_shared<Hardware>(options.calibration->apply(*options.hardware));
  // The host launches a graph in one call, ahead of the device.
  if (options.inGraph)
    measured->contention.hostLaunchNs = measured->contention.hostStartNs = 0;
  options.ownHardware = measured;
  options.hardware = measured.get();
}

using StringSetting = std::pair<StringRef, std::string CostSettings::*>;
static constexpr StringSetting kStringSettings[] = {
    {"machine", &CostSettings::machine},
    {"link-latency", &CostSettings::linkLatency},
    {"link-bandwidth", &CostSettings::linkBandwidth},
    {"profile", &CostSettings::profile},
    {"cuda-graph", &CostSettings::cudaGraph}};

using IntegerSetting = std::pair<StringRef, int64_t CostSettings::*>;
static constexpr IntegerSetting kIntegerSettings[] = {
    {"ranks", &CostSettings::ranks},
    {"ranks-per-node", &CostSettings::ranksPerNode},
    {"dynamic-size", &CostSettings::dynamicSize}};

static constexpr llvm::StringLiteral kCollectiveModel = "collective-model";

static DictionaryAttr getOptionDefaults(Operation *op) {
  return op->getAttrOfType<DictionaryAttr>(
      comm::CommDialect::kOptionDefaultsAttrName);
}

Attribute braid::getOptionDefault(Operation *op, StringRef name) {
  for (; op; op = op->getParentOp())
    if (DictionaryAttr defaults = getOptionDefaults(op))
      return defaults.get(name);
  return {};
}

void braid::setOptionDefault(ModuleOp module, StringRef name, Attribute value) {
  NamedAttrList defaults(getOptionDefaults(module));
  defaults.set(name, value);
  module->setAttr(comm::CommDialect::kOptionDefaultsAttrName,
                  defaults.getDictionary(module.getContext()));
}

void braid::setCostDefaults(ModuleOp module, const CostSettings &settings) {
  Builder builder(module.getContext());
  for (auto [name, member] : kStringSettings)
    if (const std::string &value = settings.*member; !value.empty())
      setOptionDefault(module, name, builder.getStringAttr(value));
  for (auto [name, member] : kIntegerSettings)
    if (int64_t value = settings.*member)
      setOptionDefault(module, name, builder.getI64IntegerAttr(value));
  if (settings.collectiveModel)
    setOptionDefault(module, kCollectiveModel,
                     builder.getStringAttr(
                         stringifyCollectiveModel(*settings.collectiveModel)));
}

CostSettings braid::applyCostDefaults(Operation *op, CostSettings settings) {
  for (auto [name, member] : kStringSettings)
    if (std::string &value = settings.*member; value.empty())
      if (auto text = dyn_cast_or_null<StringAttr>(getOptionDefault(op, name)))
        value = text.str();
  for (auto [name, member] : kIntegerSettings)
    if (int64_t &value = settings.*member; value == 0)
      if (auto number =
              dyn_cast_or_null<IntegerAttr>(getOptionDefault(op, name)))
        value = number.getInt();
  if (!settings.collectiveModel)
    if (auto name = dyn_cast_or_null<StringAttr>(
            getOptionDefault(op, kCollectiveModel)))
      settings.collectiveModel = symbolizeCollectiveModel(name);
  return settings;
}

/// Checks the model of collectives of `settings` with the hardware of
/// `options`, and sets it.
static LogicalResult setCollectiveModel(CostOptions &options, Location loc,
                                        const CostSettings &settings) {
  options.collectiveModel = settings.collectiveModel;
  if (options.collectiveModel == CollectiveModelKind::Nccl &&
      !options.hardware->hasNccl())
    return emitError(loc)
           << "collective model 'nccl' in option 'collective-model' has no "
              "figures of machine '"
           << options.hardware->name
           << "', expected a machine with NVIDIA GPUs";
  return success();
}

static LogicalResult setLink(CostOptions &options, Location loc,
                             const CostSettings &settings) {
  if (!settings.linkLatency.empty()) {
    options.linkLatencyNs = parseDurationNs(settings.linkLatency);
    if (!options.linkLatencyNs)
      return emitError(loc)
             << "invalid time '" << settings.linkLatency
             << "' in option 'link-latency', expected a number of at least 0 "
                "with unit ns, us, ms or s, such as 20us";
  }
  if (!settings.linkBandwidth.empty()) {
    options.linkBandwidth = parseBandwidth(settings.linkBandwidth);
    if (!options.linkBandwidth)
      return emitError(loc)
             << "invalid rate '" << settings.linkBandwidth
             << "' in option 'link-bandwidth', expected a number of at least 0 "
                "with unit B/s, KB/s, MB/s, GB/s or TB/s, such as 10GB/s";
  }
  return success();
}

/// Fails if the link of `given`, which a user has set, has no meaning for the
/// model of `options`. Defaults of an outer pass may be for another machine.
static LogicalResult checkLinkModel(const CostOptions &options, Location loc,
                                    const CostSettings &given) {
  CollectiveModelKind model = options.collectiveModel.value_or(
      options.hardware->defaultCollectiveModel);
  for (auto [name, value] :
       {std::pair("link-latency", StringRef(given.linkLatency)),
        std::pair("link-bandwidth", StringRef(given.linkBandwidth))})
    if (!value.empty() && model != CollectiveModelKind::Link)
      return emitError(loc)
             << "option '" << name << "' has no meaning for collective model '"
             << stringifyCollectiveModel(model) << "' of machine '"
             << options.hardware->name << "', expected collective-model=link";
  return success();
}

static LogicalResult setNumbers(CostOptions &options, Location loc,
                                const CostSettings &settings) {
  if (settings.ranks < 0)
    return emitError(loc) << "invalid number of ranks " << settings.ranks
                          << " in option 'ranks', expected at least 1";
  if (settings.ranks > 0)
    options.ranks = settings.ranks;
  if (settings.dynamicSize < 0)
    return emitError(loc) << "invalid size " << settings.dynamicSize
                          << " in option 'dynamic-size', expected at least 1";
  if (settings.dynamicSize > 0)
    options.sizes.dynamicSize = settings.dynamicSize;
  return success();
}

/// Sets whether the program of `options` runs in graphs. As the runtime decides
/// it, those whose ranks are all on one node do.
static LogicalResult setGraph(CostOptions &options, Location loc,
                              StringRef setting) {
  if (!llvm::is_contained({"", "auto", "0", "1"}, setting))
    return emitError(loc) << "found '" << setting
                          << "' in option 'cuda-graph', expected auto, 0 or 1";
  int64_t ranksPerNode = options.hardware->ranksPerNode;
  bool isOneNode = options.ranks.value_or(ranksPerNode) <= ranksPerNode;
  options.inGraph = setting == "1" || (setting != "0" && isOneNode);
  return success();
}

LogicalResult braid::checkCostSettings(Location loc,
                                       const CostSettings &settings) {
  CostOptions options;
  bool isHardwareKnown = !settings.machine.empty();
  if (isHardwareKnown &&
      failed(setHardware(options, loc, settings.machine, "option 'machine'")))
    return failure();
  if (failed(setRanksPerNode(options, loc, settings.ranksPerNode)) ||
      failed(setLink(options, loc, settings)) ||
      failed(setNumbers(options, loc, settings)) ||
      failed(setGraph(options, loc, settings.cudaGraph)))
    return failure();
  // Else the program names the hardware.
  if (isHardwareKnown && (failed(setCollectiveModel(options, loc, settings)) ||
                          failed(checkLinkModel(options, loc, settings))))
    return failure();
  if (settings.profile.empty() || settings.profile == "none")
    return success();
  return loadProfile(loc, settings.profile);
}

FailureOr<CostOptions> braid::resolveCostOptions(Operation *op,
                                                 const CostSettings &given) {
  CostSettings settings = applyCostDefaults(op, given);
  // Keep the profile, so that it is read only once.
  auto keep = llvm::scope_exit(
      [&] { given.measurements = std::move(settings.measurements); });
  Location loc = op->getLoc();
  CostOptions options;
  if (failed(resolveHardware(options, op, settings.machine)))
    return failure();
  bool isKnown = !options.ownHardware;
  if (failed(setRanksPerNode(options, loc, settings.ranksPerNode)) ||
      failed(setCollectiveModel(options, loc, settings)) ||
      failed(setLink(options, loc, settings)) ||
      failed(checkLinkModel(options, loc, given)) ||
      failed(setNumbers(options, loc, settings)) ||
      failed(setGraph(options, loc, settings.cudaGraph)))
    return failure();
  options.sizes.indexBytes = static_cast<int64_t>(
      DataLayout::closest(op).getTypeSize(IndexType::get(op->getContext())));
  if (settings.profile == "none")
    return options;
  if (!settings.profile.empty()) {
    FailureOr<std::shared_ptr<const Profile>> profile =
        resolveProfile(op, settings, *options.hardware);
    if (failed(profile))
      return failure();
    options.measurements = *profile;
  }
  setCalibration(options, isKnown);
  return options;
}
