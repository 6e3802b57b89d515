#pragma once
// The figures of a measurement that a fit may use, as transfers whose ways are decided, and the model's own figures of
// them under any values of a machine's parts.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/calibration/adjustable.hpp"
#include "core/measurement/measurement.hpp"
#include "core/plan/executor.hpp"

namespace lanewise {

// Whether a fit uses this point: a single transfer, or both ways of one pair at once.
bool serves_fit(MeasuredPoint const& point);

struct Observation {
  MeasuredSeries const* series = nullptr;
  MeasuredPoint const* point = nullptr;
  std::size_t stand = 0;          // which of the machines, by settings
  std::vector<Request> requests;  // one; two for there and back at once; more of a pattern
  std::vector<Way> ways;
  std::size_t cluster = 0;  // figures that share what may have gone wrong: one pair of places of one series
};

class Observations {
 public:
  using MakeExecutor = std::function<std::unique_ptr<Executor>(Model const&)>;

  // Of `measurement`, which must outlive this, the single transfers, and both ways of one pair at once; with `patterns`
  // instead the series of these names, which `executor` runs. Throws InputError where the measurement speaks of what
  // the machine does not have, and where a pattern is not there.
  Observations(Measurement const& measurement, Machine const& machine, Catalogue& catalogue);
  Observations(Measurement const& measurement, Machine const& machine, Catalogue& catalogue,
               std::vector<std::string> const& patterns, MakeExecutor executor);

  [[nodiscard]] std::vector<Observation> const& all() const { return observations_; }
  [[nodiscard]] std::size_t size() const { return observations_.size(); }
  // Why figures are left out, and how many.
  [[nodiscard]] std::map<std::string, int> const& left_out() const { return left_out_; }

  // The logarithm of the model's figure of each with these values in place (natural, one for each target).
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
