#include "core/planner/bounds/ingress_bound.hpp"

#include <algorithm>
#include <map>

#include "core/planner/bound_limits.hpp"
#include "core/planner/direct_ways.hpp"
#include "core/rules/conditions.hpp"
#include "core/solver/linear_program.hpp"

namespace lanewise {
namespace {

// A direct way into a GPU or out of it; a staged way is two of them.
struct IngressLeg {
  Place from, to;
  InlineVector<Use, 48> uses;
};

class IngressProgram {
 public:
  IngressProgram(std::vector<RequiredTraffic> const& groups, Model const& model)
      : groups_(groups), model_(model), planner_(model) {
    auto const& machine = model.machine();
    for (auto const gpu : machine.all(PciKind::Gpu)) {
      bool const takes_part = std::any_of(groups.begin(), groups.end(),
                                          [&](RequiredTraffic const& group) { return has(group, Place(gpu)); });
      (takes_part ? gpus_ : others_).emplace_back(gpu);
    }
    for (std::size_t m = 0; m < machine.numa_nodes.size(); ++m) memories_.emplace_back(NumaId(m));
  }

  std::optional<LowerBound> bound() {
    for (auto const& to : gpus_)
      for (auto const* sources : {&gpus_, &others_, &memories_})
        for (auto const& from : *sources)
          if (from != to) add_legs(from, to);
    for (auto const& from : gpus_)
      for (auto const* targets : {&others_, &memories_})
        for (auto const& to : *targets) add_legs(from, to);
    return solve_for_time();
  }

 private:
  using Uses = decltype(Demand::uses);

  // By copy engines; and by kernels where these take less of something, for of some links they carry more.
  void add_legs(Place const& from, Place const& to) {
    constexpr Bytes kLarge{std::int64_t{1} << 30};
    auto const copies = legs_.size();
    for (auto const& evaluated : direct_ways(planner_, {.from = from, .to = to, .bytes = kLarge}))
      legs_.push_back({from, to, model_.lower(from, to, kLarge, Op::Copy, evaluated.way).uses});
    auto const kernels = legs_.size();
    for (auto const op : {Op::Write, Op::Read}) {
      if (!gpu_at(model_.machine(), op == Op::Write ? from : to)) continue;
      for (auto const& evaluated : direct_ways(planner_, {.from = from, .to = to, .bytes = kLarge, .op = op})) {
        auto const uses = model_.lower(from, to, kLarge, op, evaluated.way).uses;
        bool gains = true;
        for (auto i = copies; i < kernels; ++i) gains = gains && takes_less(uses, legs_[i].uses);
        if (gains) legs_.push_back({from, to, uses});
      }
    }
  }
  static bool takes_less(Uses const& one, Uses const& other) {
    return std::any_of(other.begin(), other.end(), [&](Use const& use) {
      auto const* const same =
          std::find_if(one.begin(), one.end(), [&](Use const& of) { return of.resource == use.resource; });
      return same == one.end() || same->weight < use.weight;
    });
  }

  using Columns = std::vector<std::vector<LinearProgram::Entry>>;  // of the legs

  void add_groups(LinearProgram& program, Columns& columns) const {
    for (auto const& group : groups_) {
      auto const in = program.add_row({.lower = group.in * 1e-6});
      auto const out = program.add_row({.lower = group.out * 1e-6});
      for (std::size_t i = 0; i < legs_.size(); ++i) {
        bool const into = has(group, legs_[i].to);
        if (into == has(group, legs_[i].from)) continue;
        columns[i].push_back({into ? in : out, 1});
      }
      // What enters the group through host memory was written there by somebody outside who had it.
      auto const from_outside = program.add_row({.lower = group.in * 1e-6});
      for (std::size_t i = 0; i < legs_.size(); ++i) {
        auto const& leg = legs_[i];
        if (!is_memory(leg.from) && !has(group, leg.from) && (has(group, leg.to) || is_memory(leg.to)))
          columns[i].push_back({from_outside, 1});
      }
    }
  }

  // Minimises T, the first column, in megabytes and seconds.
  std::optional<LowerBound> solve_for_time() {
    LinearProgram program;
    Columns columns(legs_.size());
    add_groups(program, columns);
    // Each byte that a GPU reads from host memory was written there.
    for (auto const& gpu : gpus_) {
      auto const written = program.add_row({.lower = 0});
      for (std::size_t i = 0; i < legs_.size(); ++i) {
        if (is_memory(legs_[i].to)) columns[i].push_back({written, 1});
        if (legs_[i].to == gpu && is_memory(legs_[i].from)) columns[i].push_back({written, -1});
      }
    }
    std::map<ResourceId, int> rows;
    for (std::size_t i = 0; i < legs_.size(); ++i)
      for (auto const& use : legs_[i].uses) {
        auto const [row, is_new] = rows.try_emplace(use.resource);
        if (is_new) {
          row->second = program.add_row({.upper = 0});
          program.entries.push_back({row->second, -capacity(use.resource)});
        }
        columns[i].push_back({row->second, use.weight.ratio()});
      }
    program.end_column(1);  // T
    for (auto const& column : columns) {
      program.entries.insert(program.entries.end(), column.begin(), column.end());
      program.end_column(0);
    }
    auto const solution = solve(program);
    if (!solution) return std::nullopt;
    LowerBound bound{Seconds(solution->x[0]), {}};
    for (auto const& [resource, row] : rows)
      if (auto const share = -solution->duals[static_cast<std::size_t>(row)] * capacity(resource);
          share > kBoundLimits.min_reported_share_of_collective)
        bound.binding.push_back({model_.resources().at(resource).name, share});
    sort_largest_first(bound.binding);
    return bound;
  }
  static bool has(RequiredTraffic const& group, Place const& place) {
    return std::find(group.members.begin(), group.members.end(), place) != group.members.end();
  }
  static bool is_memory(Place const& place) { return std::holds_alternative<NumaId>(place); }
  [[nodiscard]] double capacity(ResourceId resource) const { return model_.capacity(resource)->value() * 1e-6; }

  std::vector<RequiredTraffic> const& groups_;
  Model const& model_;
  Planner planner_;
  std::vector<Place> gpus_, others_, memories_;
  std::vector<IngressLeg> legs_;
};

}  // namespace

std::optional<LowerBound> ingress_bound(std::vector<RequiredTraffic> const& groups, Model const& model) {
  return IngressProgram(groups, model).bound();
}

}  // namespace lanewise
