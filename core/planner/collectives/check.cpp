#include "core/planner/collectives/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace lanewise {
namespace {

// What a place in memory holds: whose contribution to which element, and how often.
using Content = std::map<std::pair<std::size_t, std::int64_t>, int>;

class Checker {
 public:
  explicit Checker(Plan const& plan) : plan_(plan), collective_(*plan.collective) {
    cut();
    fill();
  }

  std::optional<std::string> fault() {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      if (auto const problem = order_fault(i)) return problem;
      execute(plan_.steps[i]);
    }
    return result_fault();
  }

 private:
  // All memory is cut wherever some step begins or ends, in every buffer alike, so that a piece is moved whole or not.
  void cut() {
    std::set<std::int64_t> offsets{0, collective_.bytes.value()};
    auto const add = [&](Region const& region, Bytes bytes) {
      offsets.insert(region.offset.value());
      offsets.insert((region.offset + bytes).value());
    };
    for (auto const& step : plan_.steps) {
      if (step.reads) add(*step.reads, step.bytes);
      if (step.writes) add(*step.writes, step.bytes);
    }
    for (std::size_t part = 0; part <= collective_.among.size(); ++part) offsets.insert(boundary(part));
    // all_to_all moves between different places: what cuts one block cuts all.
    if (collective_.op == CollectiveOp::AllToAll) {
      auto const block = collective_.bytes.value() / static_cast<std::int64_t>(collective_.among.size());
      std::set<std::int64_t> within;
      for (auto const offset : offsets) within.insert(offset % block);
      for (std::size_t part = 0; part < collective_.among.size(); ++part)
        for (auto const offset : within) offsets.insert(static_cast<std::int64_t>(part) * block + offset);
    }
    cuts_.assign(offsets.begin(), offsets.end());
    memory_.assign(plan_.buffers.size(), std::vector<Content>(cuts_.size() - 1));
    accesses_.assign(plan_.buffers.size(), std::vector<std::vector<std::pair<std::size_t, bool>>>(cuts_.size() - 1));
  }
  // Where the part of a participant begins, in whole elements of 16 bytes.
  [[nodiscard]] std::int64_t boundary(std::size_t part) const {
    if (part == collective_.among.size()) return collective_.bytes.value();
    return collective_.bytes.value() * static_cast<std::int64_t>(part) /
           static_cast<std::int64_t>(collective_.among.size()) / 16 * 16;
  }
  [[nodiscard]] std::size_t owner(std::int64_t offset) const {
    std::size_t part = 0;
    while (boundary(part + 1) <= offset) ++part;
    return part;
  }
  [[nodiscard]] std::size_t piece(std::int64_t offset) const {
    return static_cast<std::size_t>(std::lower_bound(cuts_.begin(), cuts_.end(), offset) - cuts_.begin());
  }

  void fill() {
    for (std::size_t who = 0; who < collective_.among.size(); ++who)
      for (std::size_t k = 0; k + 1 < cuts_.size(); ++k)
        if (holds_at_first(who, cuts_[k])) memory_[who][k][{who, cuts_[k]}] = 1;
  }
  [[nodiscard]] bool holds_at_first(std::size_t who, std::int64_t offset) const {
    switch (collective_.op) {
      case CollectiveOp::Broadcast:
      case CollectiveOp::Scatter: return who == collective_.root;
      case CollectiveOp::Gather:
      case CollectiveOp::AllGather: return owner(offset) == who;
      default: return true;
    }
  }

