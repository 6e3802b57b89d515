#include "core/planner/job_set.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/estimate/estimate.hpp"
#include "core/io/json.hpp"
#include "core/machine/fingerprint.hpp"
#include "core/planner/collectives/plan_collective.hpp"

namespace lanewise {
namespace {

std::set<Place> places_of(Step const& step) { return {step.from, step.to}; }

// The steps of one job, and how they touch places.
struct JobSteps {
  std::vector<StepId> steps;
  std::map<Place, std::vector<StepId>> last;  // that touch a place behind all others of the job
  std::vector<StepId> ends;                   // that nothing of the job waits for
};

class JobSetAssembler {
 public:
  JobSetAssembler(Model const& model, JobSet const& job_set) : model_(model), workload_(job_set) {
    for (auto const& job : job_set.jobs)
      if (auto const* collective = std::get_if<Collective>(&job.what))
        collectives_.push_back(plan_collective(model, *collective));
  }

  // With the transfers as a plan of theirs says; nullptr where there are none.
  Plan plan(Plan const* transfers) {
    plan_ = transfers != nullptr ? *transfers : Plan{model_.machine().name, fingerprint(model_.machine()), {}, {}};
    for (auto& step : plan_.steps) step.after.clear();  // come again with the other jobs'
    laid_.assign(workload_.jobs.size(), {});
    std::size_t next = 0;
    for (std::size_t j = 0; j < workload_.jobs.size(); ++j) {
      auto const& job = workload_.jobs[j];
      if (std::holds_alternative<Collective>(job.what)) lay(j, collectives_[next++]);
      if (auto const* compute = std::get_if<Compute>(&job.what)) lay(j, *compute);
      if (std::holds_alternative<Request>(job.what))
        for (std::size_t s = 0; transfers != nullptr && s < transfers->steps.size(); ++s)
          if (plan_.steps[s].transfer == job.id) laid_[j].steps.push_back(StepId(s));
      find_ends(laid_[j]);
    }
    for (std::size_t j = 0; j < workload_.jobs.size(); ++j)
      for (auto const before : workload_.jobs[j].after) connect(laid_[before], laid_[j]);
    for (auto& step : plan_.steps) {
      std::sort(step.after.begin(), step.after.end());
      step.after.erase(std::unique(step.after.begin(), step.after.end()), step.after.end());
    }
    return std::move(plan_);
  }

 private:
  void lay(std::size_t job, Plan const& collective) {
    auto const& id = workload_.jobs[job].id;
    auto const first_step = plan_.steps.size();
    auto const first_buffer = plan_.buffers.size();
    plan_.collectives.push_back({id, *collective.collective, BufferId(first_buffer)});
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
      laid_[job].steps.push_back(StepId(plan_.steps.size()));
      plan_.steps.push_back(std::move(step));
    }
  }

  void lay(std::size_t job, Compute const& compute) {
    for (auto const& place : compute.on) {
      Step step{workload_.jobs[job].id, place, place, Bytes(0), Op::Copy, {}, {}};
      step.work = through_json(compute_time(model_, compute, place));
      laid_[job].steps.push_back(StepId(plan_.steps.size()));
      plan_.steps.push_back(std::move(step));
    }
  }

  [[nodiscard]] Step& at(StepId id) { return plan_.steps[index(id)]; }

  // So far a step waits for steps of its own job only.
  void find_ends(JobSteps& laid) {
    std::set<StepId> passed;                          // some other of the job waits for it
    std::set<std::pair<Place, StepId>> passed_there;  // and touches this place too
    for (auto const id : laid.steps)
      for (auto const before : at(id).after) {
        passed.insert(before);
        auto const touched = places_of(at(before));
        for (auto const& place : places_of(at(id)))
          if (touched.contains(place)) passed_there.emplace(place, before);
      }
    for (auto const id : laid.steps) {
      if (!passed.contains(id)) laid.ends.push_back(id);
      for (auto const& place : places_of(at(id)))
        if (!passed_there.contains({place, id})) laid.last[place].push_back(id);
    }
  }

  // Only the first of a job's steps need to wait: the others do so behind them.
  void connect(JobSteps const& before, JobSteps const& behind) {
    std::set<StepId> const own(behind.steps.begin(), behind.steps.end());
    auto const shared = [&](StepId id) {
      std::set<Place> places;
      for (auto const& place : places_of(at(id)))
        if (before.last.contains(place)) places.insert(place);
      return places;
    };
    std::vector<std::pair<StepId, StepId>> found;
    for (auto const id : behind.steps) {
      auto const here = shared(id);
      std::set<Place> waited;
      bool waited_for_all = false;
      for (auto const other : at(id).after) {
        if (!own.contains(other)) continue;
        auto const there = shared(other);
        waited.insert(there.begin(), there.end());
        waited_for_all = waited_for_all || there.empty();
      }
      for (auto const& place : here)
        if (!waited.contains(place))
          for (auto const last : before.last.at(place)) found.emplace_back(id, last);
      if (here.empty() && !waited_for_all)
        for (auto const end : before.ends) found.emplace_back(id, end);
    }
    for (auto const& [id, other] : found) at(id).after.push_back(other);
  }

  Model const& model_;
  JobSet const& workload_;
  std::vector<Plan> collectives_;  // in the order of the jobs
  Plan plan_;
  std::vector<JobSteps> laid_;
};

// The transfers with what they wait for among themselves, be it through other jobs.
std::vector<Request> requests_in(JobSet const& job_set) {
  std::vector<Request> requests;
  std::vector<std::set<std::size_t>> before(job_set.jobs.size());  // transfers, by their number among them
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

bool is_job_set(Plan const& plan) {
  return !plan.collectives.empty() ||
         std::any_of(plan.steps.begin(), plan.steps.end(), [](Step const& step) { return step.work > Seconds(0); });
}

Plan plan_job_set(Model const& model, JobSet const& job_set, Aim aim) {
  JobSetAssembler laying(model, job_set);
  auto const requests = requests_in(job_set);
  std::optional<Plan> best;
  Seconds least{0};
  // Transfers that are best together are not always so beside other work: the plan of each alone is weighed too.
  for (auto const how : {Objective::Each, aim.objective}) {
    if (best && (requests.empty() || aim.objective == Objective::Each)) break;
    auto const transfers = requests.empty() ? Plan{} : SetPlanner(model).plan(requests, {how, aim.effort});
    auto plan = laying.plan(requests.empty() ? nullptr : &transfers);
    auto const time = estimate(model, plan.steps).makespan;
    if (best && time >= least) break;
    best = std::move(plan);
    least = time;
  }
  best->verify(model.machine());
  return std::move(*best);
}

}  // namespace lanewise
