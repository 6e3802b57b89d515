#pragma once
// Shared by the targets of readers of what tools say about one host. The property: any text gives facts of which a
// machine is made that reads back equal, or a lanewise::Error.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/interop/host/host_machine.hpp"
#include "core/interop/likeness.hpp"
#include "core/machine/nvlink_ports.hpp"
#include "fuzz/reads_back.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {

inline int fuzz_host(HostFacts (*read)(SourceText const&), Likeness (*recognise)(std::string_view),
                     std::uint8_t const* data, std::size_t size) {
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  std::string const text(data, data + size);
  static_cast<void>(recognise(text));
  try {
    auto const facts = read(SourceText::from_memory("fuzz.txt", text));
    auto const machine = machine_of(facts, "fuzz", std::nullopt, catalogue);
    refuse_exceeded_ports(machine, "fuzz.txt");
    check_reads_back(machine, catalogue);
  } catch (Error const&) {  // any text may be wrong; only a lanewise::Error may say so
  }
  return 0;
}

}  // namespace lanewise
