#pragma once
// Reads the tables of `nvidia-smi topo -p2p r|w|n|a|p`, which say what the driver allows between two GPUs, and holds
// them against the rules.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/interop/machines/topo_comparison.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// What the table asked for: reads, writes, NVLink, atomics, peer access over PCIe.
enum class P2pAsked : std::uint8_t { Read, Write, Nvlink, Atomics, Pcie };
std::string_view to_string(P2pAsked asked);  // reads, writes, NVLink, atomics, PCIe

struct P2pStatus {
  P2pAsked asked = P2pAsked::Read;
  bool said = false;              // the text says what was asked; else reads are assumed
  std::vector<std::string> gpus;  // labels, "GPU0"
  // Row, column: "OK", "CNS" (chipset not supported), "GNS" (GPU), "TNS" (topology), "NS", "DR" (disabled by a registry
  // key), "U" (unknown); empty where the text has none.
  std::vector<std::vector<std::string>> status;
  int line = 0;  // of its header
};

// Whether a text is a cell of this table.
bool is_p2p_cell(std::string_view text);

// All such tables in a text, in order; none when it has none.
std::vector<P2pStatus> read_p2p_tables(SourceText const& source);

// Where the driver and the rules differ; a pair once, with the rule's sentence. GPU0 of the table is gpu0 of the
// machine.
std::vector<TopoDifference> p2p_differences(Machine const& machine, P2pStatus const& table);

}  // namespace lanewise
