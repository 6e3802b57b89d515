#pragma once
// The drives of a machine description on this machine: what the user named for each, and how it is reached.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hw/options/drive_paths.hpp"
#include "hw/storage/cufile.hpp"
#include "hw/storage/drive_file.hpp"
#include "lanewise/machine/machine.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise::hw {

class Drives {
 public:
  // Throws InputError where a name is no NVMe drive of the machine, is named twice, or where the path lies on another
  // drive than the one that the machine has at its PCI address.
  Drives(Machine const& machine, DrivePaths const& paths);

  // What the user named for a drive. Throws MissingError saying how to name something where nothing is.
  [[nodiscard]] DrivePath const& path_of(PciId drive) const;
  // cuFile, opened at the first call, which tries it on every drive that is named. Throws as CuFile does.
  [[nodiscard]] CuFile const& cufile();
  // Whether cuFile moves this drive's bytes without its compatibility mode. Opens it likewise.
  [[nodiscard]] bool is_direct(PciId drive);
  // The drives of which cuFile needs that mode for a storage_direct step: "nvme0, nvme1"; empty: none.
  [[nodiscard]] std::string not_direct(std::vector<Step> const& steps);
  // How each drive was reached so far, for a trace: "nvme0: /data, io_uring". Empty: none was.
  [[nodiscard]] std::string about() const;
  void note(PciId drive, std::string const& how) { how_[drive].insert(how); }

 private:
  Machine const& machine_;
  std::map<PciId, DrivePath> paths_;
  std::map<PciId, std::set<std::string>> how_;
  std::vector<PciId> probed_;  // as cuFile was tried on them
  std::unique_ptr<CuFile> cufile_;
};

// How cuFile reached a drive, for a trace.
inline constexpr char const* kDirect = "cuFile, the drive to the GPU's memory";
inline constexpr char const* kInCompatibilityMode = "cuFile in its compatibility mode: staged through host memory";

// The drive of this name. Throws InputError with the names that there are.
PciId find_drive(Machine const& machine, DrivePath const& named);
// The drive that a step reads or writes; absent: it does neither.
std::optional<PciId> drive_of(Machine const& machine, Step const& step);

// The drive's end of a step.
struct StepDrive {
  Drives& drives;
  PciId drive{};
  DriveRange range;
};

// The files of a plan's drives, with a range of its own for each step.
class PlanDrives {
 public:
  // Opens what the plan's steps need; throws as DriveFile does, and PlanError for a step that is not run.
  PlanDrives(std::vector<Step> const& steps, Machine const& machine, Drives& drives);

  // Absent: of a step without a drive.
  [[nodiscard]] std::optional<StepDrive> of(std::size_t step) const;
  // All files are open wherever they are used, so those made here need their names no longer.
  void remove_names();

 private:
  std::map<PciId, std::unique_ptr<DriveFile>> files_;
  std::map<std::size_t, StepDrive> steps_;
};

}  // namespace lanewise::hw
