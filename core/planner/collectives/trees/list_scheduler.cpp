#include "core/planner/collectives/trees/list_scheduler.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/estimate/simultaneous.hpp"
#include "core/planner/collective_limits.hpp"

namespace lanewise {
namespace {

class ListScheduler {
 public:
  ListScheduler(Packing const& packing, std::vector<ScheduledHop>& hops)
      : packing_(packing),
        hops_(hops),
        successors_(hops.size()),
        free_(packing.capacities),
        queues_(packing.legs.size()),
        flows_(packing.legs.size()),
        sharing_(packing.capacities) {
    for (std::size_t leg = 0; leg < flows_.size(); ++leg) {
      flows_[leg].uses = packing.legs[leg].uses;
      flows_[leg].cap = packing.legs[leg].cap.value();
    }
    for (std::size_t i = 0; i < hops.size(); ++i)
      (hops[i].predecessor ? successors_[*hops[i].predecessor] : queues_[hops[i].leg].waiting).push_back(i);
  }

  // Sets the start of every hop; a hop that is merged into another has no chunks afterwards.
  void run() {
    start_all();
    while (!starting_.empty() || !flowing_.empty()) {
      if (changed_) sharing_.share(flowing_);
      changed_ = false;
      advance();
    }
  }

 private:
  static constexpr auto kNone = static_cast<std::size_t>(-1);
  struct LegQueue {
    std::vector<std::size_t> waiting;
    std::size_t active = kNone;  // hop
    double flow_start = 0;       // seconds
    double bytes_left = 0;
  };

  // Starts hops on all legs that can; legs that compete for an engine go in the order of priority.
  void start_all() {
    std::vector<std::pair<double, std::uint32_t>> ready;
    for (std::uint32_t leg = 0; leg < queues_.size(); ++leg)
      if (can_start(leg)) ready.emplace_back(priority(*next_of(queues_[leg])), leg);
    std::sort(ready.begin(), ready.end());
    for (auto const& [priority, leg] : ready)
      if (can_start(leg)) start_on(leg);
  }
  [[nodiscard]] bool can_start(std::uint32_t leg) const {
    auto const& engines = packing_.legs[leg].engines;
    return queues_[leg].active == kNone && !queues_[leg].waiting.empty() &&
           std::all_of(engines.begin(), engines.end(), [&](std::uint32_t engine) { return free_[engine] >= 1; });
  }
  void start_on(std::uint32_t leg) {
    auto& queue = queues_[leg];
    for (auto const engine : packing_.legs[leg].engines) --free_[engine];
    queue.active = take_next(queue);
    auto& hop = hops_[queue.active];
    while (hop.remaining_hops == 0 && !queue.waiting.empty()) {
      auto& next = hops_[*next_of(queue)];
      if (next.remaining_hops > 0 || next.chunk != hop.chunk + hop.chunks) break;
      take_next(queue);
      ++hop.chunks;
      hop.bytes += next.bytes;
      next.chunks = 0;
    }
    hop.start = Seconds(now_);
    queue.flow_start = now_ + packing_.legs[leg].handover.value();
    queue.bytes_left = hop.bytes;
    starting_.push_back(leg);
  }
  // The lowest goes first.
  [[nodiscard]] double priority(std::size_t hop) const {
    return hops_[hop].due - kCollectiveLimits.list_schedule_hop_priority * hops_[hop].remaining_hops;
  }
  [[nodiscard]] std::vector<std::size_t>::iterator next_of(LegQueue& queue) const {
    return std::min_element(queue.waiting.begin(), queue.waiting.end(),
                            [&](std::size_t a, std::size_t b) { return priority(a) < priority(b); });
  }
  std::size_t take_next(LegQueue& queue) const {
    auto const next = next_of(queue);
    auto const hop = *next;
    queue.waiting.erase(next);
    return hop;
  }

  // Moves on to the next end of a handover or a flow.
  void advance() {
    auto elapsed = std::numeric_limits<double>::infinity();
    for (auto const leg : starting_) elapsed = std::min(elapsed, queues_[leg].flow_start - now_);
    for (auto const* flow : flowing_) elapsed = std::min(elapsed, queues_[leg_of(flow)].bytes_left / flow->rate);
    elapsed = std::max(elapsed, 0.0);
    now_ += elapsed;
    auto const slack = simultaneous_within(now_);
    std::vector<std::size_t> finished;
    std::erase_if(flowing_, [&](Sharing::Flow const* flow) {
      auto& left = queues_[leg_of(flow)].bytes_left;
      bool const ends = left <= flow->rate * (elapsed + slack);
      left -= flow->rate * elapsed;
      if (ends) finished.push_back(leg_of(flow));
      return ends;
    });
    std::erase_if(starting_, [&](std::uint32_t leg) {
      if (queues_[leg].flow_start > now_ + slack) return false;
      flowing_.push_back(&flows_[leg]);
      changed_ = true;
      return true;
    });
    if (finished.empty()) return;
    changed_ = true;
    for (auto const leg : finished) finish_on(leg);
    start_all();
  }
  void finish_on(std::size_t leg) {
    auto const hop = std::exchange(queues_[leg].active, kNone);
    for (auto const engine : packing_.legs[leg].engines) ++free_[engine];
    for (auto const i : successors_[hop]) queues_[hops_[i].leg].waiting.push_back(i);
  }
  [[nodiscard]] std::size_t leg_of(Sharing::Flow const* flow) const {
    return static_cast<std::size_t>(flow - flows_.data());
  }

  Packing const& packing_;
  std::vector<ScheduledHop>& hops_;
  std::vector<std::vector<std::size_t>> successors_;  // of hops
  std::vector<double> free_;                          // slots of engines
  std::vector<LegQueue> queues_;                      // of legs
  std::vector<Sharing::Flow> flows_;                  // of legs
  Sharing sharing_;
  std::vector<std::uint32_t> starting_;
  std::vector<Sharing::Flow*> flowing_;
  double now_ = 0;  // seconds
  bool changed_ = false;
};

}  // namespace

std::vector<ScheduledHop> list_schedule(Packing const& packing, std::vector<ScheduledHop> hops) {
  ListScheduler(packing, hops).run();
  std::erase_if(hops, [](ScheduledHop const& hop) { return hop.chunks == 0; });
  std::stable_sort(hops.begin(), hops.end(),
                   [](ScheduledHop const& a, ScheduledHop const& b) { return a.start < b.start; });
  return hops;
}

}  // namespace lanewise
