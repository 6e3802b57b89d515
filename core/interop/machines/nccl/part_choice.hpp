#pragma once
// Chooses the parts of a machine from NCCL's file: those that the user names, what the file tells, else generic ones.
#include <optional>
#include <string>
#include <string_view>

#include "core/interop/machines/machine_builder.hpp"
#include "core/interop/machines/nccl/document.hpp"
#include "core/interop/machines/topo_parts.hpp"

namespace lanewise {

class NcclPartChoice {
 public:
  // `product`: the GPUs' part where the file does not say it; may be empty.
  NcclPartChoice(TopoOptions const& options, std::string product, MachineBuilder& builder)
      : options_(options), product_(std::move(product)), builder_(builder) {}

  // The name of a CPU's part; empty: unknown.
  std::string cpu(NcclCpu const& cpu);
  // Enters a function's part; nullopt: unknown. `nvlinks`: the number of links that the file gives a GPU.
  std::optional<PartId> of(NcclPci const& pci, PciKind kind, int nvlinks);

 private:
  std::string gpu(NcclPci const& pci, int nvlinks);
  std::string generic(std::string const& name, PartKind kind, std::string_view what, std::string_view option);

  TopoOptions const& options_;
  std::string product_;
  MachineBuilder& builder_;
};

}  // namespace lanewise
