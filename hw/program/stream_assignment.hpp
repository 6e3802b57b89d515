#pragma once
// Which CUDA stream carries each step of a plan, and which steps wait for an event: plain values, decided before any
// CUDA object exists.
//
//   auto const steps = stream_steps(plan.steps, model, devices);   // devices[i]: the one whose stream carries step i
//   auto const assignment = assign_streams(steps, topological_order(plan.steps));
#include <cstddef>
#include <optional>
#include <vector>

#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise::hw {

// A stream beyond the hardware's queues waits behind another stream's work. There are 32 queues with
// CUDA_DEVICE_MAX_CONNECTIONS=32; the release gate, the default stream and streams of threads need some of them.
inline constexpr std::size_t kMaxStreamsPerDevice = 24;

// What the assignment needs to know of a step.
struct StreamStep {
  int device = 0;                              // the CUDA device whose stream carries it
  std::vector<StepId> waits_for;               // steps that must have ended before it begins
  std::optional<EngineId> serial_peer_engine;  // the single-slot engine for peer copies that a first step needs
};

struct StepStream {
  std::size_t stream = 0;                // index into StreamAssignment::device_of_stream
  std::vector<StepId> awaited_events{};  // of waits_for, those in other streams
  // The step before it in its stream, where it waits for nothing else: that step's end is its start.
  std::optional<StepId> continues{};
  bool ends_stream = true;  // nothing follows in its stream
  bool is_awaited = false;  // by a step in another stream
};

struct StreamAssignment {
  std::vector<int> device_of_stream;
  std::vector<StepStream> steps;
  bool has_consecutive_steps = false;  // some stream carries more than one step
};

// The steps of a plan as assign_streams() takes them.
std::vector<StreamStep> stream_steps(std::vector<Step> const& steps, Model const& model,
                                     std::vector<int> const& devices);

// Assigns steps in the order given, in which no step stands before one that it waits for:
// - A step continues in the stream of the first step it waits for that is on its device and that no other step has
//   continued yet: successors in one stream need no event.
// - Copies to peers that wait for nothing and need the same single-slot engine share one stream, in the plan's order.
// In
//   streams of their own the engine would take them in any order.
// - Every other step gets a new stream of its device, and once a device has `max_streams` of them, those in turn.
StreamAssignment assign_streams(std::vector<StreamStep> const& steps, std::vector<StepId> const& order,
                                std::size_t max_streams = kMaxStreamsPerDevice);

}  // namespace lanewise::hw
