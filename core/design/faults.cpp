#include "core/design/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/machine/fault_settings.hpp"
#include "core/machine/node_kinds.hpp"
#include "core/machine/path_class.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

// The name without digits: "leaf*", "cables.leaf*-spine*". Things that are called alike are alike.
std::string stem_of(std::string const& name) {
  std::string stem;
  for (char const c : name) {
    bool const is_digit = c >= '0' && c <= '9';
    if (!is_digit)
      stem += c;
    else if (stem.empty() || stem.back() != '#')
      stem += '#';
  }
  return stem;
}

class FaultList {
 public:
  // `of_each_kind`: how many of those that are alike are there.
  FaultList(Machine const& machine, int of_each_kind) : machine_(machine), of_each_kind_(of_each_kind) {}

  std::vector<Fault> make() {
    std::set<HostId> first_hosts;
    for (auto const& kind : node_kinds(machine_))
      for (std::size_t i = 0; i < kind.hosts.size() && i < static_cast<std::size_t>(of_each_kind_); ++i)
        first_hosts.insert(kind.hosts[i]);
    for (std::size_t i = 0; i < machine_.functions.size(); ++i)
      if (first_hosts.contains(machine_.host_of(PciId(i)))) add_function(PciId(i));
    if (machine_.hosts.size() > 1)
      for (auto const host : first_hosts) lose(machine_.at(host).name);
    for (auto const& nvswitch : machine_.nvswitches)
      if (!nvswitch.host || first_hosts.contains(*nvswitch.host))
        if (is_first(nvswitch.name)) lose(nvswitch.name);
    for (auto const& link : countable_links(machine_)) {
      bool const stands_for_all = link.gpu ? first_hosts.contains(machine_.host_of(*link.gpu))
                                           : machine_.hosts.size() == 1 || is_first(link.name);
      if (stands_for_all && link.count > 0) halve(link.name, link.count);
    }
    if (machine_.fabric) add_switches(*machine_.fabric);
    return std::move(faults_);
  }

 private:
  bool is_first(std::string const& name) { return ++seen_[stem_of(name)] <= of_each_kind_; }

  void lose(std::string const& name) {
    if (!name.empty()) faults_.push_back({{{"off@" + name, "true"}}, name + " lost"});
  }
  void halve(std::string const& link, int count) {
    if (count >= 2)
      faults_.push_back({{{"count@" + link, std::to_string(count / 2)}}, "half of " + link});
    else
      lose(link);
  }

  void add_function(PciId id) {
    auto const& function = machine_.at(id);
    if (function.kind == PciKind::RootPort || function.kind == PciKind::Device) return;
    lose(function.name);
    auto const link = function.link ? function.link : assumed_link(machine_, id);
    if (!link || link->width < 2) return;
    auto const half = PcieLink{link->generation, link->width / 2};
    faults_.push_back(
        {{{"link@" + function.name, to_string(half)}}, fmt::format("{} at {}", function.name, to_string(half))});
  }

  void add_switches(Fabric const& fabric) {
    for (auto const& one : fabric.switches) {
      if (one.count == 0 || fabric.networks[one.network].kind == "direct" || !is_first(one.name)) continue;
      if (one.count > 1)
        faults_.push_back(
            {{{"count@" + one.name, std::to_string(one.count - 1)}}, fmt::format("one of {} {}", one.count, one.name)});
      else
        lose(one.name);
    }
  }

  Machine const& machine_;
  int of_each_kind_;
  std::vector<Fault> faults_;
  std::map<std::string, int> seen_;
};

bool cost_as_much(FaultLoss const& a, FaultLoss const& b) {
  constexpr double kSame = 0.005;
  for (std::size_t j = 0; j < a.ratios.size(); ++j) {
    if (a.ratios[j].has_value() != b.ratios[j].has_value()) return false;
    if (a.ratios[j] && std::abs(*a.ratios[j] / *b.ratios[j] - 1) > kSame) return false;
  }
  return true;
}

// Losses, those that are alike once.
class LossList {
 public:
  void add(FaultLoss loss) {
    auto& of_stem = by_stem_[stem_of(loss.fault.what)];
    for (auto const i : of_stem)
      if (cost_as_much(losses_[i], loss)) {
        ++losses_[i].alike;
        return;
      }
    of_stem.push_back(losses_.size());
    losses_.push_back(std::move(loss));
  }
  std::vector<FaultLoss> take() { return std::move(losses_); }

