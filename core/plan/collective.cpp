#include "core/plan/collective.hpp"

#include <array>

#include "core/io/word.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 7> kOps{"broadcast",      "scatter",    "gather",    "all_gather",
                                               "reduce_scatter", "all_reduce", "all_to_all"};
constexpr std::array<std::string_view, 6> kAlgorithms{"auto", "direct",           "ring",
                                                      "tree", "halving_doubling", "hierarchical"};

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

BytesPerSecond bus_bandwidth(Collective const& collective, Seconds makespan) {
  auto const n = static_cast<double>(collective.among.size());
  auto const rate = collective.bytes / makespan;
  switch (collective.op) {
    case CollectiveOp::Broadcast: return rate;
    case CollectiveOp::AllReduce: return rate * (2 * (n - 1) / n);
    default: return rate * ((n - 1) / n);
  }
}

}  // namespace lanewise
