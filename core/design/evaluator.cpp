#include "core/design/evaluator.hpp"

#include <fmt/format.h>

#include "core/io/digest.hpp"
#include "core/machine/device_order.hpp"
#include "core/machine/setting_value.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/explain/matrix.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/fingerprint.hpp"
#include "lanewise/planner/search/set_planner.hpp"

namespace lanewise {
namespace {

using Json = nlohmann::ordered_json;

constexpr Bytes kPairBytes{std::int64_t{256} << 20};

void add_to(Digest& digest, std::vector<Setting> const& settings) {
  for (auto const& setting : settings) digest.add(text_of(setting));
}

void find_slowest_pair(PairFigures& found, Model const& model, std::vector<Place> const& gpus) {
  MatrixQuery const query{.places = gpus, .bytes = kPairBytes};
  for (auto const& alike : make_matrix_by_class(model, query, nullptr).classes) {
    if (!alike.cell.rate || alike.from == alike.to) continue;
    if (found.worst_pair_rate && *found.worst_pair_rate <= *alike.cell.rate) continue;
    found.worst_pair_rate = alike.cell.rate;
    found.worst_pair = fmt::format("{} > {}", alike.from, alike.to);
  }
}

void find_bisection(PairFigures& found, Model const& model, std::vector<Place> const& gpus) {
  std::vector<Request> requests;
  auto const half = gpus.size() / 2;
  for (std::size_t i = 0; i < half; ++i)
    for (auto const& [from, to] : {std::pair(i, i + half), std::pair(i + half, i)})
      requests.push_back(
          {.id = fmt::format("{}", requests.size()), .from = gpus[from], .to = gpus[to], .bytes = kPairBytes});
  auto const plan = SetPlanner(model).plan(requests, {.objective = Objective::Each, .effort = Effort::Quick});
  auto const time = estimate(model, plan.steps, plan.folding).makespan;
  found.bisection = Bytes(kPairBytes.value() * static_cast<std::int64_t>(half)) / time;
}

PairFigures find_pairs(Model const& model) {
  auto const& machine = model.machine();
  std::vector<Place> gpus;
  for (auto const gpu : all_in_number_order(machine, PciKind::Gpu))
    if (!machine.is_off(gpu)) gpus.emplace_back(gpu);
  PairFigures found;
  if (gpus.size() < 2) return found;
  try {
    find_slowest_pair(found, model, gpus);
    find_bisection(found, model, gpus);
  } catch (PlanError const&) {
    // A figure is unknown, or some pair has no way; what was found until then stays.
  }
  return found;
}

}  // namespace

std::string evaluation_fingerprint(Machine const& machine) {
  Digest digest;
  digest.add(fingerprint(machine));
  auto const rate = [](std::optional<FlopPerSecond> const& value) { return value ? value->value() : 0; };
  Part const* last = nullptr;
  for (auto const gpu : machine.all(PciKind::Gpu)) {
    auto const* part = machine.part_of(gpu);
    if (part == nullptr || part == last) continue;
    last = part;
    auto const& figures = part->gpu;
    digest.add(fmt::format("{} {} {} {}", rate(figures.fp32_rate), rate(figures.fp16_rate), rate(figures.fp8_rate),
                           rate(figures.fp4_rate)));
  }
  return digest.text();
}

Machine Evaluator::machine(DesignCandidate const& candidate) {
  auto machine = candidate.source.empty()
                     ? catalogue_.machine(candidate.machine)
                     : catalogue_.machine_from(SourceText::from_memory(candidate.name, candidate.source));
  for (auto const& setting : candidate.settings) apply_setting(machine, setting, catalogue_);
  return machine;
}

Model const& Evaluator::whole_model(Subject const& subject) {
  if (!whole_model_ || whole_model_of_ != subject.fingerprint) {
    whole_model_.reset();
    whole_model_ = std::make_unique<Model>(subject.machine ? *subject.machine : machine(*subject.candidate));
    whole_model_of_ = subject.fingerprint;
  }
  return *whole_model_;
}

Model const& Evaluator::model(Subject const& subject) {
  if (subject.failures.empty()) return whole_model(subject);
  Digest digest;
  digest.add(subject.fingerprint);
  add_to(digest, subject.failures);
  if (auto const key = digest.text(); !model_ || model_of_ != key) {
    model_.reset();
    auto broken = whole_model(subject).machine();
    for (auto const& failure : subject.failures) apply_setting(broken, failure, catalogue_);
    model_ = std::make_unique<Model>(std::move(broken));
    model_of_ = key;
  }
  return *model_;
}

std::string Evaluator::fingerprint_of(std::string const& machine) {
  auto& known = fingerprints_[machine];
  if (known.empty()) known = evaluation_fingerprint(catalogue_.machine(machine));
  return known;
}

std::string Evaluator::key_of(std::string_view what, Subject const& subject, DesignJob const* job,
                              std::optional<Library> const& library, std::string_view detail) {
  Digest digest;
  digest.add(what);
  digest.add(subject.fingerprint);
  add_to(digest, subject.failures);
  if (job != nullptr) {
    digest.add(job->digest);
    auto const& workload = job->scenario.workload;
    if (workload && workload->compute.fitted && !workload->compute.fitted->machine.empty())
      digest.add(fingerprint_of(workload->compute.fitted->machine));
  }
  digest.add(library ? to_string(*library) : "best");
  digest.add(detail);
  return digest.text();
}

std::string Evaluator::add(Subject const& subject, DesignJob const& job, Approach const& approach,
                           EvaluationDetail const& detail, std::string_view detail_name) {
  auto key = key_of("figures", subject, &job, approach.library,
                    fmt::format("{}, {}, {}", approach.effort == Effort::Full ? "full effort" : "quick effort",
                                approach.make_executor ? "simulated" : "estimated", detail_name));
  items_.push_back({key, fmt::format("{}, {}, {}", subject.candidate->name, job.name, detail_name),
                    [this, subject, &job, approach, detail] {
                      auto const find = [this](std::string const& name) { return catalogue_.machine(name); };
                      return to_json(evaluate_job(job.scenario, model(subject), approach, find, detail));
                    }});
  return key;
}

std::string Evaluator::add_pairs(Subject const& subject) {
  auto key = key_of("pairs", subject, nullptr, {}, {});
  items_.push_back({key, fmt::format("{}, pairs", subject.candidate->name), [this, subject] {
                      auto const found = find_pairs(model(subject));
                      Json json = Json::object();
                      if (found.worst_pair_rate)
                        json = {{"pair", found.worst_pair}, {"rate_Bps", found.worst_pair_rate->value()}};
                      if (found.bisection) json["bisection_Bps"] = found.bisection->value();
                      return json;
                    }});
  return key;
}

std::string Evaluator::add_time(Subject const& subject, DesignJob const& job, std::optional<Library> const& library) {
  auto key = key_of("time", subject, &job, library, {});
  auto what = subject.candidate->name;
  for (auto const& failure : subject.failures) what += " " + text_of(failure);
  items_.push_back({key, what + ", " + job.name, [this, subject, &job, library]() -> Json {
                      Model const* broken = nullptr;
                      try {
                        broken = &model(subject);
                      } catch (InputError const& error) {
                        return {{"not_there", error.first_message()}};
                      }
                      JobEvaluation found;
                      auto const find = [this](std::string const& name) { return catalogue_.machine(name); };
                      try {
                        PlannedJob const planned(job.scenario, *broken, {.library = library}, find,
                                                 &whole_model(subject));
                        auto const time = planned.time(*broken);
                        found.figures.emplace().time = time;
                      } catch (PlanError const& error) {
                        found.failure = error.what();
                      } catch (InputError const& error) {
                        found.failure = error.first_message();
                      }
                      return to_json(found);
                    }});
  return key;
}

void Evaluator::run(std::string_view doing) {
  evaluate_missing(items_, store_, workers_, doing);
  items_.clear();
}

JobEvaluation Evaluator::evaluation(std::string const& key) const { return job_evaluation_from(*store_.find(key)); }

bool Evaluator::can_fail(std::string const& key) const { return !store_.find(key)->contains("not_there"); }

PairFigures Evaluator::pairs(std::string const& key) const {
  auto const& json = *store_.find(key);
  PairFigures found;
  if (json.contains("pair")) {
    found.worst_pair = json.at("pair").get<std::string>();
    found.worst_pair_rate = BytesPerSecond(json.at("rate_Bps").get<double>());
  }
  if (json.contains("bisection_Bps")) found.bisection = BytesPerSecond(json.at("bisection_Bps").get<double>());
  return found;
}

}  // namespace lanewise
