#include "core/planner/libraries/nccl/environment.hpp"

#include <fmt/format.h>

#include <charconv>

#include "lanewise/io/error.hpp"

namespace lanewise::nccl {

std::optional<int> number_in(Environment const& environment, std::string const& name) {
  auto const found = environment.find(name);
  if (found == environment.end()) return std::nullopt;
  int number = 0;
  auto const& text = found->second;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    if (name == "NCCL_P2P_LEVEL") return std::nullopt;  // may be a word
    throw PlanError(fmt::format("library.env.{}: '{}' is no number", name, text));
  }
  return number;
}

Environment environment_of(Machine const& machine) {
  auto environment = machine.library_environment;
  for (auto const nic : machine.all(PciKind::Nic)) {
    auto const* part = machine.part_of(nic);
    if (part == nullptr || part->nic.driver != "efa") continue;
    for (auto const* name : {"NCCL_P2P_NET_CHUNKSIZE", "NCCL_NVLS_CHUNKSIZE", "NCCL_NVLSTREE_MAX_CHUNKSIZE"})
      environment.try_emplace(name, "524288");
    if (!part->nic.ordered_writes) environment.try_emplace("NCCL_PROTO", "Simple");
    break;
  }
  return environment;
}

}  // namespace lanewise::nccl
