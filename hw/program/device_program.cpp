#include "hw/program/device_program.hpp"

#include <algorithm>
#include <map>

#include "core/plan/dag.hpp"
#include "core/plan/fused_kernel.hpp"
#include "hw/program/assign_blocks.hpp"
#include "hw/program/program_image.hpp"

namespace lanewise::hw {
namespace {

static_assert(kMaxProgramGpus == kMaxFusedKernelGpus);

// What a block's threads move at a time; a block with less to do is not fully used.
constexpr std::int64_t kBytesPerBlock = std::int64_t{512} * 16;

// Whether the target's GPU does the step: reads, and additions, which the GPU that keeps the sum does by loads.
bool runs_at_target(Step const& step) { return step.reduces || step.op == Op::Read; }

class ProgramLowering {
 public:
  explicit ProgramLowering(Plan const& plan)
      : plan_(plan), order_(topological_order(plan.steps)), level_(levels(dag_of_after(plan.steps))) {}

  DevicePrograms lower(std::uint32_t max_blocks) {
    for (auto const id : order_)
      if (!joins(id)) begin_task(id);
    find_waits();
    sort_by_level();
    assign_blocks(programs_.tasks, level_of_task_, max_blocks, kBytesPerBlock);
    return std::move(programs_);
  }

 private:
  struct Key {
    BufferId buffer;
    Bytes offset, bytes;
    friend auto operator<=>(Key const&, Key const&) = default;
  };
  static Key target_of(Step const& step) { return {step.writes->buffer, step.writes->offset, step.bytes}; }

  std::size_t gpu_of(Place const& place) {
    auto const found = std::find(programs_.gpus.begin(), programs_.gpus.end(), place);
    auto const position = static_cast<std::size_t>(found - programs_.gpus.begin());
    if (found == programs_.gpus.end()) programs_.gpus.push_back(place);
    return position;
  }

  void begin_task(StepId id) {
    auto const& step = plan_.steps[index(id)];
    auto const from = gpu_of(step.from);
    auto const to = gpu_of(step.to);
    Task task{runs_at_target(step) ? to : from, {id}, *step.writes, {*step.reads}, step.bytes, {}};
    if (step.reduces) task.sources.insert(task.sources.begin(), *step.writes);
    task_of_[id] = programs_.tasks.size();
    if (task.gpu == to) last_at_[target_of(step)] = programs_.tasks.size();
    programs_.tasks.push_back(std::move(task));
  }

  // A step that adds to what the last task left at the same place becomes part of that task, if everything else it
  // waits for is of a lower level than the task's first step. So a task only waits for tasks whose first step is of a
  // lower level than its own, and tasks cannot wait for one another in a circle.
  bool joins(StepId id) {
    auto const& step = plan_.steps[index(id)];
    auto const last = last_at_.find(target_of(step));
    if (!step.reduces || last == last_at_.end()) return false;
    auto& task = programs_.tasks[last->second];
    if (std::find(step.after.begin(), step.after.end(), task.steps.back()) == step.after.end()) return false;
    auto const first_level = level_[index(task.steps.front())];
    for (auto const before : step.after)
      if (before != task.steps.back() && level_[index(before)] >= first_level) return false;
    task.steps.push_back(id);
    task.sources.push_back(*step.reads);
    task_of_[id] = last->second;
    gpu_of(step.from);  // which may have no task of its own
    return true;
  }

  void find_waits() {
    for (std::size_t i = 0; i < programs_.tasks.size(); ++i) {
      auto& waits = programs_.tasks[i].waits;
      for (auto const id : programs_.tasks[i].steps)
        for (auto const before : plan_.steps[index(id)].after)
          if (task_of_[before] != i) waits.push_back(task_of_[before]);
      std::sort(waits.begin(), waits.end());
      waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
    }
  }

  // Sorts tasks by level. Levels are counted anew, because a task of several steps counts as one.
  void sort_by_level() {
    auto& tasks = programs_.tasks;
    std::vector<std::size_t> order(tasks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return level_[index(tasks[a].steps.front())] < level_[index(tasks[b].steps.front())];
    });
    auto const level = levels(Dag(tasks.size(), [&](auto const& add) {
      for (std::size_t i = 0; i < tasks.size(); ++i)
        for (auto const before : tasks[i].waits) add(before, i);
    }));
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return level[a] < level[b]; });
    std::vector<std::size_t> position(tasks.size());
    for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    std::vector<Task> sorted;
    for (auto const i : order) {
      sorted.push_back(std::move(tasks[i]));
      for (auto& before : sorted.back().waits) before = position[before];
      level_of_task_.push_back(level[i]);
    }
    tasks = std::move(sorted);
  }

  Plan const& plan_;
  std::vector<StepId> order_;
  std::vector<std::size_t> level_;  // by step: the length of the longest chain before it
  std::map<StepId, std::size_t> task_of_;
  std::map<Key, std::size_t> last_at_;  // the last task that writes there from the target's own GPU
  std::vector<std::size_t> level_of_task_;
  DevicePrograms programs_;
};

}  // namespace

std::vector<std::size_t> DevicePrograms::reached_by(Task const& task, std::vector<Buffer> const& buffers) const {
  std::vector<std::size_t> reached;
  auto const reach = [&](Region const& region) {
    auto const found = std::find(gpus.begin(), gpus.end(), buffers[index(region.buffer)].at);
    auto const gpu = static_cast<std::size_t>(found - gpus.begin());
    if (gpu != task.gpu && std::find(reached.begin(), reached.end(), gpu) == reached.end()) reached.push_back(gpu);
  };
  reach(task.target);
  for (auto const& source : task.sources) reach(source);
  return reached;
}

std::optional<std::string> why_streams(Plan const& plan, Machine const& machine) {
  if (!plan.collective) return "its steps share no buffers";
  for (auto const& step : plan.steps)
    if (auto why = why_not_fusible(step, machine)) return why;
  if (plan.collective->among.size() > kMaxProgramGpus) return "so many GPUs are too many for flags";
  auto const programs = lower(plan, 1);
  Addresses const anywhere{std::vector<std::uint64_t>(plan.buffers.size()),
                           std::vector<std::uint64_t>(programs.gpus.size())};
  for (std::size_t gpu = 0; gpu < programs.gpus.size(); ++gpu)
    if (image_of(programs, plan.buffers, gpu, anywhere).bytes.size() > kMaxProgramBytes)
      return "its programs would not fit a multiprocessor's shared memory";
  return std::nullopt;
}

DevicePrograms lower(Plan const& plan, std::uint32_t max_blocks) { return ProgramLowering(plan).lower(max_blocks); }

}  // namespace lanewise::hw