  // Two steps that touch the same piece, one of them writing, must be ordered by their dependencies.
  std::optional<std::string> order_fault(std::size_t i) {
    auto const& step = plan_.steps[i];
    auto& before = before_.emplace_back(plan_.steps.size(), false);
    for (auto const id : step.after) {
      if (index(id) >= i) return fmt::format("step {} waits for a later one", i);
      before[index(id)] = true;
      for (std::size_t k = 0; k < i; ++k) before[k] = before[k] || before_[index(id)][k];
    }
    for (auto const& [region, writes] : {std::pair(step.reads, false), std::pair(step.writes, true)})
      for (auto k = piece(region->offset.value()); cuts_[k] < (region->offset + step.bytes).value(); ++k) {
        auto& accesses = accesses_[index(region->buffer)][k];
        for (auto const& [other, wrote] : accesses)
          if ((writes || wrote) && other != i && !before[other])
            return fmt::format("steps {} and {} touch {} of {} in no order", other, i, cuts_[k],
                               plan_.buffers[index(region->buffer)].name);
        accesses.emplace_back(i, writes);
      }
    return std::nullopt;
  }

  void execute(Step const& step) {
    auto from = piece(step.reads->offset.value());
    auto to = piece(step.writes->offset.value());
    for (; cuts_[from] < (step.reads->offset + step.bytes).value(); ++from, ++to) {
      auto const& source = memory_[index(step.reads->buffer)][from];
      auto& target = memory_[index(step.writes->buffer)][to];
      if (!step.reduces) {
        target = source;
        continue;
      }
      for (auto const& [what, times] : source) target[what] += times;
    }
  }

  [[nodiscard]] std::optional<std::string> result_fault() const {
    auto const n = collective_.among.size();
    auto const results = plan_.buffers.size() - n;  // in the data itself, or beside it
    for (std::size_t who = 0; who < n; ++who)
      for (std::size_t k = 0; k + 1 < cuts_.size(); ++k) {
        auto const wanted = wanted_at(who, cuts_[k]);
        if (!wanted) continue;
        auto const& found = memory_[results + who][k];
        if (found == *wanted) continue;
        return fmt::format("participant {} at byte {}: {} contributions instead of {}, or others", who, cuts_[k],
                           found.size(), wanted->size());
      }
    return std::nullopt;
  }
  // What must be there in the end; nullopt where it does not matter.
  [[nodiscard]] std::optional<Content> wanted_at(std::size_t who, std::int64_t offset) const {
    Content all;
    for (std::size_t other = 0; other < collective_.among.size(); ++other) all[{other, offset}] = 1;
    auto const part = owner(offset);
    switch (collective_.op) {
      case CollectiveOp::Broadcast: return Content{{{collective_.root, offset}, 1}};
      case CollectiveOp::Scatter:
        return part == who ? std::optional(Content{{{collective_.root, offset}, 1}}) : std::nullopt;
      case CollectiveOp::Gather:
        return who == collective_.root ? std::optional(Content{{{part, offset}, 1}}) : std::nullopt;
      case CollectiveOp::AllGather: return Content{{{part, offset}, 1}};
      case CollectiveOp::ReduceScatter: return part == who ? std::optional(all) : std::nullopt;
      case CollectiveOp::AllReduce: return all;
      case CollectiveOp::AllToAll: {
        auto const block = collective_.bytes.value() / static_cast<std::int64_t>(collective_.among.size());
        auto const sender = static_cast<std::size_t>(offset / block);
        return Content{{{sender, static_cast<std::int64_t>(who) * block + offset % block}, 1}};
      }
    }
    return std::nullopt;
  }

  Plan const& plan_;
  Collective const& collective_;
  std::vector<std::int64_t> cuts_;
  std::vector<std::vector<Content>> memory_;                                      // of each buffer, piece by piece
  std::vector<std::vector<std::vector<std::pair<std::size_t, bool>>>> accesses_;  // steps, and whether they wrote
  std::vector<std::vector<bool>> before_;                                         // each step's ancestors
};

}  // namespace

std::optional<std::string> fault_of(Plan const& plan) {
  if (!plan.collective) return "the plan is of no collective";
  for (auto const& step : plan.steps)
    if (!step.reads || !step.writes) return "a step says not what it reads and writes";
  return Checker(plan).fault();
}

}  // namespace lanewise
