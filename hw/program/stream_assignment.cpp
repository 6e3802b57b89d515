#include "hw/program/stream_assignment.hpp"

#include <map>
#include <set>
#include <utility>

#include "core/estimate/demands.hpp"
#include "core/rules/conditions.hpp"

namespace lanewise::hw {
namespace {

// The engine for copies to peers that a step holds, where its GPU's part has such an engine with a single slot.
std::optional<EngineId> serial_peer_engine(Step const& step, Model const& model) {
  auto const& resources = model.resources();
  auto const gpu = gpu_at(model.machine(), step.from);
  if (!gpu || resources.peer_copy_engines(*gpu) == resources.copy_engines(*gpu)) return std::nullopt;
  auto const engine = resources.peer_copy_engines(*gpu);
  auto const demand = demand_of(model, step);
  bool const only = demand.engines.size() == 1 && *demand.engines.begin() == engine && resources.at(engine).slots == 1;
  return only ? std::optional(engine) : std::nullopt;
}

class StreamAssigner {
 public:
  StreamAssigner(std::vector<StreamStep> const& steps, std::vector<StepId> const& order, std::size_t max_streams)
      : steps_(steps), order_(order), max_streams_(max_streams) {
    assignment_.steps.resize(steps.size());
  }

  StreamAssignment assign() {
    for (auto const id : order_) {
      auto stream = stream_of_predecessor(id);
      if (!stream) stream = stream_of_peer_engine(id);
      assigned(id).stream = stream ? *stream : new_stream(steps_[index(id)].device);
    }
    find_neighbours();
    return std::move(assignment_);
  }

 private:
  StepStream& assigned(StepId id) { return assignment_.steps[index(id)]; }

  std::optional<std::size_t> stream_of_predecessor(StepId id) {
    auto const& step = steps_[index(id)];
    for (auto const before : step.waits_for) {
      if (steps_[index(before)].device != step.device || !continued_.insert(before).second) continue;
      if (step.waits_for.size() == 1) assigned(id).continues = before;
      return assigned(before).stream;
    }
    return std::nullopt;
  }

  std::optional<std::size_t> stream_of_peer_engine(StepId id) {
    auto const& step = steps_[index(id)];
    if (!step.serial_peer_engine || !step.waits_for.empty()) return std::nullopt;
    auto const [last, is_first] = last_on_engine_.try_emplace(*step.serial_peer_engine, id);
    if (is_first) return std::nullopt;
    auto const before = std::exchange(last->second, id);
    if (steps_[index(before)].device != step.device) return std::nullopt;
    assigned(id).continues = before;
    continued_.insert(before);
    return assigned(before).stream;
  }

  std::size_t new_stream(int device) {
    auto& [streams, next] = streams_of_[device];
    if (streams.size() == max_streams_) return streams[next++ % max_streams_];
    streams.push_back(assignment_.device_of_stream.size());
    assignment_.device_of_stream.push_back(device);
    return streams.back();
  }

  void find_neighbours() {
    std::map<std::size_t, StepId> last_in;
    for (auto const id : order_) {
      auto& step = assigned(id);
      auto const [last, is_first] = last_in.try_emplace(step.stream, id);
      if (!is_first) {
        assigned(std::exchange(last->second, id)).ends_stream = false;
        assignment_.has_consecutive_steps = true;
      }
      for (auto const before : steps_[index(id)].waits_for) {
        if (assigned(before).stream == step.stream) continue;
        step.awaited_events.push_back(before);
        assigned(before).is_awaited = true;
      }
    }
  }

  // The streams of a device, and which of them the next step takes once there are no more to be had.
  struct DeviceStreams {
    std::vector<std::size_t> streams;
    std::size_t next = 0;
  };

  std::vector<StreamStep> const& steps_;
  std::vector<StepId> const& order_;
  std::size_t max_streams_;
  StreamAssignment assignment_;
  std::set<StepId> continued_;  // steps whose stream another step has taken over
  std::map<EngineId, StepId> last_on_engine_;
  std::map<int, DeviceStreams> streams_of_;  // by device
};

}  // namespace

std::vector<StreamStep> stream_steps(std::vector<Step> const& steps, Model const& model,
                                     std::vector<int> const& devices) {
  std::vector<StreamStep> found;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    StreamStep step{devices[i], steps[i].after, std::nullopt};
    step.waits_for.insert(step.waits_for.end(), steps[i].order_only.begin(), steps[i].order_only.end());
    if (step.waits_for.empty()) step.serial_peer_engine = serial_peer_engine(steps[i], model);
    found.push_back(std::move(step));
  }
  return found;
}

StreamAssignment assign_streams(std::vector<StreamStep> const& steps, std::vector<StepId> const& order,
                                std::size_t max_streams) {
  return StreamAssigner(steps, order, max_streams).assign();
}

}  // namespace lanewise::hw
