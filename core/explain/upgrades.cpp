#include "lanewise/explain/upgrades.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/estimate/folded_resources.hpp"

namespace lanewise {
namespace {

class Widener {
 public:
  Widener(Plan const& plan, Trace const& trace, std::vector<PathStep> const& path, Model const& model,
          Replanner const& replanner)
      : plan_(plan),
        trace_(trace),
        path_(path),
        model_(model),
        replanner_(replanner),
        bound_(lower_bound(plan, model)) {
    if (!plan.folding.empty()) folded_.emplace(model, plan.folding);
  }

  std::vector<Upgrade> list() {
    for (auto const resource : narrow_resources()) {
      auto const alike = folded_ ? folded_->alike(resource) : std::vector{resource};
      add(model_.resources().at(resource).name + of_each(alike), share_of(alike),
          model_.widened(alike, kUpgradeFactor));
    }
    for (auto const kind : kinds_) {
      auto const all = all_of(kind);
      if (all.size() > 1)
        add(fmt::format("all {}", to_string(kind)), share_of(all), model_.widened(all, kUpgradeFactor));
    }
    for (auto const engine : narrow_engines()) {
      auto const& name = model_.resources().at(engine).name;
      auto const alike = folded_ ? folded_->alike(engine) : std::vector{engine};
      add(name + of_each(alike) + ", one more", held_.contains(name) ? held_.at(name) : 0, model_.widened(alike, 1));
    }
    if (auto const turns = held_.find(kTurnsAtEngines); turns != held_.end()) {
      std::vector<EngineId> all;
      for (std::size_t e = 0; e < model_.resources().engine_count(); ++e) all.push_back(EngineId(e));
      add("all engines, one more", turns->second, model_.widened(all, 1));
    }
    std::stable_sort(found_.begin(), found_.end(), [](auto const& a, auto const& b) { return a.run < b.run; });
    return std::move(found_);
  }

 private:
  // What stands for others is widened with them.
  static std::string of_each(auto const& alike) {
    return alike.size() > 1 ? fmt::format(" and {} alike", alike.size() - 1) : "";
  }

  // Names of what slowed steps of the critical path or made them wait, by the time lost.
  [[nodiscard]] std::vector<std::string> slow_names() const {
    std::map<std::string, double> lost;
    for (std::size_t i = 0; i < path_.size(); ++i) {
      if (!path_[i].shared.empty()) lost[path_[i].shared] += (path_[i].end - path_[i].start - path_[i].alone).value();
      if (!path_[i].engine.empty()) lost[path_[i].engine] += (path_[i - 1].end - path_[i - 1].start).value();
    }
    std::vector<std::string> names;
    for (auto const& [name, seconds] : lost) names.push_back(name);
    std::stable_sort(names.begin(), names.end(), [&](auto const& a, auto const& b) { return lost[a] > lost[b]; });
    return names;
  }

  std::vector<std::string> narrow_names() {
    constexpr std::size_t kMaxOfBound = 4;
    constexpr std::size_t kMaxSlow = 3;
    constexpr std::size_t kMaxBusy = 1;
    std::vector<std::string> names;
    for (std::size_t i = 0; bound_ && i < bound_->binding.size(); ++i) {
      auto const& part = bound_->binding[i];
      held_[part.name] = part.share;
      if (part.name != kTurnsAtEngines && names.size() < kMaxOfBound) names.push_back(part.name);
    }
    auto const slow = slow_names();
    for (std::size_t i = 0; i < std::min(kMaxSlow, slow.size()); ++i) names.push_back(slow[i]);
    for (std::size_t i = 0; i < std::min(kMaxBusy, trace_.resources.size()); ++i)
      names.push_back(trace_.resources[i].name);
    return names;
  }
  std::vector<ResourceId> narrow_resources() {
    names_ = narrow_names();
    std::vector<ResourceId> found;
    for (std::size_t r = 0; r < model_.resources().count(); ++r) {
      auto const& resource = model_.resources().at(ResourceId(r));
      if (std::find(names_.begin(), names_.end(), resource.name) == names_.end()) continue;
      found.push_back(ResourceId(r));
      kinds_.insert(resource.kind);
    }
    return found;
  }
  [[nodiscard]] std::vector<EngineId> narrow_engines() const {
    std::vector<EngineId> found;
    for (std::size_t e = 0; e < model_.resources().engine_count(); ++e)
      if (std::find(names_.begin(), names_.end(), model_.resources().at(EngineId(e)).name) != names_.end())
        found.push_back(EngineId(e));
    return found;
  }
  [[nodiscard]] std::vector<ResourceId> all_of(ResourceKind kind) const {
    std::vector<ResourceId> all;
    for (std::size_t r = 0; r < model_.resources().count(); ++r)
      if (model_.resources().at(ResourceId(r)).kind == kind) all.push_back(ResourceId(r));
    return all;
  }
  [[nodiscard]] double share_of(std::vector<ResourceId> const& resources) const {
    double sum = 0;
    for (auto const resource : resources)
      if (auto const found = held_.find(model_.resources().at(resource).name); found != held_.end())
        sum += found->second;
    return sum;
  }

  void add(std::string what, double share, Model const& wider) {
    auto const plan = replanner_.plan(wider);
    auto const bound = lower_bound(plan, wider, bound_ ? std::optional(bound_->known) : std::nullopt);
    // A new search may miss what the old plan gains by itself.
    auto const executor = replanner_.executor(wider);
    auto const run = std::min(executor->run(plan).makespan, executor->run(plan_).makespan);
    found_.push_back({std::move(what), share, bound && bound_ ? bound->makespan / bound_->makespan : 1,
                      trace_.makespan > Seconds(0) ? run / trace_.makespan : 1});
  }

  Plan const& plan_;
  Trace const& trace_;
  std::vector<PathStep> const& path_;
  Model const& model_;
  Replanner const& replanner_;
  std::optional<LowerBound> bound_;
  std::optional<FoldedResources> folded_;  // of a folded plan
  std::map<std::string, double> held_;     // shares of the bound
  std::vector<std::string> names_;
  std::set<ResourceKind> kinds_;
  std::vector<Upgrade> found_;
};

}  // namespace

std::vector<Upgrade> upgrades(Plan const& plan, Trace const& trace, std::vector<PathStep> const& path,
                              Model const& model, Replanner const& replanner) {
  return Widener(plan, trace, path, model, replanner).list();
}

}  // namespace lanewise
