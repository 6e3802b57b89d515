#include "hw/network/layout.hpp"

#include <algorithm>
#include <set>

#include "hw/nodes/group.hpp"

namespace lanewise::hw {
namespace {

class LayoutBuilder {
 public:
  LayoutBuilder(NetworkPlan const& plan, std::vector<std::vector<int>> const& ranks) : plan_(plan), ranks_(ranks) {}

  Layout layout() {
    for (auto const& buffer : plan_.buffers) layout_.buffers.push_back(ranks_[buffer.node].front());
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) add(plan_.steps[i], i);
    for (std::size_t i = 0; i < plan_.steps.size(); ++i)
      for (auto const before : plan_.steps[i].after) add_listener(layout_.steps[before], layout_.steps[i].driver);
    for (auto const& step : layout_.steps)
      for (auto const listener : step.listeners) connect(step.driver, listener);
    return std::move(layout_);
  }

 private:
  void add(NetworkStep const& step, std::size_t number) {
    // Buffers are memory of a node's first process, which runs the steps of its GPUs too.
    bool const is_shared = step.reads.buffer >= 0 || step.verb == Verb::Device;
    auto const rank_at = [&](std::size_t node) {
      return is_shared ? ranks_[node].front() : ranks_[node][number % ranks_[node].size()];
    };
    StepLayout added;
    added.source = rank_at(step.from_node);
    added.target = step.verb == Verb::Local ? added.source : rank_at(step.to_node);
    added.driver = step.verb == Verb::Read ? added.target : added.source;
    for (std::size_t k = 0; k < step.nic_from.size(); ++k) {
      LinkSpec link{{added.source, added.target}, {step.nic_from[k], step.nic_to[k]}, 1, false};
      if (k == 0) link.queues = messages_of(step).queues;
      link.for_messages = k == 0 && step.verb == Verb::Send;
      added.links.push_back(link.for_messages ? append(link) : share(link));
    }
    layout_.steps.push_back(std::move(added));
  }

  LinkId append(LinkSpec const& link) {
    layout_.links.push_back(link);
    return LinkId(layout_.links.size() - 1);
  }
  // The connection between the same two NICs in either direction; it gets the larger number of queue pairs.
  LinkId share(LinkSpec const& link) {
    for (std::size_t i = 0; i < layout_.links.size(); ++i) {
      auto& other = layout_.links[i];
      bool const same =
          std::equal(link.ranks, link.ranks + 2, other.ranks) && std::equal(link.nics, link.nics + 2, other.nics);
      bool const reversed = link.ranks[0] == other.ranks[1] && link.ranks[1] == other.ranks[0] &&
                            link.nics[0] == other.nics[1] && link.nics[1] == other.nics[0];
      if (other.for_messages || !(same || reversed)) continue;
      other.queues = std::max(other.queues, link.queues);
      return LinkId(i);
    }
    return append(link);
  }

  static bool is_notified_anyway(StepLayout const& step, int rank) {
    if (rank == step.driver) return true;
    return step.driver == step.source && rank == step.target;  // a write or a send notifies the target itself
  }
  static void add_listener(StepLayout& step, int rank) {
    if (is_notified_anyway(step, rank)) return;
    if (std::find(step.listeners.begin(), step.listeners.end(), rank) == step.listeners.end())
      step.listeners.push_back(rank);
  }

  // Makes sure that two processes have a connection that can carry notifications.
  void connect(int a, int b) {
    for (auto const& link : layout_.links)
      if (!link.for_messages && std::minmax(link.ranks[0], link.ranks[1]) == std::minmax(a, b)) return;
    auto const [of_a, of_b] = pair_of(node_of(a, ranks_), node_of(b, ranks_));
    append({{a, b}, {of_a, of_b}, 1, false});
  }
  // A pair of NICs with the same number in both nodes, preferably NICs that the plan uses anyway.
  [[nodiscard]] std::pair<std::size_t, std::size_t> pair_of(std::size_t a, std::size_t b) const {
    std::set<std::size_t> used;
    for (auto const& link : layout_.links) used.insert(link.nics, link.nics + 2);
    std::pair<std::size_t, std::size_t> found{0, 0};
    int best = -1;
    for (std::size_t i = 0; i < plan_.nics.size(); ++i)
      for (std::size_t k = 0; k < plan_.nics.size(); ++k) {
        if (plan_.nics[i].node != a || plan_.nics[k].node != b || plan_.nics[i].place != plan_.nics[k].place) continue;
        auto const worth = static_cast<int>(used.count(i) + used.count(k));
        if (worth <= best) continue;
        best = worth;
        found = {i, k};
      }
    return found;
  }

  NetworkPlan const& plan_;
  std::vector<std::vector<int>> const& ranks_;
  Layout layout_;
};

}  // namespace

Messages messages_of(NetworkStep const& step) {
  if (step.staging == Staging::Chunks) return {(step.bytes + step.chunk - 1) / step.chunk, 1};
  auto const count = (step.bytes + kMaxMessageBytes - 1) / kMaxMessageBytes;
  return {count, static_cast<int>(std::min<std::int64_t>(count, step.queue_pairs))};
}

Layout layout_of(NetworkPlan const& plan, std::vector<std::vector<int>> const& ranks) {
  return LayoutBuilder(plan, ranks).layout();
}

}  // namespace lanewise::hw
