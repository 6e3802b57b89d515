#pragma once
// Shared by the targets of importers that take parts' names. The property: any text gives a machine that reads back
// equal, without names and with them, or a lanewise::Error.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "core/interop/machines/topo_parts.hpp"
#include "fuzz/reads_back.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {

inline int fuzz_with_parts(Machine (*read)(SourceText const&, TopoOptions const&, Catalogue&), std::string text) {
  // Bundled parts, so that links and NVLinks meet the limits of real ones.
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  static TopoOptions const named{.gpu = "a100-sxm4-80g", .cpu = "epyc-zen3", .nic = "connectx-6-hdr"};
  try {
    auto const source = SourceText::from_memory("fuzz.txt", std::move(text));
    check_reads_back(read(source, {}, catalogue), catalogue);
    check_reads_back(read(source, named, catalogue), catalogue);
  } catch (Error const&) {  // any text may be wrong; only a lanewise::Error may say so
  }
  return 0;
}

}  // namespace lanewise
