#include "core/workload/trace_traffic.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

using RankLists = std::vector<std::vector<int>>;

constexpr std::size_t kMaxPatterns = 4096;
constexpr std::int64_t kBarrierBytes = 4;  // NCCL: an all_reduce of one number

class TrafficOfTrace {
 public:
  explicit TrafficOfTrace(TracedStep const& step) : step_(step), everyone_(static_cast<std::size_t>(step.ranks)) {
    std::iota(everyone_.begin(), everyone_.end(), 0);
  }

  TracedTraffic build() {
    for (auto const& node : step_.trace.nodes) found_.of_node.push_back(pattern_of(node));
    return std::move(found_);
  }

 private:
  [[noreturn]] void refuse(TraceNode const& node, std::string const& message) const {
    refuse_at({step_.trace.file, 0, 0},
              fmt::format("node {} ('{}'): {}", node.id, std::string_view(node.name).substr(0, 80), message));
  }

  std::optional<std::size_t> pattern_of(TraceNode const& node) {
    if (node.kind == TraceNodeKind::Collective) return collective(node);
    if (node.kind == TraceNodeKind::Send || node.kind == TraceNodeKind::Receive) return send(node);
    return std::nullopt;
  }

  std::vector<int> const& group_of(TraceNode const& node) const {
    if (node.group.empty()) return everyone_;
    auto const found = step_.groups.find(node.group);
    if (found == step_.groups.end())
      refuse(node, fmt::format("nobody says which ranks the group '{}' has; {}", node.group,
                               step_.groups.empty() ? "give 'comm_groups', a file such as {\"1\": [0, 1, 2, 3]}"
                                                    : "the file 'comm_groups' has others"));
    if (std::find(found->second.begin(), found->second.end(), 0) == found->second.end())
      refuse(node,
             fmt::format("rank 0 is not in its group '{}', which has {}", node.group, fmt::join(found->second, ", ")));
    return found->second;
  }

  static std::vector<int> distances(std::vector<int> const& ranks) {
    std::vector<int> found;
    for (std::size_t i = 1; i < ranks.size(); ++i) found.push_back(ranks[i] - ranks[i - 1]);
    return found;
  }

  // The ranks of a node, and the groups that do the same at the same time: its own first.
  RankLists const& alike(TraceNode const& node) {
    auto const [known, is_new] = family_of_name_.try_emplace(node.group, families_.size());
    if (is_new) {
      auto family = family_of(group_of(node));
      auto const same = std::find(families_.begin(), families_.end(), family);
      known->second = static_cast<std::size_t>(same - families_.begin());
      if (same == families_.end()) families_.push_back(std::move(family));
    }
    return families_[known->second];
  }

  [[nodiscard]] RankLists family_of(std::vector<int> const& group) const {
    RankLists family{group};
    std::set<int> taken(group.begin(), group.end());
    std::set<std::vector<int>> others;  // by their first ranks
    for (auto const& [name, ranks] : step_.groups) others.insert(ranks);
    auto const own_distances = distances(group);
    for (auto const& other : others) {
      bool const is_apart = std::none_of(other.begin(), other.end(), [&](int rank) { return taken.contains(rank); });
      if (!is_apart || distances(other) != own_distances) continue;
      family.push_back(other);
      taken.insert(other.begin(), other.end());
    }
    return family;
  }

