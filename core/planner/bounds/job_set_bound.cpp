#include "core/planner/bounds/job_set_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/plan/dag.hpp"
#include "core/planner/collectives/cut_bounds.hpp"
#include "core/planner/transfer_options.hpp"

namespace lanewise {
namespace {

constexpr auto kNone = LongestPaths::kNone;

// A node of the precedence graph. A transfer or a piece of computing is one node. A collective is one node where it
// begins at each participant, a hub where all have contributed, and one node where it has ended at each.
struct Node {
  std::string name;
  double min_time = 0;  // seconds
  std::set<std::size_t> next = {};
  double head = 0;             // the longest path to it
  double tail = 0;             // the longest path from it
  std::size_t before = kNone;  // its neighbours on these paths
  std::size_t behind = kNone;
};

struct Ends {
  std::map<Place, std::size_t> start, end;  // nodes
};

// The total load of one thing that serves one at a time or is shared: together its users take the sum of their times.
struct Load {
  std::string name;
  double sum = 0;             // seconds
  std::size_t first = kNone;  // the user with the least head
  std::size_t last = kNone;   // the user with the least tail
};

class JobSetBound {
 public:
  JobSetBound(Plan const& plan, Model const& model)
      : plan_(plan), model_(model), transfers_(open_transfers_by_any_mover(plan, model)) {
    node_of_.assign(plan.steps.size(), kNone);
    collective_of_.assign(plan.steps.size(), kNone);
  }

  std::optional<LowerBound> bound() {
    if (!add_transfers()) return std::nullopt;
    for (std::size_t s = 0; s < plan_.steps.size(); ++s)
      if (plan_.steps[s].work > Seconds(0)) {
        node_of_[s] = nodes_.size();
        auto const& place = model_.machine().name_of(plan_.steps[s].from);
        nodes_.push_back({fmt::format("{} on {}", plan_.steps[s].transfer, place), plan_.steps[s].work.value()});
      }
    for (auto const& named : plan_.collectives) add_collective(named);
    add_edges();
    find_longest_paths();
    return longest();
  }

 private:
  bool add_transfers() {
    for (std::size_t d = 0; d < transfers_.size(); ++d) {
      auto alone = transfers_[d];
      alone.after.clear();
      auto const least = lower_bound(std::vector{alone}, model_);
      if (!least) return false;
      node_of_[index(plan_.decisions[d].step)] = nodes_.size();
      for (auto const& piece : plan_.decisions[d].others) node_of_[index(piece.step)] = nodes_.size();
      nodes_.push_back({transfers_[d].id, least->makespan.value()});
    }
    return true;
  }

  void add_collective(NamedCollective const& named) {
    auto const number = ends_.size();
    for (std::size_t s = 0; s < plan_.steps.size(); ++s)
      if (plan_.steps[s].transfer == named.id && node_of_[s] == kNone) collective_of_[s] = number;
    auto& ends = ends_.emplace_back();
    auto const& collective = named.collective;
    auto const hub = nodes_.size();
    nodes_.push_back({named.id});
    auto const op = collective.op;
    bool const from_one = op == CollectiveOp::Broadcast || op == CollectiveOp::Scatter || op == CollectiveOp::Chain;
    bool const to_one = op == CollectiveOp::Gather || op == CollectiveOp::Reduce;
    for (std::size_t i = 0; i < collective.among.size(); ++i) {
      auto const start = nodes_.size();
      nodes_.push_back({named.id});
      auto const end = nodes_.size();
      nodes_.push_back({named.id});
      nodes_[start].next.insert(end);
      if (!from_one || i == collective.root) nodes_[start].next.insert(hub);
      if (!to_one || i == collective.root) nodes_[hub].next.insert(end);
      ends.start[collective.among[i]] = start;
      ends.end[collective.among[i]] = end;
    }
    for (auto const& cut : cut_bounds(collective, model_)) add_cut(named, ends, cut);
  }

  void add_cut(NamedCollective const& named, Ends const& ends, CutBound const& cut) {
    auto const& among = named.collective.among;
    // Everything that a participant contributes must leave it before the hub.
    if (named.collective.op == CollectiveOp::AllReduce && cut.participant && cut.name.starts_with("out of ")) {
      auto& start = nodes_[ends.start.at(among[*cut.participant])];
      start.name = named.id + " " + cut.name;
      start.min_time = cut.time.value();
    }
    // The ports of several participants add up only over collectives among the same participants.
    auto const group = cut.participant ? std::vector<Place>{} : among;
    auto& load = cuts_[{cut.name, group}];
    load.name = cut.name;
    load.sum += cut.time.value();
    for (std::size_t i = 0; i < among.size(); ++i) {
      if (!cut.participant || cut.participant == i) members_[&load].first.push_back(ends.start.at(among[i]));
      members_[&load].second.push_back(ends.end.at(among[i]));
    }
  }

  // The nodes at which a step depends on another one, or the other on it: those of the places that both touch.
  [[nodiscard]] std::vector<std::size_t> nodes_at(std::size_t step, std::size_t other,
                                                  std::map<Place, std::size_t> Ends::*side) const {
    if (node_of_[step] != kNone) return {node_of_[step]};
    if (collective_of_[step] == kNone) return {};
    auto const& places = ends_[collective_of_[step]].*side;
    auto const& own = plan_.steps[step];
    auto const& other_step = plan_.steps[other];
    std::vector<std::size_t> shared;
    std::vector<std::size_t> all;
    bool at_host_memory = false;  // no participant's place: a dependency there says nothing about where it ended
    for (auto const& place : {own.from, own.to}) {
      bool const meet = place == other_step.from || place == other_step.to;
      auto const found = places.find(place);
      if (found == places.end()) {
        at_host_memory = at_host_memory || meet;
        continue;
      }
      all.push_back(found->second);
      if (meet) shared.push_back(found->second);
    }
    if (at_host_memory && shared.empty()) return {};
    return shared.empty() ? all : shared;
  }