 private:
  std::vector<FaultLoss> losses_;
  std::map<std::string, std::vector<std::size_t>> by_stem_;
};

// "gpu3" of off@gpu3 and of link@gpu3.
std::string component_of(Fault const& fault) {
  auto const& key = fault.settings.front().key;
  return key.substr(key.find('@') + 1);
}

}  // namespace

std::vector<Fault> single_faults(Machine const& machine) { return FaultList(machine, 1).make(); }

std::vector<Fault> double_faults(Machine const& machine) {
  constexpr std::size_t kMaxFaults = 100'000;
  auto const single = FaultList(machine, 2).make();
  std::vector<Fault> pairs;
  for (std::size_t i = 0; i < single.size(); ++i)
    for (std::size_t j = i + 1; j < single.size(); ++j) {
      if (component_of(single[i]) == component_of(single[j])) continue;
      pairs.push_back({{single[i].settings.front(), single[j].settings.front()},
                       fmt::format("{} and {}", single[i].what, single[j].what)});
      if (pairs.size() > kMaxFaults)
        throw InputError(
            fmt::format("{} has more than {} pairs of failures; take 'faults: each'", machine.name, kMaxFaults));
    }
  return pairs;
}

FaultStudy::FaultStudy(Machine const& machine, Subject subject, std::vector<DesignJob> const& jobs,
                       std::optional<Library> const& library, FaultScope scope, Evaluator& evaluator)
    : jobs_(jobs),
      evaluator_(evaluator),
      machine_(subject.candidate->name),
      scope_(scope),
      faults_(scope == FaultScope::Pairs ? double_faults(machine) : single_faults(machine)) {
  for (auto const& job : jobs) nominal_.push_back(evaluator.add_time(subject, job, library));
  for (auto const& fault : faults_) {
    subject.failures = fault.settings;
    auto& keys = keys_.emplace_back();
    for (auto const& job : jobs) keys.push_back(evaluator.add_time(subject, job, library));
  }
}

FaultLoss FaultStudy::loss_of(std::size_t fault, std::vector<std::optional<Seconds>> const& nominal) const {
  FaultLoss loss;
  loss.fault = faults_[fault];
  double logarithm = 0;
  double weights = 0;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    loss.ratios.emplace_back();
    if (!nominal[j]) continue;
    weights += jobs_[j].weight;
    auto const found = evaluator_.evaluation(keys_[fault][j]);
    if (found.figures) {
      loss.ratios.back() = found.figures->time / *nominal[j];
      logarithm -= jobs_[j].weight * std::log(*loss.ratios.back());
    } else if (loss.impossible.empty()) {
      loss.impossible = fmt::format("{}: {}", jobs_[j].name, found.failure);
    }
  }
  // Fewer GPUs may end a collective sooner, but do less.
  if (loss.impossible.empty()) loss.kept = std::min(1.0, std::exp(logarithm / weights));
  return loss;
}

FaultReport FaultStudy::report() const {
  FaultReport report;
  report.machine = machine_;
  report.scope = scope_;
  std::vector<std::optional<Seconds>> nominal;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    auto const found = evaluator_.evaluation(nominal_[j]);
    nominal.push_back(found.figures ? std::optional(found.figures->time) : std::nullopt);
    if (!found.figures && report.why_none.empty())
      report.why_none = fmt::format("{}: {}", jobs_[j].name, found.failure);
  }
  if (std::none_of(nominal.begin(), nominal.end(), [](auto const& time) { return time.has_value(); })) return report;
  report.why_none.clear();
  double sum = 0;
  LossList losses;
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    if (!evaluator_.can_fail(keys_[i].front())) continue;  // a port without a cable
    auto loss = loss_of(i, nominal);
    ++report.failures;
    sum += loss.kept;
    losses.add(std::move(loss));
  }
  report.losses = losses.take();
  std::stable_sort(report.losses.begin(), report.losses.end(),
                   [](auto const& a, auto const& b) { return a.kept < b.kept; });
  if (!report.losses.empty()) {
    report.resilience = sum / static_cast<double>(report.failures);
    report.worst_kept = report.losses.front().kept;
  }
  return report;
}

}  // namespace lanewise
