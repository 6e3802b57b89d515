#include "core/planner/schedules/resizing.hpp"

#include "core/estimate/demands.hpp"

namespace lanewise {
namespace {

// The program that gives the pieces of a run other sizes: when each begins, and by how much it is larger and smaller
// (its columns, in this order, behind that of the end of all), by a part `other` of them at most, so that all end
// earliest, in the same turns and at the rates that they had. Milliseconds and megabytes.
class Resizing {
 public:
  Resizing(std::vector<Segment> const& segments, Evaluation const& evaluation, TransferSet const& set,
           Model const& model, double other)
      : stays_(segments), other_(other), before_(segments.size()), behind_(segments.size()) {
    for (std::size_t i = 0; i < set.transfers.size(); ++i) program_.add_row({0, 0});  // no byte more or less
    auto const demands = demands_of(model, evaluation.steps);
    for (std::size_t k = 0; k < segments.size(); ++k) {
      auto const& ran = evaluation.run.steps[k];
      bytes_.push_back(static_cast<double>(evaluation.steps[k].bytes.value()) / kMegabyte);
      took_.push_back((ran.end - ran.start) / Seconds(kMillisecond));
      auto const flowed = took_[k] - demands[k].latency() / Seconds(kMillisecond);
      paces_.push_back(bytes_[k] > 0 ? flowed / bytes_[k] : 0);
    }
    for (std::size_t k = 0; k < segments.size(); ++k) {
      for (auto const id : evaluation.steps[k].order_only) {
        auto const row = program_.add_row({.lower = took_[index(id)]});
        before_[k].push_back(row);
        behind_[index(id)].push_back(row);
      }
      ends_.push_back(program_.add_row({.lower = took_[k]}));
      behind_[k].push_back(ends_[k]);
    }
  }

  // None where there is no solver. `basis`: of the last such program, if any, and then of this one.
  std::optional<std::vector<Segment>> run(Basis& basis) {
    for (auto const row : ends_) program_.entries.push_back({row, 1});
    program_.end_column(1);  // when all have ended
    for (std::size_t k = 0; k < stays_.size(); ++k) {
      for (auto const row : before_[k]) program_.entries.push_back({row, 1});
      for (auto const row : behind_[k]) program_.entries.push_back({row, -1});
      program_.end_column(0);  // its start
      add_bytes(k, 1);
      add_bytes(k, -1);
    }
    auto const answer = solve(program_, basis);
    if (!answer) return std::nullopt;
    basis = answer->basis;
    auto segments = stays_;
    for (std::size_t k = 0; k < segments.size(); ++k)
      segments[k].bytes = (bytes_[k] + answer->x[3 * k + 2] - answer->x[3 * k + 3]) * kMegabyte;
    return segments;
  }

 private:
  void add_bytes(std::size_t k, double sign) {
    constexpr double kRatherNot = 1e-3;  // of the time that it takes: what gains nothing stays as it is
    program_.entries.push_back({static_cast<int>(stays_[k].transfer), sign});
    for (auto const row : behind_[k]) program_.entries.push_back({row, -sign * paces_[k]});
    program_.end_column(kRatherNot * paces_[k], other_ * bytes_[k]);
  }

  std::vector<Segment> const& stays_;
  double other_;
  LinearProgram program_;
  std::vector<double> bytes_;
  std::vector<double> took_;
  std::vector<double> paces_;  // milliseconds for a megabyte, once it flows
  std::vector<int> ends_;      // rows
  std::vector<std::vector<int>> before_;
  std::vector<std::vector<int>> behind_;
};

}  // namespace

std::optional<std::vector<Segment>> resize(std::vector<Segment> const& segments, Evaluation const& evaluation,
                                           TransferSet const& set, Model const& model, double other, Basis& basis) {
  return Resizing(segments, evaluation, set, model, other).run(basis);
}

}  // namespace lanewise