  void add_edges() {
    for (std::size_t s = 0; s < plan_.steps.size(); ++s)
      for (auto const id : plan_.steps[s].after) {
        auto const before = index(id);
        if (collective_of_[s] != kNone && collective_of_[s] == collective_of_[before]) continue;
        for (auto const from : nodes_at(before, s, &Ends::end))
          for (auto const to : nodes_at(s, before, &Ends::start))
            if (from != to) nodes_[from].next.insert(to);
      }
  }

  // The graph has no cycle, since the plan's steps have none.
  void find_longest_paths() {
    std::vector<double> min_times;
    for (auto const& node : nodes_) min_times.push_back(node.min_time);
    Dag const dag(nodes_.size(), [&](auto const& add) {
      for (std::size_t n = 0; n < nodes_.size(); ++n)
        for (auto const next : nodes_[n].next) add(n, next);
    });
    auto const paths = longest_paths(dag, min_times);
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      nodes_[n].head = paths.head[n];
      nodes_[n].tail = paths.tail[n];
      nodes_[n].before = paths.predecessor[n];
      nodes_[n].behind = paths.successor[n];
    }
  }

  void update_ends(Load& load, std::vector<std::size_t> const& first, std::vector<std::size_t> const& last) const {
    for (auto const n : first)
      if (load.first == kNone || nodes_[n].head < nodes_[load.first].head) load.first = n;
    for (auto const n : last)
      if (load.last == kNone || nodes_[n].tail < nodes_[load.last].tail) load.last = n;
  }

  [[nodiscard]] std::vector<Load> loads() {
    std::vector<Load> loads;
    std::map<Place, Load> computing;
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      auto const& step = plan_.steps[s];
      if (step.work == Seconds(0)) continue;
      auto& load = computing[step.from];
      load.name = "computing on " + model_.machine().name_of(step.from);
      load.sum += step.work.value();
      update_ends(load, {node_of_[s]}, {node_of_[s]});
    }
    for (auto const& [place, load] : computing) loads.push_back(load);
    for (auto& [name, load] : cuts_) {
      update_ends(load, members_[&load].first, members_[&load].second);
      loads.push_back(load);
    }
    return loads;
  }

  [[nodiscard]] double time_of(Load const& load) const {
    return nodes_[load.first].head + load.sum + nodes_[load.last].tail;
  }

  // The load of all transfers together, with the bound of their set.
  [[nodiscard]] std::optional<std::pair<Load, LowerBound>> transfers_together() const {
    if (transfers_.empty()) return std::nullopt;
    auto const together = lower_bound(transfers_, model_);
    if (!together) return std::nullopt;
    Load load{"", together->makespan.value()};
    std::vector<std::size_t> all;
    for (std::size_t d = 0; d < transfers_.size(); ++d) all.push_back(node_of_[index(plan_.decisions[d].step)]);
    update_ends(load, all, all);
    return std::pair(load, *together);
  }

  LowerBound longest() {
    std::map<std::string, double> parts;
    std::size_t end = 0;
    for (std::size_t n = 0; n < nodes_.size(); ++n)
      if (nodes_[n].head + nodes_[n].min_time > nodes_[end].head + nodes_[end].min_time) end = n;
    auto time = nodes_[end].head + nodes_[end].min_time;
    add_path(parts, end, &Node::before);
    auto const keep_longest = [&](Load const& load, std::map<std::string, double> binding) {
      if (time_of(load) <= time) return;
      time = time_of(load);
      parts = std::move(binding);
      add_path(parts, nodes_[load.first].before, &Node::before);
      add_path(parts, nodes_[load.last].behind, &Node::behind);
    };
    for (auto const& load : loads()) keep_longest(load, {{load.name, load.sum}});
    if (auto const together = transfers_together()) {
      std::map<std::string, double> binding;
      for (auto const& part : together->second.binding) binding[part.name] = part.share * together->first.sum;
      keep_longest(together->first, std::move(binding));
    }
    LowerBound bound{Seconds(time), {}};
    for (auto const& [name, seconds] : parts)
      if (seconds > 0) bound.binding.push_back({name, seconds / time});
    sort_largest_first(bound.binding);
    return bound;
  }
  void add_path(std::map<std::string, double>& parts, std::size_t from, std::size_t Node::*next) const {
    for (auto n = from; n != kNone; n = nodes_[n].*next) parts[nodes_[n].name] += nodes_[n].min_time;
  }

  Plan const& plan_;
  Model const& model_;
  std::vector<OpenTransfer> transfers_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> node_of_;        // of a step of a transfer or of computing
  std::vector<std::size_t> collective_of_;  // of another step
  std::vector<Ends> ends_;                  // of each collective
  std::map<std::pair<std::string, std::vector<Place>>, Load> cuts_;
  std::map<Load const*, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> members_;
};

}  // namespace

std::optional<LowerBound> job_set_bound(Plan const& plan, Model const& model) {
  auto bound = JobSetBound(plan, model).bound();
  return bound && bound->makespan > Seconds(0) ? bound : std::nullopt;
}

}  // namespace lanewise
