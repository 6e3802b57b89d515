#pragma once
#include <string>
#include <vector>

#include "core/planner/sets/transfer_set.hpp"
#include "lanewise/planner/planner.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise::test {

// The set of an all-to-all of 64 MiB among all GPUs of a bundled machine.
struct AllToAll {
  explicit AllToAll(std::string const& name) : machine(bundled().machine(name)) {
    std::vector<Request> requests;
    for (auto const& from : machine.all(PciKind::Gpu))
      for (auto const& to : machine.all(PciKind::Gpu))
        if (from != to)
          requests.push_back({.id = std::to_string(requests.size()), .from = from, .to = to, .bytes = Bytes(64 << 20)});
    set = transfer_set(Planner(model).plan(requests), model);
  }
  AllToAll(AllToAll const&) = delete;  // the model refers to the machine
  AllToAll& operator=(AllToAll const&) = delete;
  ~AllToAll() = default;

  Machine machine;
  Model model{machine};
  TransferSet set;
};

}  // namespace lanewise::test
