#pragma once
// One run of a plan as one process sees it: asks the NICs for the steps that it drives as soon as what they wait for is
// done, takes what arrives, tells those who wait elsewhere. One thread, which never waits for anything without a bound.
//
// What announces a step: the last request on each of its queue pairs carries an immediate. Rings of chunks announce
// every chunk, and their receivers every chunk that they have taken. Where a link fails, a step that was under way on
// it is sent once more, whole, over the next of its links; its bytes are the same, so it may land twice.
#include <deque>
#include <set>

#include "core/plan/dag_runner.hpp"
#include "hw/memory/memory.hpp"
#include "hw/nodes/group.hpp"
#include "hw/verbs/transport.hpp"

namespace lanewise::hw {

// The two ends of a step over one of its links, as its driver addresses them.
struct LinkEndpoints {
  std::byte* local = nullptr;
  std::uint32_t local_key = 0;
  std::uint64_t remote = 0;
  std::uint32_t remote_key = 0;
};

// What this process has of a step.
struct StepPart {
  std::vector<LinkEndpoints> tracks;  // of its driver: one a link. Of who receives messages: one, without a remote end
  Memory* source = nullptr;           // where it is of this process
  Memory* target = nullptr;
  std::byte* ring = nullptr;  // where this end has one
};

struct StepSpan {
  Seconds start{0};
  Seconds end{0};
};

// A run in which nothing at all moves for so long is lost: longer than any retries of a NIC take.
inline constexpr Seconds kStallLimit{20};

class NetworkRun {
 public:
  NetworkRun(NetworkPlan const& plan, Layout const& layout, std::vector<StepPart> parts, MessageTransport& transport,
             Group& group, Seconds stall_limit = kStallLimit);

  // Before every run: what may arrive is expected. The others are ready when all have done this.
  void prepare();
  // Runs all, beginning when this process's clock shows `release`. The spans, from then on, of the steps that this
  // process drives. Throws DeviceError naming step, NIC and queue pair when one cannot be done, Interrupted.
  std::vector<StepSpan> once(Seconds release);
  // What failed and was got round.
  [[nodiscard]] std::vector<std::string> const& faults() const { return faults_; }

 private:
  // What an immediate says of its step.
  enum class Notification : std::uint32_t { None, Arrived, ArrivedWhole, Over, Chunk, Taken };
  struct PendingRequest {
    std::size_t step = 0;
    Notification news = Notification::None;
    bool last = false;  // of its step on its queue pair
    int listener = -1;  // of Over
    WorkRequest request;
  };
  struct Queue {
    std::deque<PendingRequest> waiting;
    std::deque<PendingRequest> posted;
    std::uint64_t numbers = 0;
    int expected = 0;  // receives given to it so far
  };
  struct Progress {
    std::size_t track = 0;
    int lasts = 0;     // still to be acknowledged
    int arrivals = 0;  // seen
    bool over = false;
    // Chunks of a ring. At its source: copied into it, written, acknowledged, taken at the other end; at its target:
    // landed, taken.
    std::int64_t filled = 0, written = 0, acknowledged = 0, taken = 0, landed = 0;
    bool copying = false;
    StepSpan span;
  };

  void expect_arrivals();
  void step_ready(StepId id) { ready_.push_back(index(id)); }
  void start_ready();
  void start(std::size_t step);
  void copy_locally(std::size_t step);
  void send(std::size_t step);
  void order_messages(std::size_t number, int queues, Notification news);
  [[nodiscard]] std::optional<std::size_t> living_track(std::size_t step) const;
  void tell(std::size_t step, int listener);
  void put(LinkId link, int queue, PendingRequest order);
  void pump(LinkId link, int number);
  bool poll();
  void acknowledged(WorkCompletion const& done);
  void completed(PendingRequest const& order);
  void arrived(WorkCompletion const& done);
  void landed(std::size_t step);
  void over(std::size_t step);
  bool turn_rings();
  bool fill_ring(std::size_t number);
  bool drain_ring(std::size_t number);
  void failed(LinkId link, std::string const& problem);
  void send_again(std::size_t number, std::string const& problem);
  [[nodiscard]] bool finished() const;
  void check_patience(bool moved);
  [[nodiscard]] std::string what_is_missing() const;

  [[nodiscard]] bool drives(std::size_t step) const { return layout_.steps[step].driver == rank_; }
  [[nodiscard]] bool receives(std::size_t step) const {
    return layout_.steps[step].target == rank_ && layout_.steps[step].driver != rank_;
  }
  Queue& at(LinkId link, int queue) { return queues_[index(link)][static_cast<std::size_t>(queue)]; }

  NetworkPlan const& plan_;
  Layout const& layout_;
  std::vector<StepPart> parts_;
  MessageTransport& transport_;
  Group& group_;
  int rank_;
  Seconds stall_limit_;
  std::optional<DagRunner> runner_;
  std::deque<std::size_t> ready_;
  std::vector<Progress> progress_;
  std::vector<std::vector<Queue>> queues_;  // by link
  std::vector<std::size_t> rings_;          // steps whose chunks this process moves now
  std::set<LinkId> dead_;
  std::vector<std::string> faults_;
  std::vector<WorkCompletion> done_;
  Seconds release_{0};
  Seconds moved_{0};        // when something last did, as far as was looked
  Seconds looked_{0};       // when the others and the user were last asked whether it goes on
  bool has_moved_ = false;  // since then
  int rounds_ = 0;          // in which nothing was done
  int told_ = 0;            // that have not been acknowledged
  int left_ = 0;            // steps that this process drives or receives and that are not over
  int next_queue_ = 0;
};

}  // namespace lanewise::hw
