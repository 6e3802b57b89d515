#include "core/planner/schedules/resizing.hpp"

#include <algorithm>
#include <cmath>

#include "core/estimate/demands.hpp"
#include "core/planner/schedules/critical_paths.hpp"
#include "core/planner/schedules/schedule_limits.hpp"

namespace lanewise {
namespace {

// Gradient descent with momentum (Polyak 1964). It moves bytes from segments that the longest paths pass to others of
// the same transfer.
class SizeDescent {
 public:
  SizeDescent(std::vector<Segment> const& segments, Evaluation const& evaluation, TransferSet const& set,
              Model const& model, double max_change)
      : segments_(segments),
        max_change_(max_change),
        paths_(evaluation.steps),
        change_(segments.size(), 0),
        velocity_(segments.size(), 0),
        slope_(segments.size(), 0),
        of_transfer_(set.transfers.size()) {
    auto const demands = demands_of(model, evaluation.steps);
    for (std::size_t k = 0; k < segments.size(); ++k) {
      auto const& times = evaluation.run.steps[k];
      durations_.push_back((times.end - times.start).value());
      bytes_.push_back(static_cast<double>(evaluation.steps[k].bytes.value()));
      time_per_byte_.push_back(bytes_[k] > 0 ? (durations_[k] - demands[k].latency().value()) / bytes_[k] : 0);
    }
  }

  // The segments with the sizes that are best of those on the way.
  std::vector<Segment> run() {
    auto durations = durations_;
    auto shortest = paths_.makespan(durations);
    auto const near = kScheduleLimits.near_longest * shortest;
    auto best = change_;
    for (int step = 0; step < kScheduleLimits.descent_steps; ++step) {
      auto const left = 1 - static_cast<double>(step) / kScheduleLimits.descent_steps;
      if (!move_bytes(paths_.criticality(near), kScheduleLimits.descent_step * left * max_change_)) break;
      keep_sums();
      for (std::size_t k = 0; k < durations.size(); ++k) durations[k] = durations_[k] + change_[k] * time_per_byte_[k];
      if (auto const makespan = paths_.makespan(durations); makespan < shortest) {
        shortest = makespan;
        best = change_;
      }
    }
    auto resized = segments_;
    for (std::size_t k = 0; k < resized.size(); ++k) resized[k].bytes = bytes_[k] + best[k];
    return resized;
  }

 private:
  struct Sums {
    double value = 0;
    double bytes = 0;
    [[nodiscard]] double mean() const { return bytes > 0 ? value / bytes : 0; }
  };

  // Changes sizes by about the fraction `step`. False: nothing is gained.
  bool move_bytes(std::span<double const> criticality, double step) {
    std::fill(of_transfer_.begin(), of_transfer_.end(), Sums{});
    for (std::size_t k = 0; k < slope_.size(); ++k) {
      slope_[k] = criticality[k] * time_per_byte_[k];
      auto& sums = of_transfer_[segments_[k].transfer];
      sums.value += slope_[k] * bytes_[k];
      sums.bytes += bytes_[k];
    }
    // By segment: what the makespan grows for a change of its size by itself, at the expense of its transfer's others.
    double squares = 0;
    for (std::size_t k = 0; k < slope_.size(); ++k) {
      slope_[k] = (slope_[k] - of_transfer_[segments_[k].transfer].mean()) * bytes_[k];
      squares += slope_[k] * slope_[k];
    }
    constexpr double kRounding = 1e-24;  // of seconds squared
    if (squares <= kRounding) return false;
    auto const size = std::sqrt(squares / static_cast<double>(slope_.size()));
    constexpr double kMomentum = 0.8;
    for (std::size_t k = 0; k < slope_.size(); ++k) {
      velocity_[k] = kMomentum * velocity_[k] - (1 - kMomentum) * step * slope_[k] / size;
      change_[k] += velocity_[k] * bytes_[k];
    }
    return true;
  }

  // Keeps every change within its bounds and the sum of each transfer's at 0, as far as a few rounds do.
  void keep_sums() {
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds; ++round) {
      std::fill(of_transfer_.begin(), of_transfer_.end(), Sums{});
      for (std::size_t k = 0; k < change_.size(); ++k) {
        change_[k] = std::clamp(change_[k], -max_change_ * bytes_[k], max_change_ * bytes_[k]);
        of_transfer_[segments_[k].transfer].value += change_[k];
      }
      if (round + 1 == kRounds) return;
      for (std::size_t k = 0; k < change_.size(); ++k)
        if (has_room(k)) of_transfer_[segments_[k].transfer].bytes += bytes_[k];
      for (std::size_t k = 0; k < change_.size(); ++k)
        if (has_room(k)) change_[k] -= of_transfer_[segments_[k].transfer].mean() * bytes_[k];
    }
  }
  // Whether the segment can give or take what its transfer's changes are off by.
  [[nodiscard]] bool has_room(std::size_t k) const {
    auto const excess = of_transfer_[segments_[k].transfer].value;
    return excess > 0 ? change_[k] > -max_change_ * bytes_[k] : change_[k] < max_change_ * bytes_[k];
  }

  std::vector<Segment> const& segments_;
  double max_change_;
  CriticalPaths paths_;
  std::vector<double> bytes_;          // before
  std::vector<double> durations_;      // before, seconds
  std::vector<double> time_per_byte_;  // once it flows
  std::vector<double> change_;         // bytes
  std::vector<double> velocity_;       // fraction of the bytes, a step
  std::vector<double> slope_;          // scratch
  std::vector<Sums> of_transfer_;      // scratch
};

}  // namespace

std::vector<Segment> resize(std::vector<Segment> const& segments, Evaluation const& evaluation, TransferSet const& set,
                            Model const& model, double max_change) {
  return SizeDescent(segments, evaluation, set, model, max_change).run();
}

}  // namespace lanewise
