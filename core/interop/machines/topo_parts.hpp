#pragma once
// The parts of a machine that a table of `nvidia-smi topo -m` describes: those that the user names, and generic ones,
// with a wide range, for the rest.
#include <string>

#include "core/interop/machines/machine_builder.hpp"
#include "core/interop/machines/topo_matrix.hpp"

namespace lanewise {

// Names of parts, which the table does not give; for an empty one a generic part stands in.
struct TopoOptions {
  std::string gpu = {};
  std::string cpu = {};
  std::string nic = {};
  std::string pcie_switch = {};
};

class TopoParts {
 public:
  // Throws InputError where a name is no part of its kind, with the nearest right spelling.
  TopoParts(TopoOptions const& options, Catalogue& catalogue);

  [[nodiscard]] std::string const& gpu() const { return gpu_; }
  [[nodiscard]] std::string const& cpu() const { return cpu_; }
  [[nodiscard]] std::string const& nic() const { return nic_; }
  [[nodiscard]] std::string const& pcie_switch() const { return switch_; }
  // The part that the user named for the GPUs; nullptr when none.
  [[nodiscard]] Part const* named_gpu() const { return named_gpu_; }

  // Notes what generic parts stand for, and which option would name it.
  void note_generic(TopoMatrix const& matrix, bool has_switches, MachineBuilder& builder) const;

 private:
  TopoOptions const& options_;
  Part const* named_gpu_ = nullptr;
  std::string gpu_, cpu_, nic_, switch_;
};

}  // namespace lanewise
