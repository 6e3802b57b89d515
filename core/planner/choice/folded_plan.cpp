#include "core/planner/choice/folded_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/planner/collective_limits.hpp"
#include "lanewise/machine/fingerprint.hpp"

namespace lanewise {
namespace {

using Wait = SymmetricSchedule::Wait;

// Of the transfers over one displacement, those from one class to another.
struct ClassPair {
  std::uint32_t from = 0, to = 0;
  std::size_t sender = 0;   // the position of one of the units that send
  std::uint32_t units = 0;  // that send
};

class FoldedPlan {
 public:
  FoldedPlan(Model const& model, Collective const& collective, SymmetricSchedule const& schedule, UnitGrid const& grid,
             WayCache& ways)
      : machine_(model.machine()), collective_(collective), schedule_(schedule), grid_(grid), ways_(ways) {}

  Plan make(Algorithm algorithm) {
    plan_ = {machine_.name, fingerprint(machine_), {}, {}, {}, collective_};
    plan_.collective->algorithm = algorithm;
    plan_.folding = grid_.folding();
    add_buffers();
    for (auto const& transfer : schedule_.transfers()) add(transfer);
    return std::move(plan_);
  }

 private:
  struct Sent {
    std::uint32_t from = 0, to = 0;  // classes
    StepId step{};
  };

  // Of each class the members' data, then their outputs.
  void add_buffers() {
    bool const has_output = has_outputs(collective_.op);
    for (std::size_t c = 0; c < grid_.classes(); ++c)
      for (auto const* suffix : {".data", ".output"})
        for (std::size_t m = 0; m < grid_.members() && (has_output || suffix[1] == 'd'); ++m) {
          auto const& place = collective_.among[grid_.participant(grid_.first_of(c), m)];
          plan_.buffers.push_back({machine_.name_of(place) + suffix, place, collective_.bytes});
        }
    buffers_of_class_ = plan_.buffers.size() / grid_.classes();
  }
  [[nodiscard]] BufferId buffer(std::uint32_t of_class, std::uint32_t member,
                                SymmetricSchedule::BufferRole role) const {
    auto const outputs = role == SymmetricSchedule::BufferRole::Output ? grid_.members() : 0;
    return BufferId(of_class * buffers_of_class_ + outputs + member);
  }

  std::vector<ClassPair> const& pairs_at(std::size_t displacement) {
    auto const [found, is_new] = pairs_.try_emplace(displacement);
    auto& pairs = found->second;
    if (is_new && grid_.classes() == 1)
      pairs.push_back({0, 0, 0, static_cast<std::uint32_t>(grid_.units())});
    else if (is_new)
      for (std::size_t at = 0; at < grid_.units(); ++at) {
        auto const from = grid_.class_of(at);
        auto const to = grid_.class_of(grid_.plus(at, displacement));
        auto known = pairs.begin();
        while (known != pairs.end() && (known->from != from || known->to != to)) ++known;
        if (known == pairs.end()) known = pairs.insert(pairs.end(), {from, to, at, 0});
        ++known->units;
      }
    return pairs;
  }

  void add(SymmetricSchedule::Transfer const& transfer) {
    auto& sent = sent_.emplace_back();
    for (auto const& pair : pairs_at(transfer.displacement)) {
      auto const from = grid_.participant(pair.sender, transfer.from);
      auto const to = grid_.participant(grid_.plus(pair.sender, transfer.displacement), transfer.to);
      TransferSchedule::Transfer sample;
      sample.from = static_cast<std::uint32_t>(from);
      sample.to = static_cast<std::uint32_t>(to);
      sample.bytes = transfer.bytes;
      sample.reduces = transfer.reduces;
      auto const& [way, op] = ways_.way_of(sample);
      Step step{name_, collective_.among[from], collective_.among[to], transfer.bytes, op, way, {}};
      step.count = pair.units;
      step.reads = Region{buffer(pair.from, transfer.from, SymmetricSchedule::BufferRole::Data), transfer.read_at};
      step.writes = Region{buffer(pair.to, transfer.to, transfer.writes), transfer.write_at};
      step.reduces = transfer.reduces;
      for (auto const& dependency : transfer.after)
        for (auto const& before : sent_[dependency.before])
          if (concerns(before, dependency.wait, pair) && !is_minor(before, dependency.wait))
            step.after.push_back(before.step);
      std::sort(step.after.begin(), step.after.end());
      step.after.erase(std::unique(step.after.begin(), step.after.end()), step.after.end());
      sent.push_back({pair.from, pair.to, StepId(plan_.steps.size())});
      plan_.steps.push_back(std::move(step));
    }
  }
  static bool concerns(Sent const& before, Wait wait, ClassPair const& pair) {
    switch (wait) {
      case Wait::LeftSender: return before.from == pair.from;
      case Wait::ReachedSender: return before.to == pair.from;
      case Wait::LeftReceiver: return before.from == pair.to;
      case Wait::ReachedReceiver: return before.to == pair.to;
    }
    return false;
  }

  // Most units of a class have another step in its place, and wait for that one.
  [[nodiscard]] bool is_minor(Sent const& before, Wait wait) const {
    if (wait == Wait::LeftSender) return false;
    auto const of = wait == Wait::LeftReceiver ? before.from : before.to;
    std::size_t const count = plan_.steps[index(before.step)].count;
    return 2 * count < grid_.folding()[of].units.size();
  }

  Machine const& machine_;
  Collective const& collective_;
  SymmetricSchedule const& schedule_;
  UnitGrid const& grid_;
  WayCache& ways_;
  std::string name_{to_string(collective_.op)};
  Plan plan_;
  std::size_t buffers_of_class_ = 0;
  std::map<std::size_t, std::vector<ClassPair>> pairs_;  // by displacement
  std::vector<std::vector<Sent>> sent_;                  // the steps of each transfer
};

}  // namespace

UnitGrid refined_for(UnitGrid const& grid, SymmetricSchedule const& schedule) {
  std::set<std::size_t> displacements;
  for (auto const& transfer : schedule.transfers()) displacements.insert(transfer.displacement);
  // Where all meet all, every unit would be of its own class.
  if (displacements.size() > grid.units() / 2) return grid;
  return grid.refined({displacements.begin(), displacements.end()},
                      kCollectiveLimits.max_refined_steps / schedule.transfers().size());
}

Plan folded_plan(Model const& model, Collective const& collective, Algorithm algorithm,
                 SymmetricSchedule const& schedule, UnitGrid const& grid, WayCache& ways) {
  return FoldedPlan(model, collective, schedule, grid, ways).make(algorithm);
}

}  // namespace lanewise
