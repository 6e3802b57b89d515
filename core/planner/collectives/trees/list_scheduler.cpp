#include "core/planner/collectives/trees/list_scheduler.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace lanewise {
namespace {

class ListScheduler {
 public:
  ListScheduler(Packing const& packing, std::vector<ScheduledHop>& hops)
      : packing_(packing),
        hops_(hops),
        next_(hops.size()),
        free_(packing.capacities),
        lanes_(packing.legs.size()),
        flows_(packing.legs.size()),
        sharing_(packing.capacities) {
    for (std::size_t leg = 0; leg < flows_.size(); ++leg) {
      flows_[leg].uses = packing.legs[leg].uses;
      flows_[leg].cap = packing.legs[leg].cap.value();
    }
    for (std::size_t i = 0; i < hops.size(); ++i)
      (hops[i].brought ? next_[*hops[i].brought] : lanes_[hops[i].leg].waiting).push_back(i);
  }

  // Sets the starts, and no cells of hops that go with others.
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
  struct Lane {  // of a leg
    std::vector<std::size_t> waiting;
    std::size_t carries = kNone;
    double flows_from = 0;
    double left = 0;  // bytes
  };

  // Where several legs wait for an engine, rather the one whose turn it is.
  void start_all() {
    std::vector<std::pair<double, std::uint32_t>> may;
    for (std::uint32_t leg = 0; leg < lanes_.size(); ++leg)
      if (may_start(leg)) may.emplace_back(turn(*next_of(lanes_[leg])), leg);
    std::sort(may.begin(), may.end());
    for (auto const& [turn, leg] : may)
      if (may_start(leg)) start_on(leg);
  }
  [[nodiscard]] bool may_start(std::uint32_t leg) const {
    auto const& engines = packing_.legs[leg].engines;
    return lanes_[leg].carries == kNone && !lanes_[leg].waiting.empty() &&
           std::all_of(engines.begin(), engines.end(), [&](std::uint32_t engine) { return free_[engine] >= 1; });
  }
  void start_on(std::uint32_t leg) {
    auto& lane = lanes_[leg];
    auto const& engines = packing_.legs[leg].engines;
    for (auto const engine : engines) --free_[engine];
    lane.carries = take_next(lane);
    auto& hop = hops_[lane.carries];
    while (hop.ahead == 0 && !lane.waiting.empty()) {
      auto& behind = hops_[*next_of(lane)];
      if (behind.ahead > 0 || behind.cell != hop.cell + hop.cells) break;
      take_next(lane);
      ++hop.cells;
      hop.bytes += behind.bytes;
      behind.cells = 0;
    }
    hop.start = Seconds(now_);
    lane.flows_from = now_ + packing_.legs[leg].handover.value();
    lane.left = hop.bytes;
    starting_.push_back(leg);
  }
  [[nodiscard]] double turn(std::size_t hop) const {
    constexpr double kTurnsOfAHop = 4;  // 2 to 12 make the same plans within 1 %, 0 longer ones
    return hops_[hop].paced - kTurnsOfAHop * hops_[hop].ahead;
  }
  // Whose turn it is.
  [[nodiscard]] std::vector<std::size_t>::iterator next_of(Lane& lane) const {
    return std::min_element(lane.waiting.begin(), lane.waiting.end(),
                            [&](std::size_t a, std::size_t b) { return turn(a) < turn(b); });
  }
  std::size_t take_next(Lane& lane) const {
    auto const next = next_of(lane);
    auto const hop = *next;
    lane.waiting.erase(next);
    return hop;
  }

  // To the next end of a hand-over or a flow.
  void advance() {
    constexpr double kTogether = 1e-9;  // of the time since the last change: one event
    constexpr double kInstant = 1e-15;  // seconds
    auto elapsed = std::numeric_limits<double>::infinity();
    for (auto const leg : starting_) elapsed = std::min(elapsed, lanes_[leg].flows_from - now_);
    for (auto const* flow : flowing_) elapsed = std::min(elapsed, lanes_[leg_of(flow)].left / flow->rate);
    elapsed = std::max(elapsed, 0.0);
    auto const slack = elapsed * kTogether + kInstant;
    now_ += elapsed;
    std::vector<std::size_t> through;
    std::erase_if(flowing_, [&](Sharing::Flow const* flow) {
      auto& left = lanes_[leg_of(flow)].left;
      bool const ends = left <= flow->rate * (elapsed + slack);
      left -= flow->rate * elapsed;
      if (ends) through.push_back(leg_of(flow));
      return ends;
    });
    std::erase_if(starting_, [&](std::uint32_t leg) {
      if (lanes_[leg].flows_from > now_ + slack) return false;
      flowing_.push_back(&flows_[leg]);
      changed_ = true;
      return true;
    });
    if (through.empty()) return;
    changed_ = true;
    for (auto const leg : through) end_on(leg);
    start_all();
  }
  void end_on(std::size_t leg) {
    auto const hop = std::exchange(lanes_[leg].carries, kNone);
    for (auto const engine : packing_.legs[leg].engines) ++free_[engine];
    for (auto const i : next_[hop]) lanes_[hops_[i].leg].waiting.push_back(i);
  }
  [[nodiscard]] std::size_t leg_of(Sharing::Flow const* flow) const {
    return static_cast<std::size_t>(flow - flows_.data());
  }

  Packing const& packing_;
  std::vector<ScheduledHop>& hops_;
  std::vector<std::vector<std::size_t>> next_;  // hops that a hop brings pieces to
  std::vector<double> free_;                    // slots of engines
  std::vector<Lane> lanes_;                     // of legs
  std::vector<Sharing::Flow> flows_;            // of legs
  Sharing sharing_;
  std::vector<std::uint32_t> starting_;
  std::vector<Sharing::Flow*> flowing_;
  double now_ = 0;
  bool changed_ = false;
};

}  // namespace

std::vector<ScheduledHop> list_schedule(Packing const& packing, std::vector<ScheduledHop> hops) {
  ListScheduler(packing, hops).run();
  std::erase_if(hops, [](ScheduledHop const& hop) { return hop.cells == 0; });
  std::stable_sort(hops.begin(), hops.end(),
                   [](ScheduledHop const& a, ScheduledHop const& b) { return a.start < b.start; });
  return hops;
}

}  // namespace lanewise