  std::optional<std::size_t> collective(TraceNode const& node) {
    auto const& group = group_of(node);
    if (group.size() == 1) return std::nullopt;
    auto bytes = node.bytes;
    auto const exchange = [&] {
      switch (node.collective) {
        case TraceCollective::AllReduce: return Exchange::AllReduce;
        case TraceCollective::AllGather: return Exchange::AllGather;
        case TraceCollective::AllToAll: return Exchange::AllToAll;
        case TraceCollective::ReduceScatter:
        case TraceCollective::ReduceScatterBlock: return Exchange::ReduceScatter;
        case TraceCollective::Broadcast: return Exchange::Broadcast;
        case TraceCollective::Barrier: bytes = kBarrierBytes; return Exchange::AllReduce;
        default: break;
      }
      refuse(node, fmt::format("'{}' is not modelled; all_reduce, all_gather, reduce_scatter, all_to_all, broadcast "
                               "and barrier are",
                               to_string(node.collective)));
    }();
    // The trace has what each rank gives, nccl-tests what all of them give together.
    if (node.collective == TraceCollective::AllGather) {
      auto const ranks = static_cast<std::int64_t>(group.size());
      if (bytes > std::numeric_limits<std::int64_t>::max() / ranks)
        refuse(node, fmt::format("an all_gather of {} B of each of {} ranks is too large", bytes, ranks));
      bytes *= ranks;
    }
    if (bytes == 0) return std::nullopt;
    auto const& family = alike(node);
    return add(node, exchange, bytes, &family - families_.data(), [&] { return family; });
  }

  std::optional<std::size_t> send(TraceNode const& node) {
    bool const sends = node.kind == TraceNodeKind::Send;
    auto const peer = peer_of(node, sends ? "comm_dst" : "comm_src");
    if (node.bytes == 0) return std::nullopt;
    auto const first = sends ? std::vector<int>{0, peer} : std::vector<int>{peer, 0};
    return add(node, Exchange::NextStage, node.bytes, sends ? peer : -peer, [&] {
      RankLists pairs{first};
      for (int rank = 1; step_.sends.empty() && rank + peer < step_.ranks; ++rank)
        pairs.push_back({first.front() + rank, first.back() + rank});
      for (auto const& other : step_.sends)
        if (std::vector<int> const pair{other.from, other.to}; other.bytes == node.bytes && pair != first)
          pairs.push_back(pair);
      return pairs;
    });
  }

  [[nodiscard]] int peer_of(TraceNode const& node, std::string_view attribute) const {
    auto peer = node.peer;
    if (!peer) {  // a group of two says it as well
      auto const& group = group_of(node);
      if (group.size() == 2) peer = group.front() == 0 ? group.back() : group.front();
    }
    if (!peer) refuse(node, fmt::format("its other rank is missing: the attribute '{}'", attribute));
    if (*peer == 0) refuse(node, "rank 0 sends to itself");
    if (*peer >= step_.ranks) refuse(node, fmt::format("there is no rank {}; there are {}", *peer, step_.ranks));
    return *peer;
  }

  // `among`: a number that is different for other ranks; `groups` makes their lists.
  template <class Groups>
  std::size_t add(TraceNode const& node, Exchange exchange, std::int64_t bytes, std::ptrdiff_t among, Groups groups) {
    auto const [known, is_new] = known_.try_emplace({exchange, bytes, among}, found_.patterns.size());
    if (is_new) {
      if (found_.patterns.size() == kMaxPatterns)
        refuse(node, fmt::format("more than {} kinds of messages", kMaxPatterns));
      TrafficPattern pattern;
      pattern.id =
          fmt::format("{}-{}", exchange == Exchange::NextStage ? "send" : to_string(exchange), ++numbers_[exchange]);
      pattern.what = node.name.substr(0, 80);
      pattern.exchange = exchange;
      pattern.among = RankGroup::Traced;
      pattern.groups = groups();
      pattern.bytes = Bytes(bytes);
      pattern.phase = StepPhase::Traced;
      found_.patterns.push_back(std::move(pattern));
    }
    found_.patterns[known->second].count += 1;
    return known->second;
  }

  TracedStep const& step_;
  std::vector<int> everyone_;
  std::map<std::string, std::size_t> family_of_name_;
  std::vector<RankLists> families_;
  std::map<std::tuple<Exchange, std::int64_t, std::ptrdiff_t>, std::size_t> known_;
  std::map<Exchange, int> numbers_;
  TracedTraffic found_;
};

}  // namespace

TracedTraffic traffic_of_trace(TracedStep const& step) { return TrafficOfTrace(step).build(); }

}  // namespace lanewise
