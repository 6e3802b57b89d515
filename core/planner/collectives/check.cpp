#include "core/planner/collectives/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/plan/dag.hpp"

namespace lanewise {
namespace {

// What a piece of memory holds: how often (participant, offset of the element) has contributed.
using Content = std::map<std::pair<std::size_t, std::int64_t>, int>;

class Checker {
 public:
  explicit Checker(Plan const& plan)
      : plan_(plan), collective_(*plan.collective), ancestors_(earlier_steps(plan.steps)) {
    divide_buffers();
    fill_inputs();
  }

  std::optional<std::string> fault() {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      if (auto const problem = order_fault(i)) return problem;
      execute(plan_.steps[i]);
    }
    return result_fault();
  }

 private:
  using Offsets = std::set<std::int64_t>;

  // Without edges from later steps, which are a fault.
  static Dag earlier_steps(std::vector<Step> const& steps) {
    Dag dag(steps.size(), [&](auto const& add) {
      for (std::size_t i = 0; i < steps.size(); ++i)
        for (auto const before : steps[i].after)
          if (index(before) < i) add(index(before), i);
    });
    return dag;
  }

  // Divides every buffer where any step begins or ends, and where a division of the other end of a step falls, so that
  // each step moves each piece whole or not at all.
  void divide_buffers() {
    std::vector<Offsets> offsets;
    for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
      offsets.push_back({0, plan_.buffers[b].bytes.value()});
      for (std::size_t part = 0; part < collective_.among.size(); ++part) offsets[b].insert(begin_in(b, part));
    }
    auto const end_of = [](Region const& region, Bytes bytes) { return (region.offset + bytes).value(); };
    for (auto const& step : plan_.steps)
      for (auto const& region : {*step.reads, *step.writes})
        offsets[index(region.buffer)].insert({region.offset.value(), end_of(region, step.bytes)});
    for (bool changed = true; changed;) {
      changed = false;
      for (auto const& step : plan_.steps) {
        changed = copy_offsets(offsets, *step.reads, *step.writes, step.bytes) || changed;
        changed = copy_offsets(offsets, *step.writes, *step.reads, step.bytes) || changed;
      }
    }
    for (auto const& of_buffer : offsets) {
      offsets_.emplace_back(of_buffer.begin(), of_buffer.end());
      memory_.emplace_back(of_buffer.size() - 1);
      accesses_.emplace_back(of_buffer.size() - 1);
    }
  }
  // Adds the divisions within one end of a step at its other end. Returns whether any was new there.
  static bool copy_offsets(std::vector<Offsets>& offsets, Region const& from, Region const& to, Bytes bytes) {
    auto const& source = offsets[index(from.buffer)];
    auto& target = offsets[index(to.buffer)];
    std::vector<std::int64_t> const within(source.lower_bound(from.offset.value()),
                                           source.upper_bound((from.offset + bytes).value()));
    bool changed = false;
    for (auto const offset : within)
      changed = target.insert(offset - from.offset.value() + to.offset.value()).second || changed;
    return changed;
  }
  // Where a participant's part begins in a buffer.
  [[nodiscard]] std::int64_t begin_in(std::size_t buffer, std::size_t part) const {
    if (collective_.op != CollectiveOp::AllToAllV) return boundary(part);
    auto const n = collective_.among.size();
    Bytes sum{0};
    for (std::size_t k = 0; k < part; ++k)
      sum += buffer < n ? collective_.sizes[buffer][k] : collective_.sizes[k][buffer - n];
    return sum.value();
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
  [[nodiscard]] std::size_t first_piece(Region const& region) const {
    auto const& offsets = offsets_[index(region.buffer)];
    return static_cast<std::size_t>(std::lower_bound(offsets.begin(), offsets.end(), region.offset.value()) -
                                    offsets.begin());
  }
  // Calls `call` with the number of each piece of a region.
  template <class Call>
  void for_pieces(Region const& region, Bytes bytes, Call&& call) const {
    auto const& offsets = offsets_[index(region.buffer)];
    for (auto k = first_piece(region); offsets[k] < (region.offset + bytes).value(); ++k) call(k);
  }

  void fill_inputs() {
    for (std::size_t rank = 0; rank < collective_.among.size(); ++rank)
      for (std::size_t k = 0; k < memory_[rank].size(); ++k)
        if (is_input(rank, offsets_[rank][k])) memory_[rank][k][{rank, offsets_[rank][k]}] = 1;
  }
  [[nodiscard]] bool is_input(std::size_t rank, std::int64_t offset) const {
    switch (collective_.op) {
      case CollectiveOp::Broadcast:
      case CollectiveOp::Chain:
      case CollectiveOp::Scatter: return rank == collective_.root;
      case CollectiveOp::Gather:
      case CollectiveOp::AllGather: return owner(offset) == rank;
      default: return true;
    }
  }

  // Two steps that touch the same piece, one of them writing, must be ordered by their dependencies.
  std::optional<std::string> order_fault(std::size_t i) {
    auto const& step = plan_.steps[i];
    for (auto const id : step.after)
      if (index(id) >= i) return fmt::format("step {} waits for a later one", i);
    std::optional<std::string> fault;
    for (auto const& [region, writes] : {std::pair(*step.reads, false), std::pair(*step.writes, true)})
      for_pieces(region, step.bytes, [&, &region = region, writes = writes](std::size_t k) {
        auto& accesses = accesses_[index(region.buffer)][k];
        for (auto const& [other, wrote] : accesses)
          if ((writes || wrote) && other != i && !ancestors_.has(i, other) && !fault)
            fault = fmt::format("steps {} and {} touch {} of {} in no order", other, i,
                                offsets_[index(region.buffer)][k], plan_.buffers[index(region.buffer)].name);
        accesses.emplace_back(i, writes);
      });
    return fault;
  }

  void execute(Step const& step) {
    auto to = first_piece(*step.writes);
    for_pieces(*step.reads, step.bytes, [&](std::size_t from) {
      auto const& source = memory_[index(step.reads->buffer)][from];
      auto& target = memory_[index(step.writes->buffer)][to++];
      if (!step.reduces) {
        target = source;
        return;
      }
      for (auto const& [contribution, times] : source) target[contribution] += times;
    });
  }

  [[nodiscard]] std::optional<std::string> result_fault() const {
    auto const n = collective_.among.size();
    auto const results = first_result(plan_.buffers, collective_);
    for (std::size_t rank = 0; rank < n; ++rank) {
      auto const buffer = results + rank;
      for (std::size_t k = 0; k < memory_[buffer].size(); ++k) {
        auto const offset = offsets_[buffer][k];
        auto const expected = expected_at(rank, offset);
        if (!expected) continue;
        auto const& found = memory_[buffer][k];
        if (found == *expected) continue;
        return fmt::format("participant {} at byte {}: {} contributions instead of {}, or others", rank, offset,
                           found.size(), expected->size());
      }
    }
    return std::nullopt;
  }
  // What must be there in the end; nullopt if it does not matter.
  [[nodiscard]] std::optional<Content> expected_at(std::size_t rank, std::int64_t offset) const {
    Content all;
    for (std::size_t other = 0; other < collective_.among.size(); ++other) all[{other, offset}] = 1;
    auto const part = has_outputs(collective_.op) ? 0 : owner(offset);
    switch (collective_.op) {
      case CollectiveOp::Chain:
      case CollectiveOp::Broadcast: return Content{{{collective_.root, offset}, 1}};
      case CollectiveOp::Scatter:
        return part == rank ? std::optional(Content{{{collective_.root, offset}, 1}}) : std::nullopt;
      case CollectiveOp::Gather:
        return rank == collective_.root ? std::optional(Content{{{part, offset}, 1}}) : std::nullopt;
      case CollectiveOp::AllGather: return Content{{{part, offset}, 1}};
      case CollectiveOp::Reduce: return rank == collective_.root ? std::optional(all) : std::nullopt;
      case CollectiveOp::ReduceScatter: return part == rank ? std::optional(all) : std::nullopt;
      case CollectiveOp::AllReduce: return all;
      case CollectiveOp::AllToAll: {
        auto const block = collective_.bytes.value() / static_cast<std::int64_t>(collective_.among.size());
        auto const sender = static_cast<std::size_t>(offset / block);
        return Content{{{sender, static_cast<std::int64_t>(rank) * block + offset % block}, 1}};
      }
      case CollectiveOp::AllToAllV: {
        auto const n = collective_.among.size();
        std::size_t sender = 0;
        while (sender + 1 < n && begin_in(n + rank, sender + 1) <= offset) ++sender;
        return Content{{{sender, begin_in(sender, rank) + offset - begin_in(n + rank, sender)}, 1}};
      }
    }
    return std::nullopt;
  }

  Plan const& plan_;
  Collective const& collective_;
  std::vector<std::vector<std::int64_t>> offsets_;                                // of each buffer
  std::vector<std::vector<Content>> memory_;                                      // of each buffer, piece by piece
  std::vector<std::vector<std::vector<std::pair<std::size_t, bool>>>> accesses_;  // steps, and whether they wrote
  Ancestors ancestors_;                                                           // of each step
};

// The steps and buffers of one collective of a plan, as a plan of their own.
Plan plan_of_one(Plan const& plan, NamedCollective const& named) {
  Plan part{plan.machine, plan.fingerprint, {}, {}, {}, named.collective};
  auto const first = index(named.first);
  auto const buffers = buffers_of(plan, named);
  part.buffers.assign(buffers.begin(), buffers.end());
  std::map<StepId, StepId> new_id;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (plan.steps[i].transfer != named.id) continue;
    new_id.emplace(StepId(i), StepId(part.steps.size()));
    auto& step = part.steps.emplace_back(plan.steps[i]);
    std::erase_if(step.after, [&](StepId before) { return !new_id.contains(before); });
    for (auto& before : step.after) before = new_id.at(before);
    for (auto* region : {&step.reads, &step.writes})
      if (*region) (*region)->buffer = BufferId(index((*region)->buffer) - first);
  }
  return part;
}

}  // namespace

std::optional<std::string> fault_of(Plan const& plan) {
  if (!plan.folding.empty()) return "the plan is folded: its steps do not say what every participant does";
  for (auto const& named : plan.collectives)
    if (auto fault = fault_of(plan_of_one(plan, named))) return named.id + ": " + *fault;
  if (!plan.collective) {
    if (plan.collectives.empty()) return "the plan is of no collective";
    return std::nullopt;
  }
  for (auto const& step : plan.steps)
    if (!step.reads || !step.writes) return "a step does not say what it reads and writes";
  return Checker(plan).fault();
}

}  // namespace lanewise
