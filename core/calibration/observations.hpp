#pragma once
// The figures of a measurement that a fit uses, as transfers with chosen ways, and the model's predictions of them for
// any values of the machine's figures.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/calibration/adjustable.hpp"
#include "core/measurement/measurement.hpp"
#include "lanewise/plan/executor.hpp"

namespace lanewise {

// Whether a fit uses this point: a single transfer, or both directions of one pair at once.
bool serves_fit(MeasuredPoint const& point);

struct Observation {
  MeasuredSeries const* series = nullptr;
  MeasuredPoint const* point = nullptr;
  std::size_t stand = 0;          // index of the model with the series' settings
  std::vector<Request> requests;  // one for each flow
  std::vector<Way> ways;
  std::size_t cluster = 0;  // figures that may share an error: one pair of places in one series
};

class Observations {
 public:
  using MakeExecutor = std::function<std::unique_ptr<Executor>(Model const&)>;

  // Takes the points that serves_fit() accepts, or with `patterns` all points of the series of these names, which
  // `executor` runs. `measurement` and `machine` must outlive this. Throws InputError if the machine lacks something
  // that the measurement names, or the measurement lacks a pattern.
  Observations(Measurement const& measurement, Machine const& machine, Catalogue& catalogue);
  Observations(Measurement const& measurement, Machine const& machine, Catalogue& catalogue,
               std::vector<std::string> const& patterns, MakeExecutor executor);

  [[nodiscard]] std::vector<Observation> const& all() const { return observations_; }
  [[nodiscard]] std::size_t size() const { return observations_.size(); }
  // By how much an observation may be off because the machine drifted while it was measured, either way, as a share.
  [[nodiscard]] double drift(Observation const& observation) const;
  // The number of figures left out, by reason.
  [[nodiscard]] std::map<std::string, int> const& left_out() const { return left_out_; }

  // The natural logarithm of the prediction of each observation, with these values of the targets.
  [[nodiscard]] std::vector<double> predictions(std::vector<CalibrationTarget> const& targets,
                                                std::vector<double> const& values) const;

 private:
  struct Stand {
    Stand(std::vector<Setting> of, Machine machine)
        : settings(std::move(of)), model(std::move(machine)), planner(model) {}
    std::vector<Setting> settings;
    Model model;
    Planner planner;
  };

  std::size_t stand_under(std::vector<Setting> const& settings, SourcePos const& pos);
  void add(MeasuredSeries const& series, MeasuredPoint const& point);
  [[nodiscard]] std::optional<double> figure(Model const& model, Executor* executor,
                                             Observation const& observation) const;

  Measurement const& measurement_;
  Machine const& machine_;
  Catalogue& catalogue_;
  MakeExecutor executor_;
  std::vector<std::unique_ptr<Stand>> stands_;
  std::vector<Observation> observations_;
  std::map<std::string, std::size_t> clusters_;
  std::map<std::string, int> left_out_;
};

}  // namespace lanewise
