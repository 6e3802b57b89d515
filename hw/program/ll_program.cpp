#include "hw/program/ll_program.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/plan/dag.hpp"
#include "core/plan/ll_protocol.hpp"
#include "core/rules/conditions.hpp"
#include "hw/program/assign_blocks.hpp"
#include "hw/program/ll_layout.hpp"

namespace lanewise::hw {
namespace {

constexpr auto kElement = kLLElement.value();
constexpr std::int64_t kBytesPerLLBlock = 512 * kElement;  // one element a thread
// A GPU has at most one task for each step that it sends or receives; a task has at most four addresses.
static_assert(kMaxLLTasks >= kMaxLLSteps && kMaxLLAddresses >= 4 * kMaxLLSteps);

ElementRange source_of(Step const& step) { return {step.reads->buffer, step.reads->offset, step.bytes}; }
ElementRange target_of(Step const& step) { return {step.writes->buffer, step.writes->offset, step.bytes}; }
Region region_of(ElementRange const& cell) { return {cell.buffer, cell.offset}; }

class LLLowering {
 public:
  LLLowering(Plan const& plan, Machine const& machine) : plan_(plan), machine_(machine) {}

  std::optional<LLPrograms> lower(std::uint32_t max_blocks) {
    if (!plan_.collective || !uses_ll_protocol(plan_.steps) || !are_on_gpus()) return std::nullopt;
    assign_ll_memory();
    receiver_.resize(plan_.steps.size());
    for (auto const id : topological_order(plan_.steps))
      if (!add_step(id)) return std::nullopt;
    finish(max_blocks);
    return std::move(programs_);
  }

 private:
  [[nodiscard]] bool are_on_gpus() const {
    return std::all_of(plan_.steps.begin(), plan_.steps.end(),
                       [&](Step const& step) { return gpu_at(machine_, step.from) && gpu_at(machine_, step.to); });
  }

  void assign_ll_memory() {
    programs_.ll_offsets.resize(plan_.steps.size());
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      auto const& step = plan_.steps[i];
      auto const to = gpu_of(step.to);
      if (step.from == step.to) continue;
      gpu_of(step.from);
      programs_.ll_offsets[i] = programs_.ll_bytes[to];
      programs_.ll_bytes[to] += step.bytes * 2;
    }
  }
  std::size_t gpu_of(Place const& place) {
    auto const found = std::find(programs_.gpus.begin(), programs_.gpus.end(), place);
    auto const position = static_cast<std::size_t>(found - programs_.gpus.begin());
    if (found == programs_.gpus.end()) {
      programs_.gpus.push_back(place);
      programs_.ll_bytes.emplace_back();
    }
    return position;
  }

  // How a range of elements was used so far.
  struct Uses {
    std::optional<std::size_t> producer;  // the task that wrote it last
    std::optional<std::size_t> sender;    // the task that sends its initial content
    bool read_here = false;               // its initial content goes into another range of its GPU
  };

  // Adds the step to the tasks. False where LL cannot do it.
  bool add_step(StepId id) {
    auto const& step = plan_.steps[index(id)];
    if (step.from == step.to) return add_local_step(id);
    auto& source = uses_[source_of(step)];
    if (!source.producer && !source.sender) {
      source.sender = begin_task(step.from, step.bytes);
      programs_.tasks[*source.sender].reads.push_back(region_of(source_of(step)));
    }
    programs_.tasks[source.producer.value_or(source.sender.value_or(0))].sends.push_back(id);
    auto& target = uses_[target_of(step)];
    if (step.reduces && target.producer && programs_.tasks[*target.producer].sends.empty()) {
      receive(*target.producer, id);
      return true;
    }
    // Overwriting is safe only when what arrives was computed from what every earlier reader sent: then each of them
    // has read the element before.
    if (target.read_here || (step.reduces && target.producer)) return false;
    if (target.producer && !depends_on_all(programs_.tasks[*target.producer].sends, id)) return false;
    if (target.producer && programs_.tasks[*target.producer].sends.empty()) return false;
    if (target.sender && !depends_on_all(programs_.tasks[*target.sender].sends, id)) return false;
    auto const task = begin_task(step.to, step.bytes);
    if (step.reduces) programs_.tasks[task].reads.push_back(region_of(target_of(step)));
    programs_.tasks[task].writes = region_of(target_of(step));
    receive(task, id);
    // The previous content is only sent on: storing it here too would race with this task's store.
    if (target.producer) programs_.tasks[*target.producer].writes.reset();
    target = {task, {}, false};
    return true;
  }

