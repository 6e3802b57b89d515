#pragma once
// One run of a plan as one process sees it. It posts the requests of the steps that it drives as soon as what they wait
// for has ended, takes what arrives, and notifies processes that wait for a step. One thread does all of this and never
// waits without a time limit.
//
// How a step's end becomes known: the last request on each of its queue pairs carries an immediate. Rings of chunks
// send one for every chunk, and their targets one for every chunk that they have taken. When a link fails, a step that
// was under way on it is sent again as a whole over the next of its links. The bytes are the same, so they may arrive
// twice.
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/dag_runner.hpp"
#include "hw/network/chunk_ring.hpp"
#include "hw/network/device_steps.hpp"
#include "hw/network/request_queues.hpp"
#include "hw/network/step_part.hpp"
#include "hw/network/transport.hpp"
#include "hw/nodes/group.hpp"

namespace lanewise::hw {

struct StepSpan {
  Seconds start{0};
  Seconds end{0};
};

// A run in which nothing moves for this long is lost. A NIC's retries take less.
inline constexpr Seconds kStallLimit{20};

class NetworkRun {
 public:
  // `plan`, `layout`, `transport` and `group` must outlive this. `parts`: by step. Throws PlanError when the plan has
  // more steps than an immediate can number.
  // `devices`: the steps of this node's GPUs; nullptr: it has none.
  NetworkRun(NetworkPlan const& plan, Layout const& layout, std::vector<StepPart> parts, MessageTransport& transport,
             Group& group, DeviceSteps* devices = nullptr, Seconds stall_limit = kStallLimit);

  // Posts the receives of a run. Must be called before every run, by all processes before any of them begins.
  void prepare();
  // Runs the plan, beginning when this process's clock shows `release`. Returns the spans from then on; those of steps
  // that this process drives count. Throws DeviceError naming step, NIC and queue pair when a step cannot be done, and
  // Interrupted.
  std::vector<StepSpan> once(Seconds release);
  // Failures that the run worked around.
  [[nodiscard]] std::vector<std::string> const& faults() const { return faults_; }

 private:
  struct StepState {
    std::size_t link = 0;           // index into the step's links: the one it uses
    int unacknowledged_queues = 0;  // queue pairs whose last request is not acknowledged
    int arrived_queues = 0;         // queue pairs whose last message has arrived
    bool completed = false;
    std::optional<ChunkRing> ring;
    std::int64_t additions_before = 0;  // that the copier of its target had made
    StepSpan span;
  };

  void post_message_receives();
  void on_step_ready(StepId id);
  void start_ready();
  void start(std::size_t step);
  void copy_locally(std::size_t step);
  void begin_addition(std::size_t step);
  void send(std::size_t step);
  void enqueue_messages(std::size_t number, int queues, Notification notification);
  [[nodiscard]] std::optional<std::size_t> usable_link(std::size_t step) const;
  void notify(std::size_t step, int listener);

  bool poll();
  void on_acknowledged(PendingRequest const& request);
  void on_notification(WorkCompletion const& completion);
  void complete(std::size_t step);

  bool poll_devices();
  void release_devices(std::size_t ended);
  bool finish_additions();
  bool advance_rings();
  bool advance_source_ring(std::size_t step);
  bool advance_target_ring(std::size_t step);

  void on_link_failure(LinkId link, std::string const& problem);
  void send_again(std::size_t number, std::string const& problem);
  [[nodiscard]] bool finished() const;
  void check_for_stall(bool moved);
  [[nodiscard]] bool waits_for_network_alone() const;
  [[nodiscard]] std::string first_incomplete() const;

  [[nodiscard]] bool drives(std::size_t step) const { return layout_.steps[step].driver == rank_; }
  [[nodiscard]] bool receives(std::size_t step) const {
    return layout_.steps[step].target == rank_ && layout_.steps[step].driver != rank_;
  }

  NetworkPlan const& plan_;
  Layout const& layout_;
  std::vector<StepPart> parts_;
  MessageTransport& transport_;
  Group& group_;
  int rank_;
  Seconds stall_limit_;
  RequestQueues queues_;
  DeviceSteps* devices_;
  // Of the GPUs' steps: each one's number in the node's plan, how many steps outside it each one waits for, and by step
  // those that wait for it.
  std::vector<std::optional<StepId>> device_step_;
  std::vector<std::size_t> steps_of_devices_;  // the number in the plan of each step of the node's plan
  std::vector<std::size_t> waits_outside_, left_outside_;
  std::vector<std::vector<std::size_t>> device_waiters_;
  std::optional<DagRunner> runner_;
  std::deque<std::size_t> ready_;
  std::vector<StepState> states_;
  std::vector<std::size_t> rings_;      // steps whose chunks this process moves now
  std::vector<std::size_t> additions_;  // steps that have been fetched and are added now
  std::vector<StepId> ended_;           // of the GPUs' steps, at the last poll
  std::vector<std::string> faults_;
  std::vector<WorkCompletion> completions_;
  Seconds release_{0};
  Seconds last_moved_{0};    // when something last moved, as of the last check
  Seconds last_checked_{0};  // when the other processes and the user were last asked
  bool moved_since_check_ = false;
  bool has_ended_ = false;  // nothing is left to do here; others may need this process still
  int idle_rounds_ = 0;
  int unacknowledged_notifications_ = 0;
  int incomplete_ = 0;  // steps that this process drives or receives
  int next_queue_ = 0;
};

}  // namespace lanewise::hw
