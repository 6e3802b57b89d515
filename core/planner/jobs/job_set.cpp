#include "lanewise/planner/jobs/job_set.hpp"

#include <algorithm>
#include <limits>
#include <list>
#include <map>
#include <set>

#include "core/io/json.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/machine/fingerprint.hpp"
#include "lanewise/planner/libraries/library.hpp"
#include "lanewise/planner/search/set_planner.hpp"

namespace lanewise {
namespace {

std::set<Place> places_of(Step const& step) { return {step.from, step.to}; }

// The steps of one job, and those that a later job waits for.
struct JobSteps {
  std::vector<StepId> steps;
  std::map<Place, std::vector<StepId>> last_at;  // steps that no other step of the job at the place waits for
  std::vector<StepId> ends;                      // steps that no other step of the job waits for
};

// Assembles one plan from those of the jobs.
class JobSetAssembler {
 public:
  // `library`: plans the collectives; nullopt: as well as possible.
  JobSetAssembler(CollectivePlanner& collectives, JobSet const& job_set, std::optional<Library> const& library)
      : model_(collectives.model()), job_set_(job_set) {
    for (auto const& job : job_set.jobs)
      if (auto const* collective = std::get_if<Collective>(&job.what))
        collectives_.push_back(library ? &library_plans_.emplace_back(plan_by_library(model_, *collective, *library))
                                       : &collectives.best(*collective));
  }

  // `transfers`: their plan; nullptr if there are none.
  Plan assemble(Plan const* transfers) {
    plan_ = transfers != nullptr ? *transfers : Plan{model_.machine().name, fingerprint(model_.machine()), {}, {}};
    for (auto& step : plan_.steps) step.after.clear();  // added again below with those of other jobs
    job_steps_.assign(job_set_.jobs.size(), {});
    std::size_t next = 0;
    for (std::size_t j = 0; j < job_set_.jobs.size(); ++j) {
      auto const& job = job_set_.jobs[j];
      if (std::holds_alternative<Collective>(job.what)) add_steps(j, *collectives_[next++]);
      if (auto const* compute = std::get_if<Compute>(&job.what)) add_steps(j, *compute);
      if (std::holds_alternative<Request>(job.what))
        for (std::size_t s = 0; transfers != nullptr && s < transfers->steps.size(); ++s)
          if (plan_.steps[s].transfer == job.id) job_steps_[j].steps.push_back(StepId(s));
      find_ends(job_steps_[j]);
    }
    for (std::size_t j = 0; j < job_set_.jobs.size(); ++j)
      for (auto const before : job_set_.jobs[j].after) connect(job_steps_[before], job_steps_[j]);
    for (auto& step : plan_.steps) {
      std::sort(step.after.begin(), step.after.end());
      step.after.erase(std::unique(step.after.begin(), step.after.end()), step.after.end());
    }
    return std::move(plan_);
  }

 private:
  void add_steps(std::size_t job, Plan const& collective) {
    auto const& id = job_set_.jobs[job].id;
    auto const first_step = plan_.steps.size();
    auto const first_buffer = plan_.buffers.size();
    // A library keeps its buffers to itself.
    if (!collective.buffers.empty()) plan_.collectives.push_back({id, *collective.collective, BufferId(first_buffer)});
    for (auto const& buffer : collective.buffers) {
      plan_.buffers.push_back(buffer);
      plan_.buffers.back().name = id + "." + buffer.name;
    }
    for (auto step : collective.steps) {
      step.transfer = id;
      for (auto* list : {&step.after, &step.order_only})
        for (auto& before : *list) before = StepId(index(before) + first_step);
      for (auto* region : {&step.reads, &step.writes})
        if (*region) (*region)->buffer = BufferId(index((*region)->buffer) + first_buffer);
      job_steps_[job].steps.push_back(StepId(plan_.steps.size()));
      plan_.steps.push_back(std::move(step));
    }
  }

  void add_steps(std::size_t job, Compute const& compute) {
    for (auto const& place : compute.on) {
      Step step{job_set_.jobs[job].id, place, place, Bytes(0), Op::Copy, {}, {}};
      step.work = through_json(compute_time(model_, compute, place));
      job_steps_[job].steps.push_back(StepId(plan_.steps.size()));
      plan_.steps.push_back(std::move(step));
    }
  }

  [[nodiscard]] Step& at(StepId id) { return plan_.steps[index(id)]; }