  // A step within one GPU.
  bool add_local_step(StepId id) {
    auto const& step = plan_.steps[index(id)];
    auto& source = uses_[source_of(step)];
    auto& target = uses_[target_of(step)];
    if (source.producer || target.sender || target.read_here) return false;
    source.read_here = true;
    bool const joins = step.reduces && target.producer && programs_.tasks[*target.producer].sends.empty();
    if (target.producer && !joins) return false;
    if (!joins) {
      target.producer = begin_task(step.to, step.bytes);
      auto& task = programs_.tasks[*target.producer];
      task.writes = region_of(target_of(step));
      if (step.reduces) task.reads.push_back(region_of(target_of(step)));
    }
    auto& task = programs_.tasks[*target.producer];
    task.reads.push_back(region_of(source_of(step)));
    task.steps.push_back(id);
    return true;
  }

  std::size_t begin_task(Place const& place, Bytes bytes) {
    auto& task = programs_.tasks.emplace_back();
    task.gpu = gpu_of(place);
    task.bytes = bytes;
    return programs_.tasks.size() - 1;
  }
  void receive(std::size_t task, StepId id) {
    programs_.tasks[task].receives.push_back(id);
    programs_.tasks[task].steps.push_back(id);
    receiver_[index(id)] = task;
  }

  // Whether what `last` carries was computed from what each of these steps carried.
  [[nodiscard]] bool depends_on_all(std::vector<StepId> const& steps, StepId last) const {
    return std::all_of(steps.begin(), steps.end(), [&](StepId step) { return depends_on(step, last); });
  }
  [[nodiscard]] bool depends_on(StepId step, StepId last) const {
    auto const task = receiver_[index(step)];
    if (!task) return false;
    auto const& sends = programs_.tasks[*task].sends;
    return std::any_of(sends.begin(), sends.end(), [&](StepId next) { return next == last || depends_on(next, last); });
  }

  void finish(std::uint32_t max_blocks) {
    auto& tasks = programs_.tasks;
    std::vector<std::size_t> sender(plan_.steps.size());
    for (std::size_t i = 0; i < tasks.size(); ++i)
      for (auto const id : tasks[i].sends) sender[index(id)] = i;
    auto const level = levels(Dag(tasks.size(), [&](auto const& add) {
      for (std::size_t i = 0; i < tasks.size(); ++i)
        for (auto const id : tasks[i].receives) add(sender[index(id)], i);
    }));
    std::vector<std::size_t> order(tasks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return level[a] < level[b]; });
    std::vector<LLTask> sorted;
    std::vector<std::size_t> sorted_levels;
    for (auto const i : order) {
      sorted_levels.push_back(level[i]);
      sorted.push_back(std::move(tasks[i]));
    }
    tasks = std::move(sorted);
    assign_blocks(tasks, sorted_levels, max_blocks, kBytesPerLLBlock);
  }

  Plan const& plan_;
  Machine const& machine_;
  std::map<ElementRange, Uses> uses_;
  std::vector<std::optional<std::size_t>> receiver_;  // by step: the task that receives its data
  LLPrograms programs_;
};

}  // namespace

LLProgram pack(LLPrograms const& programs, Plan const& plan, std::size_t gpu, LLAddresses const& addresses) {
  LLProgram program;
  std::uint16_t end = 0;
  auto const add = [&](std::uint64_t address) { program.address[end++] = address; };
  auto const memory = [&](Region const& region) {
    add(addresses.buffers.at(index(region.buffer)) + static_cast<std::uint64_t>(region.offset.value()));
  };
  auto const ll_memory = [&](StepId id) {
    auto const to = std::find(programs.gpus.begin(), programs.gpus.end(), plan.steps[index(id)].to);
    auto const first = addresses.ll_memory.at(static_cast<std::size_t>(to - programs.gpus.begin()));
    add((first + static_cast<std::uint64_t>(programs.ll_offsets[index(id)].value())) | kLLAddressBit);
  };
  for (std::size_t i = 0; i < programs.tasks.size(); ++i) {
    auto const& task = programs.tasks[i];
    if (task.gpu != gpu) continue;
    auto& packed = program.task[program.tasks++];
    packed.id = static_cast<std::uint32_t>(i);
    packed.count = static_cast<std::uint32_t>(task.bytes.value() / kElement);
    packed.first_block = static_cast<std::uint16_t>(task.first_block);
    packed.blocks = static_cast<std::uint16_t>(task.blocks);
    packed.first_input = end;
    for (auto const& region : task.reads) memory(region);
    for (auto const id : task.receives) ll_memory(id);
    packed.inputs = static_cast<std::uint16_t>(end - packed.first_input);
    packed.first_output = end;
    if (task.writes) memory(*task.writes);
    for (auto const id : task.sends) ll_memory(id);
    packed.outputs = static_cast<std::uint16_t>(end - packed.first_output);
  }
  return program;
}

std::optional<LLPrograms> ll_programs(Plan const& plan, Machine const& machine, std::uint32_t max_blocks) {
  if (plan.steps.empty()) return std::nullopt;
  return LLLowering(plan, machine).lower(max_blocks);
}

}  // namespace lanewise::hw
