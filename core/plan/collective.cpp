#include "lanewise/plan/collective.hpp"

#include <array>

#include "core/io/word.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 10> kOps{"broadcast",      "scatter",    "gather",     "all_gather",   "reduce",
                                                "reduce_scatter", "all_reduce", "all_to_all", "all_to_all_v", "chain"};
constexpr std::array<std::string_view, 9> kAlgorithms{"auto",         "direct",           "ring",
                                                      "tree",         "halving_doubling", "hierarchical",
                                                      "through_host", "packed_trees",     "transfer_set"};

}  // namespace

std::string_view to_string(CollectiveOp op) { return kOps[static_cast<std::size_t>(op)]; }
std::vector<std::string> collective_op_names() { return {kOps.begin(), kOps.end()}; }
Parsed<CollectiveOp> parse_collective_op(std::string_view text) {
  return parse_word<CollectiveOp>(text, kOps, "a collective");
}

std::string_view to_string(Algorithm algorithm) { return kAlgorithms[static_cast<std::size_t>(algorithm)]; }
std::vector<std::string> algorithm_names() { return {kAlgorithms.begin(), kAlgorithms.end()}; }
Parsed<Algorithm> parse_algorithm(std::string_view text) {
  return parse_word<Algorithm>(text, kAlgorithms, "an algorithm");
}

bool has_outputs(CollectiveOp op) { return op == CollectiveOp::AllToAll || op == CollectiveOp::AllToAllV; }

Bytes held_by(Collective const& collective, std::size_t participant) {
  if (collective.op != CollectiveOp::AllToAllV) return collective.bytes;
  Bytes sum{0};
  for (auto const bytes : collective.sizes.at(participant)) sum += bytes;
  return sum;
}

Bytes received_by(Collective const& collective, std::size_t participant) {
  if (collective.op != CollectiveOp::AllToAllV) return collective.bytes;
  Bytes sum{0};
  for (auto const& row : collective.sizes) sum += row.at(participant);
  return sum;
}

BytesPerSecond bus_bandwidth(Collective const& collective, Seconds makespan) {
  auto const n = static_cast<double>(collective.among.size());
  auto const rate = collective.bytes / makespan;
  switch (collective.op) {
    case CollectiveOp::Broadcast:
    case CollectiveOp::Reduce:
    case CollectiveOp::Chain: return rate;
    case CollectiveOp::AllToAllV: {  // what leaves a participant on average
      Bytes leaves{0};
      for (std::size_t i = 0; i < collective.sizes.size(); ++i)
        for (std::size_t j = 0; j < collective.sizes.size(); ++j)
          if (i != j) leaves += collective.sizes[i][j];
      return leaves / makespan / n;
    }
    case CollectiveOp::AllReduce: return rate * (2 * (n - 1) / n);
    default: return rate * ((n - 1) / n);
  }
}

}  // namespace lanewise