  // While steps wait only for steps of their own job.
  void find_ends(JobSteps& job) {
    std::set<StepId> has_successor;                          // in the job
    std::set<std::pair<Place, StepId>> has_successor_there;  // that also uses this place
    for (auto const id : job.steps)
      for (auto const before : at(id).after) {
        has_successor.insert(before);
        auto const used_before = places_of(at(before));
        for (auto const& place : places_of(at(id)))
          if (used_before.contains(place)) has_successor_there.emplace(place, before);
      }
    for (auto const id : job.steps) {
      if (!has_successor.contains(id)) job.ends.push_back(id);
      for (auto const& place : places_of(at(id)))
        if (!has_successor_there.contains({place, id})) job.last_at[place].push_back(id);
    }
  }

  // Makes the steps of one job wait for another. Steps that wait for a step of their own job that does so need not.
  void connect(JobSteps const& before, JobSteps const& behind) {
    std::set<StepId> const own(behind.steps.begin(), behind.steps.end());
    auto const shared_places = [&](StepId id) {
      std::set<Place> places;
      for (auto const& place : places_of(at(id)))
        if (before.last_at.contains(place)) places.insert(place);
      return places;
    };
    std::vector<std::pair<StepId, StepId>> found;
    for (auto const id : behind.steps) {
      auto const here = shared_places(id);
      std::set<Place> waited;
      bool waited_for_all = false;
      for (auto const other : at(id).after) {
        if (!own.contains(other)) continue;
        auto const there = shared_places(other);
        waited.insert(there.begin(), there.end());
        waited_for_all = waited_for_all || there.empty();
      }
      for (auto const& place : here)
        if (!waited.contains(place))
          for (auto const last : before.last_at.at(place)) found.emplace_back(id, last);
      if (here.empty() && !waited_for_all)
        for (auto const end : before.ends) found.emplace_back(id, end);
    }
    for (auto const& [id, other] : found) at(id).after.push_back(other);
  }

  Model const& model_;
  JobSet const& job_set_;
  std::list<Plan> library_plans_;
  std::vector<Plan const*> collectives_;  // in the order of the jobs
  Plan plan_;
  std::vector<JobSteps> job_steps_;
};

// The transfers of a job set. `after`: the transfers that each waits for, directly or through other jobs.
std::vector<Request> requests_in(JobSet const& job_set) {
  std::vector<Request> requests;
  std::vector<std::set<std::size_t>> before(job_set.jobs.size());  // the transfers before each job, by position
  for (std::size_t j = 0; j < job_set.jobs.size(); ++j) {
    auto const& job = job_set.jobs[j];
    for (auto const other : job.after) before[j].insert(before[other].begin(), before[other].end());
    auto const* request = std::get_if<Request>(&job.what);
    if (request == nullptr) continue;
    requests.push_back(*request);
    requests.back().id = job.id;
    requests.back().after.assign(before[j].begin(), before[j].end());
    before[j] = {requests.size() - 1};
  }
  return requests;
}

}  // namespace

Plan plan_job_set(Model const& model, JobSet const& job_set, Aim aim) {
  CollectivePlanner collectives(model, Keep::Best, Detail::EveryStep);
  return JobSetPlanner(collectives, job_set, aim).plan();
}

Plan JobSetPlanner::plan_with(std::string const& job, Collective const& collective) {
  auto changed = job_set_;
  for (auto& candidate : changed.jobs)
    if (candidate.id == job) candidate.what = collective;
  return plan_of(changed);
}

Plan JobSetPlanner::plan_of(JobSet const& job_set) {
  auto const& model = collectives_.model();
  JobSetAssembler assembler(collectives_, job_set, aim_.library);
  auto const requests = requests_in(job_set);
  if (requests.empty()) {
    auto plan = assembler.assemble(nullptr);
    plan.verify(model.machine());
    return plan;
  }
  std::optional<Plan> best;
  Seconds least{std::numeric_limits<double>::infinity()};
  // The best plan of the transfers together is not always the best beside other work, so the plan of each alone is
  // tried too.
  for (auto const objective : {Objective::Each, aim_.objective}) {
    if (best && aim_.objective == Objective::Each) break;
    auto plan = assembler.assemble(&transfers(requests, objective));
    auto const time = makespan_below(least, model, plan.steps);
    if (best && !time) break;
    best = std::move(plan);
    least = *time;
  }
  best->verify(model.machine());
  return std::move(*best);
}

Plan const& JobSetPlanner::transfers(std::vector<Request> const& requests, Objective objective) {
  auto const known = transfers_.find(objective);
  if (known != transfers_.end()) return known->second;
  auto plan = SetPlanner(collectives_.model()).plan(requests, {objective, aim_.effort});
  return transfers_.emplace(objective, std::move(plan)).first->second;
}

}  // namespace lanewise
