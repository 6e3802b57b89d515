#pragma once
// The requests of one process on all links: those that wait for room in their queue pair, and those that were posted
// and not yet acknowledged. Keeps every queue pair supplied with receives.
#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include "hw/network/layout.hpp"
#include "hw/network/transport.hpp"

namespace lanewise::hw {

// What the immediate of a request says about its step.
enum class Notification : std::uint32_t {
  None,
  Arrived,       // all messages on this queue pair have arrived
  ArrivedWhole,  // all messages of the step have arrived
  Completed,     // the step has ended, for processes that wait for it
  ChunkWritten,  // the next chunk is in the target's ring
  ChunkTaken,    // the target has taken the next chunk
};

struct PendingRequest {
  std::size_t step = 0;
  Notification notification = Notification::None;
  bool is_last = false;  // of its step on its queue pair
  int listener = -1;     // the process that a Completed is for
  WorkRequest request{};
};

class RequestQueues {
 public:
  RequestQueues(Layout const& layout, MessageTransport& transport);

  // Queue pairs of a link; 0 where this process has no end of it.
  [[nodiscard]] int count(LinkId link) const { return static_cast<int>(queues_[index(link)].size()); }
  [[nodiscard]] bool has_failed(LinkId link) const { return failed_.contains(link); }
  [[nodiscard]] bool is_usable(LinkId link) const { return !has_failed(link) && count(link) > 0; }

  // Every immediate takes a receive: posts as many on every queue pair as it holds. Links for the messages of one step
  // get theirs from the run, because each message has its own address.
  void post_receives();
  // Posts the request as soon as its queue pair has room. Throws DeviceError.
  void enqueue(LinkId link, int queue, PendingRequest request);
  // Calls on_acknowledged(request) for every request that a completion acknowledges, oldest first; then posts what has
  // waited for their room.
  template <class OnAcknowledged>
  void acknowledge(WorkCompletion const& completion, OnAcknowledged&& on_acknowledged) {
    auto& posted = at(completion.link, completion.queue).posted;
    while (!posted.empty() && posted.front().request.number <= completion.number) {
      auto const request = posted.front();
      posted.pop_front();
      on_acknowledged(request);
    }
    post_waiting(completion.link, completion.queue);
  }
  // Gives up a link: aborts it and returns all its requests that were not acknowledged. Empty when it had failed
  // before.
  std::vector<PendingRequest> fail(LinkId link);
  // Whether no request waits for room.
  [[nodiscard]] bool all_posted() const;

 private:
  struct Queue {
    std::deque<PendingRequest> waiting;
    std::deque<PendingRequest> posted;
    std::uint64_t last_number = 0;
    int receives = 0;  // posted so far by post_receives()
  };
  void post_waiting(LinkId link, int queue);
  Queue& at(LinkId link, int queue) { return queues_[index(link)][static_cast<std::size_t>(queue)]; }

  Layout const& layout_;
  MessageTransport& transport_;
  std::vector<std::vector<Queue>> queues_;  // by link
  std::set<LinkId> failed_;
};

// An immediate says what happened to which step.
inline constexpr std::size_t kMaxSteps = (std::size_t{1} << 28) - 1;
std::uint32_t immediate_of(Notification notification, std::size_t step);
Notification notification_in(std::uint32_t immediate);
std::size_t step_in(std::uint32_t immediate);

}  // namespace lanewise::hw
