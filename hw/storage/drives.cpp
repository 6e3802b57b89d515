#include "hw/storage/drives.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <filesystem>

#include "core/io/spelling.hpp"
#include "core/rules/conditions.hpp"
#include "hw/discover/sources/block_devices.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// Ranges of steps begin at multiples of this, which is one of every file's alignment in use.
constexpr std::int64_t kRangeAlignment = 64 << 10;
// Of the file that cuFile is tried on.
constexpr Bytes kProbeBytes{1};

std::vector<std::string> names_of_drives(Machine const& machine) {
  std::vector<std::string> names;
  for (auto const drive : machine.all(PciKind::Nvme)) names.push_back(machine.at(drive).name);
  return names;
}

}  // namespace

PciId find_drive(Machine const& machine, DrivePath const& named) {
  for (auto const drive : machine.all(PciKind::Nvme))
    if (machine.at(drive).name == named.drive) return drive;
  auto const names = names_of_drives(machine);
  throw InputError(names.empty()
                       ? fmt::format("--drive {}={}: '{}' has no NVMe drive", named.drive, named.path, machine.name)
                       : fmt::format("--drive {}={}: '{}' has no drive of this name, but {}{}", named.drive, named.path,
                                     machine.name, fmt::join(names, ", "), did_you_mean(named.drive, names)));
}

namespace {

// A path on another drive is an error. A path that lies on no PCI device at all, as in a virtual machine, is not: then
// nobody can tell.
void refuse_other_drive(Machine const& machine, PciId drive, DrivePath const& named) {
  auto const& address = machine.at(drive).bdf;
  struct stat status {};
  if (address.empty() || stat(named.path.c_str(), &status) != 0) return;
  auto const device = S_ISBLK(status.st_mode) ? status.st_rdev : status.st_dev;
  Sysfs const sysfs("/sys");
  auto const name = block_device_name(sysfs, major(device), minor(device));
  auto const below = pci_functions_below(sysfs, name);
  if (below.empty() || std::find(below.begin(), below.end(), address) != below.end()) return;
  throw InputError(fmt::format("--drive {}={}: it lies on {} at {}, and {} is at {}", named.drive, named.path, name,
                               fmt::join(below, ", "), named.drive, address));
}

}  // namespace

Drives::Drives(Machine const& machine, DrivePaths const& paths) : machine_(machine) {
  for (auto const& named : paths) {
    auto const drive = find_drive(machine, named);
    if (auto const [before, is_new] = paths_.emplace(drive, named); !is_new)
      throw InputError(
          fmt::format("--drive {}={}: {} is {} already", named.drive, named.path, named.drive, before->second.path));
    refuse_other_drive(machine, drive, named);
  }
}

DrivePath const& Drives::path_of(PciId drive) const {
  if (auto const found = paths_.find(drive); found != paths_.end()) return found->second;
  auto const& name = machine_.at(drive).name;
  throw MissingError(
      fmt::format("nothing of this machine is named for {}: --drive {}=FOLDER makes files in a folder on "
                  "it, --drive {}=FILE (or a block device) only reads",
                  name, name, name));
}

CuFile const& Drives::cufile() {
  if (cufile_) return *cufile_;
  std::vector<std::unique_ptr<DriveFile>> files;
  std::vector<DriveFile const*> probes;
  probed_.clear();
  for (auto const& [drive, named] : paths_) {
    files.push_back(std::make_unique<DriveFile>(named, kProbeBytes));
    probes.push_back(files.back().get());
    probed_.push_back(drive);
  }
  cufile_ = std::make_unique<CuFile>(probes);
  return *cufile_;
}

bool Drives::is_direct(PciId drive) {
  auto const& library = cufile();
  auto const at = std::find(probed_.begin(), probed_.end(), drive);
  return at != probed_.end() && library.is_direct(static_cast<std::size_t>(at - probed_.begin()));
}

std::string Drives::not_direct(std::vector<Step> const& steps) {
  std::set<std::string> names;
  for (auto const& step : steps)
    if (auto const drive = drive_of(machine_, step);
        drive && step.way.mechanism == Mechanism::StorageDirect && !is_direct(*drive))
      names.insert(machine_.at(*drive).name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string Drives::about() const {
  std::vector<std::string> texts;
  for (auto const& [drive, how] : how_)
    texts.push_back(fmt::format("{}: {}, {}", machine_.at(drive).name, paths_.at(drive).path, fmt::join(how, " and ")));
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::optional<PciId> drive_of(Machine const& machine, Step const& step) {
  for (auto const& place : {step.from, step.to})
    if (is_drive(machine, place)) return std::get<PciId>(place);
  return std::nullopt;
}

PlanDrives::PlanDrives(std::vector<Step> const& steps, Machine const& machine, Drives& drives) {
  std::map<PciId, std::int64_t> length;  // so far
  struct Wanted {
    PciId drive;
    std::int64_t offset;
  };
  std::map<std::size_t, Wanted> wanted;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    auto const drive = drive_of(machine, steps[i]);
    if (!drive) continue;
    auto const& named = drives.path_of(*drive);
    if (is_drive(machine, steps[i].to) && std::filesystem::exists(named.path) &&
        !std::filesystem::is_directory(named.path))
      throw PlanError(
          fmt::format("step '{}' writes to {}, and {} is only read: name a folder, in which a file of its "
                      "own is made",
                      steps[i].transfer, named.drive, named.path));
    auto& end = length[*drive];
    wanted.emplace(i, Wanted{*drive, end});
    end += (steps[i].bytes.value() + kRangeAlignment - 1) / kRangeAlignment * kRangeAlignment;
  }
  // What is read of a user's file needs only the bytes themselves of its last range.
  std::map<PciId, std::int64_t> needed;
  for (auto const& [i, want] : wanted)
    needed[want.drive] = std::max(needed[want.drive], want.offset + steps[i].bytes.value());
  for (auto const& [drive, bytes] : needed)
    files_.emplace(drive, std::make_unique<DriveFile>(drives.path_of(drive), Bytes(bytes)));
  for (auto const& [i, want] : wanted) {
    auto const& file = *files_.at(want.drive);
    steps_.emplace(i, StepDrive{drives, want.drive, DriveRange(file, want.offset, steps[i].bytes)});
  }
}

std::optional<StepDrive> PlanDrives::of(std::size_t step) const {
  auto const found = steps_.find(step);
  return found == steps_.end() ? std::nullopt : std::optional(found->second);
}

void PlanDrives::remove_names() {
  for (auto const& [drive, file] : files_) file->remove_name();
}

}  // namespace lanewise::hw
