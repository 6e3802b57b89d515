#include "core/planner/schedules/resizing.hpp"

#include "core/estimate/demands.hpp"

namespace lanewise {
namespace {

// The linear program, in milliseconds and megabytes. Columns: the end of all, then for each segment its start, the
// bytes added and the bytes removed. Rows: the change of bytes of each transfer (0), one for each segment that a
// segment waits for, and one for the end of each segment that none waits for.
class ResizingProgram {
 public:
  ResizingProgram(std::vector<Segment> const& segments, Evaluation const& evaluation, TransferSet const& set,
                  Model const& model, double max_change)
      : segments_(segments), max_change_(max_change), start_rows_(segments.size()), end_rows_(segments.size()) {
    for (std::size_t i = 0; i < set.transfers.size(); ++i) program_.add_row({0, 0});
    auto const demands = demands_of(model, evaluation.steps);
    for (std::size_t k = 0; k < segments.size(); ++k) {
      auto const& times = evaluation.run.steps[k];
      bytes_.push_back(static_cast<double>(evaluation.steps[k].bytes.value()) / kMegabyte);
      durations_.push_back((times.end - times.start) / Seconds(kMillisecond));
      auto const flow_time = durations_[k] - demands[k].latency() / Seconds(kMillisecond);
      time_per_megabyte_.push_back(bytes_[k] > 0 ? flow_time / bytes_[k] : 0);
    }
    for (std::size_t k = 0; k < segments.size(); ++k)
      for (auto const id : evaluation.steps[k].order_only) {
        auto const row = program_.add_row({.lower = durations_[index(id)]});
        start_rows_[k].push_back(row);
        end_rows_[index(id)].push_back(row);
      }
    // Behind the others something comes that ends later.
    for (std::size_t k = 0; k < segments.size(); ++k) {
      if (!end_rows_[k].empty()) continue;
      makespan_rows_.push_back(program_.add_row({.lower = durations_[k]}));
      end_rows_[k].push_back(makespan_rows_.back());
    }
  }

  std::optional<std::vector<Segment>> solve(Basis& basis) {
    for (auto const row : makespan_rows_) program_.entries.push_back({row, 1});
    program_.end_column(1);  // the end of all
    for (std::size_t k = 0; k < segments_.size(); ++k) {
      for (auto const row : start_rows_[k]) program_.entries.push_back({row, 1});
      for (auto const row : end_rows_[k]) program_.entries.push_back({row, -1});
      program_.end_column(0);  // its start
      add_change_of_bytes(k, 1);
      add_change_of_bytes(k, -1);
    }
    auto const answer = lanewise::solve(program_, basis);
    if (!answer) return std::nullopt;
    basis = answer->basis;
    auto segments = segments_;
    for (std::size_t k = 0; k < segments.size(); ++k)
      segments[k].bytes = (bytes_[k] + answer->x[3 * k + 2] - answer->x[3 * k + 3]) * kMegabyte;
    return segments;
  }

 private:
  void add_change_of_bytes(std::size_t k, double sign) {
    constexpr double kCostOfChange = 1e-3;  // of its time, so that what gains nothing stays as it is
    program_.entries.push_back({static_cast<int>(segments_[k].transfer), sign});
    for (auto const row : end_rows_[k]) program_.entries.push_back({row, -sign * time_per_megabyte_[k]});
    program_.end_column(kCostOfChange * time_per_megabyte_[k], max_change_ * bytes_[k]);
  }

  std::vector<Segment> const& segments_;
  double max_change_;
  LinearProgram program_;
  std::vector<double> bytes_;                 // megabytes
  std::vector<double> durations_;             // milliseconds
  std::vector<double> time_per_megabyte_;     // milliseconds, once it flows
  std::vector<int> makespan_rows_;            // end of all >= end of a segment that none waits for
  std::vector<std::vector<int>> start_rows_;  // by segment: rows in which its start counts
  std::vector<std::vector<int>> end_rows_;    // by segment: rows in which its end counts
};

}  // namespace

std::optional<std::vector<Segment>> resize(std::vector<Segment> const& segments, Evaluation const& evaluation,
                                           TransferSet const& set, Model const& model, double max_change,
                                           Basis& basis) {
  return ResizingProgram(segments, evaluation, set, model, max_change).solve(basis);
}

}  // namespace lanewise
