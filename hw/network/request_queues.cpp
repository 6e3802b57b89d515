#include "hw/network/request_queues.hpp"

#include <algorithm>
#include <iterator>

namespace lanewise::hw {
namespace {

// Every sixteenth request asks for a completion, so that room in the queue pair is noticed in time.
constexpr std::uint64_t kSignalEvery = 16;

// An immediate has the notification in its upper bits and the step's number in its lower bits.
constexpr int kNotificationShift = 28;
static_assert(kMaxSteps == (std::size_t{1} << kNotificationShift) - 1);

}  // namespace

std::uint32_t immediate_of(Notification notification, std::size_t step) {
  return (static_cast<std::uint32_t>(notification) << kNotificationShift) | static_cast<std::uint32_t>(step);
}
Notification notification_in(std::uint32_t immediate) {
  return static_cast<Notification>(immediate >> kNotificationShift);
}
std::size_t step_in(std::uint32_t immediate) { return immediate & kMaxSteps; }

RequestQueues::RequestQueues(Layout const& layout, MessageTransport& transport)
    : layout_(layout), transport_(transport), queues_(layout.links.size()) {
  for (std::size_t link = 0; link < queues_.size(); ++link)
    queues_[link].resize(static_cast<std::size_t>(transport.queues(LinkId(link))));
}

void RequestQueues::post_receives() {
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    if (layout_.links[i].for_messages || has_failed(LinkId(i))) continue;
    for (std::size_t queue = 0; queue < queues_[i].size(); ++queue)
      for (auto& posted = queues_[i][queue].receives; posted < transport_.depth(LinkId(i)).receive; ++posted)
        transport_.post_receive(LinkId(i), static_cast<int>(queue), nullptr, 0, 0);
  }
}

void RequestQueues::enqueue(LinkId link, int queue, PendingRequest request) {
  if (request.notification != Notification::None)
    request.request.immediate = immediate_of(request.notification, request.step);
  at(link, queue).waiting.push_back(request);
  post_waiting(link, queue);
}

void RequestQueues::post_waiting(LinkId link, int queue) {
  auto& [waiting, posted, last_number, receives] = at(link, queue);
  while (!waiting.empty() && static_cast<int>(posted.size()) < transport_.depth(link).send) {
    auto& request = waiting.front().request;
    request.number = ++last_number;
    request.signalled |= request.number % kSignalEvery == 0;
    transport_.post(link, queue, request);
    posted.push_back(waiting.front());
    waiting.pop_front();
  }
}

std::vector<PendingRequest> RequestQueues::fail(LinkId link) {
  std::vector<PendingRequest> lost;
  if (!failed_.insert(link).second) return lost;
  transport_.abort(link);
  for (auto& queue : queues_[index(link)]) {
    for (auto* requests : {&queue.posted, &queue.waiting}) {
      std::move(requests->begin(), requests->end(), std::back_inserter(lost));
      requests->clear();
    }
  }
  return lost;
}

bool RequestQueues::all_posted() const {
  return std::all_of(queues_.begin(), queues_.end(), [](auto const& link) {
    return std::all_of(link.begin(), link.end(), [](Queue const& queue) { return queue.waiting.empty(); });
  });
}

}  // namespace lanewise::hw
