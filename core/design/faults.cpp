#include "core/design/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/design/evaluation.hpp"
#include "core/io/work_progress.hpp"
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

// Without the place in the file, which is the same for all.
std::string message_of(InputError const& error) {
  return error.diagnostics().empty() ? error.what() : error.diagnostics().front().message;
}

class FaultList {
 public:
  explicit FaultList(Machine const& machine) : machine_(machine) {}

  std::vector<Fault> make() {
    std::set<HostId> first_hosts;
    for (auto const& kind : node_kinds(machine_)) first_hosts.insert(kind.hosts.front());
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
  bool is_first(std::string const& name) { return seen_.insert(stem_of(name)).second; }

  void lose(std::string const& name) {
    if (!name.empty()) faults_.push_back({{"off@" + name, "true"}, name + " lost"});
  }
  void halve(std::string const& link, int count) {
    if (count >= 2)
      faults_.push_back({{"count@" + link, std::to_string(count / 2)}, "half of " + link});
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
        {{"link@" + function.name, to_string(half)}, fmt::format("{} at {}", function.name, to_string(half))});
  }

  void add_switches(Fabric const& fabric) {
    for (auto const& one : fabric.switches) {
      if (one.count == 0 || fabric.networks[one.network].kind == "direct" || !is_first(one.name)) continue;
      if (one.count > 1)
        faults_.push_back(
            {{"count@" + one.name, std::to_string(one.count - 1)}, fmt::format("one of {} {}", one.count, one.name)});
      else
        lose(one.name);
    }
  }

  Machine const& machine_;
  std::vector<Fault> faults_;
  std::set<std::string> seen_;
};

bool are_alike(FaultLoss const& a, FaultLoss const& b) {
  constexpr double kSame = 0.005;
  if (stem_of(a.fault.what) != stem_of(b.fault.what)) return false;
  for (std::size_t j = 0; j < a.ratios.size(); ++j) {
    if (a.ratios[j].has_value() != b.ratios[j].has_value()) return false;
    if (a.ratios[j] && std::abs(*a.ratios[j] / *b.ratios[j] - 1) > kSame) return false;
  }
  return true;
}

class FaultEvaluator {
 public:
  FaultEvaluator(Machine const& machine, Catalogue& catalogue, FaultQuery const& query)
      : machine_(machine), catalogue_(catalogue), query_(query), whole_(machine) {
    for (auto const& job : query.jobs) nominal_.push_back(time_of(job, whole_, why_not_));
  }

  FaultReport evaluate() {
    FaultReport report;
    if (std::none_of(nominal_.begin(), nominal_.end(), [](auto const& time) { return time.has_value(); })) {
      report.why_none = why_not_;
      return report;
    }
    double sum = 0;
    auto const faults = single_faults(machine_);
    for (std::size_t i = 0; i < faults.size(); ++i) {
      report_progress({"evaluating failures", "failures", i, faults.size()});
      auto broken = machine_;
      try {
        apply_setting(broken, faults[i].setting, catalogue_);
      } catch (InputError const&) {
        continue;  // this machine cannot lose it so: a port without a cable
      }
      auto loss = evaluate(faults[i], Model(std::move(broken)));
      ++report.failures;
      sum += loss.kept;
      add(report.losses, std::move(loss));
    }
    std::stable_sort(report.losses.begin(), report.losses.end(),
                     [](auto const& a, auto const& b) { return a.kept < b.kept; });
    if (!report.losses.empty()) {
      report.resilience = sum / static_cast<double>(report.failures);
      report.worst_kept = report.losses.front().kept;
    }
    return report;
  }

 private:
  // Nullopt, and why, where the job cannot be done.
  std::optional<Seconds> time_of(DesignJob const& job, Model const& model, std::string& why) const {
    auto const say = [&](std::string const& reason) {
      if (why.empty()) why = fmt::format("{}: {}", job.name, reason);
    };
    try {
      return PlannedJob(job.scenario, model, query_.library, query_.find_machine, &whole_).time(model);
    } catch (PlanError const& error) {
      say(error.what());
    } catch (InputError const& error) {
      say(message_of(error));
    }
    return std::nullopt;
  }

  [[nodiscard]] FaultLoss evaluate(Fault const& fault, Model const& model) const {
    FaultLoss loss;
    loss.fault = fault;
    double logarithm = 0;
    double weights = 0;
    for (std::size_t j = 0; j < query_.jobs.size(); ++j) {
      loss.ratios.emplace_back();
      if (!nominal_[j]) continue;
      auto const& job = query_.jobs[j];
      weights += job.weight;
      auto const time = time_of(job, model, loss.impossible);
      if (!time) continue;
      loss.ratios.back() = *time / *nominal_[j];
      logarithm -= job.weight * std::log(*loss.ratios.back());
    }
    // Fewer GPUs may end a collective sooner, but do less.
    if (loss.impossible.empty()) loss.kept = std::min(1.0, std::exp(logarithm / weights));
    return loss;
  }

  static void add(std::vector<FaultLoss>& losses, FaultLoss loss) {
    auto const same =
        std::find_if(losses.begin(), losses.end(), [&](FaultLoss const& other) { return are_alike(other, loss); });
    if (same != losses.end())
      ++same->alike;
    else
      losses.push_back(std::move(loss));
  }

  Machine const& machine_;
  Catalogue& catalogue_;
  FaultQuery const& query_;
  Model whole_;
  std::vector<std::optional<Seconds>> nominal_;  // of each job
  std::string why_not_;                          // of the first job that cannot be done
};

}  // namespace

std::vector<Fault> single_faults(Machine const& machine) { return FaultList(machine).make(); }

FaultReport evaluate_faults(Machine const& machine, Catalogue& catalogue, FaultQuery const& query) {
  return FaultEvaluator(machine, catalogue, query).evaluate();
}

}  // namespace lanewise
