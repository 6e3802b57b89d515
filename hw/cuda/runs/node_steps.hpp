#pragma once
// The steps of a node's GPUs in a plan of several nodes, carried out by CUDA streams. A stream waits for the host by a
// word in pinned memory, and tells the host of a step's end by another, so neither calls the driver in between.
//
// No stream waits for what is enqueued behind it, though several share a hardware queue: all processes enqueue in one
// order of the whole plan, in which a step comes after all that it waits for, on other nodes too.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hw/cuda/memory/host_flag.hpp"
#include "hw/cuda/memory/shared_buffers.hpp"
#include "hw/cuda/moves/links.hpp"
#include "hw/cuda/runs/step_builder.hpp"
#include "hw/network/device_steps.hpp"
#include "hw/program/stream_assignment.hpp"
#include "hw/storage/drives.hpp"

namespace lanewise::hw {

class NodeGpuSteps : public DeviceSteps {
 public:
  NodeGpuSteps(DeviceWork work, std::optional<int> first_gpu);
  NodeGpuSteps(NodeGpuSteps const&) = delete;
  NodeGpuSteps& operator=(NodeGpuSteps const&) = delete;
  ~NodeGpuSteps() override;

  void prepare() override;
  void start() override;
  void release(StepId step) override;
  void poll(std::vector<StepId>& ended) override;
  void check() override;
  [[nodiscard]] std::vector<std::string> mismatches() const override;

 private:
  struct RunStep {
    PreparedStep prepared;
    Event end;  // where steps of other streams wait for it
  };

  [[nodiscard]] std::vector<Step> const& steps() const { return work_.steps.plan.steps; }
  void create_streams(std::vector<int> const& device_of_step);
  void enqueue_more();
  [[nodiscard]] bool may_enqueue(StepId id) const;
  void enqueue(StepId id);
  void flush_writes_of_nics() const;
  void wait_for_word(std::size_t word, cudaStream_t stream) const;
  void write_word(std::size_t word, cudaStream_t stream) const;

  // Words: the start, then for each step "go" and for each step "done".
  static constexpr std::size_t kStart = 0;
  [[nodiscard]] static std::size_t go(StepId id) { return 1 + index(id); }
  [[nodiscard]] std::size_t done(StepId id) const { return 1 + steps().size() + index(id); }

  DeviceWork work_;
  Model model_;
  std::unique_ptr<Devices> devices_;
  Drives drives_;
  std::optional<SharedBuffers> shared_;
  std::optional<Links> links_;
  std::optional<PlanDrives> plan_drives_;
  std::vector<RunStep> run_steps_;
  std::vector<StreamStep> stream_steps_;
  StreamAssignment assignment_;
  std::vector<Stream> streams_;
  std::optional<HostFlags> flags_;
  void* wait_value_ = nullptr;   // the driver's cuStreamWaitValue32, where it has one
  void* write_value_ = nullptr;  // and its cuStreamWriteValue32
  std::uint32_t epoch_ = 0;
  std::size_t next_ = 0;                // of work_.order: the first that is not enqueued
  std::vector<StepId> under_way_;       // enqueued, and not known to have ended
  std::vector<std::size_t> in_stream_;  // the commands of those, by stream
  std::vector<bool> released_;          // by step: nothing outside the plan holds it back
  std::vector<bool> ended_;             // by step
  std::vector<Device> unordered_;       // devices whose memory a NIC's writes reach in no order with a stream's work
};

}  // namespace lanewise::hw
