#pragma once
// The lines of a log that NCCL or RCCL wrote with NCCL_DEBUG=INFO: "host:pid:tid [device] NCCL INFO text". Launchers
// put their own prefixes before them, and lines of many processes stand between each other.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise {

struct NcclLogLine {
  std::string_view host;     // empty: the line has no prefix
  std::string_view process;  // "host:pid:tid [device]"
  std::optional<int> device;
  std::string_view text;  // what follows "NCCL INFO ", with its leading blanks: they are the tree's indentation
};

// nullopt for a line that is not NCCL's.
std::optional<NcclLogLine> parse_nccl_log_line(std::string_view line);

// One line of the tree that the GRAPH subsystem prints: "+ PCI[24.0] - GPU/47000 (0)".
struct NcclTreeLine {
  std::size_t column = 0;  // of the '+'; of a CPU: 0
  std::string link;        // PCI, NVL, SYS, NET, C2C, XGMI; empty: a CPU, at the root
  double bandwidth = 0;    // GB/s
  std::string type;        // CPU, PCI, GPU, NIC, NET, NVS
  std::string id;          // "47000", hexadecimal, without the number of the host before it
  std::string detail;      // between the parentheses
};
std::optional<NcclTreeLine> parse_nccl_tree_line(std::string_view text);

// "0000:47:00.0" of "47000", as NCCL abbreviates addresses (src/misc/utils.cc); empty where it is none.
std::string bus_id_of_nccl(std::string_view hex);

// Whole words, so that "rank 3" is found in "comm 0x1 rank 3 nranks 8": the word after `key`, or empty.
std::string_view word_after(std::string_view text, std::string_view key);

}  // namespace lanewise
