#pragma once
// An execution trace of one rank as MLCommons Chakra defines it: a graph of computing and communication.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/units/quantity.hpp"

namespace lanewise {

enum class TraceNodeKind : std::uint8_t {
  Other,    // metadata: only an order
  Memory,   // loads and stores of a GPU's or a remote memory
  Compute,  // on the GPU
  Cpu,      // computing on the CPU
  Collective,
  Send,
  Receive
};

// In the order of the numbers that the format has for them.
enum class TraceCollective : std::uint8_t {
  AllReduce,
  Reduce,
  AllGather,
  Gather,
  Scatter,
  Broadcast,
  AllToAll,
  ReduceScatter,
  ReduceScatterBlock,
  Barrier
};
std::string_view to_string(TraceCollective collective);

struct TraceNode {
  std::uint64_t id = 0;
  std::string name;
  TraceNodeKind kind = TraceNodeKind::Other;
  std::vector<std::uint32_t> after;  // nodes that must end first, by position in the trace
  Seconds duration{0};               // of computing
  TraceCollective collective = TraceCollective::AllReduce;
  std::int64_t bytes = 0;   // of a message, as `comm_size` has it
  std::string group;        // among which ranks; empty: all
  std::optional<int> peer;  // of a send the receiver, of a receive the sender
  friend bool operator==(TraceNode const&, TraceNode const&) = default;
};

struct ExecutionTrace {
  std::string file;
  std::vector<TraceNode> nodes;  // as in the file; none waits for itself, also not by way of others
  friend bool operator==(ExecutionTrace const&, ExecutionTrace const&) = default;
};

}  // namespace lanewise
