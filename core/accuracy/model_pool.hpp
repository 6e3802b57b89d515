#pragma once
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/accuracy/accuracy.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise {

// The measurement's machine under different settings: one model, with its planner and executors, for each list of
// settings.
class ModelPool {
 public:
  struct Entry {
    explicit Entry(Machine machine) : model(std::move(machine)), planner(model), intervals(model) {}
    Model model;
    Planner planner;
    Intervals intervals;
    std::map<Model const*, std::unique_ptr<Executor>> executors;
    // What a library takes for the collective of a series by size: "Ring LL128"; empty where it does not do it.
    std::map<std::pair<MeasuredSeries const*, Bytes>, std::string> library_choices;
  };

  // Both must outlive the pool.
  ModelPool(Measurement const& measurement, AccuracyContext const& context)
      : measurement_(measurement), context_(context) {}

  // The model with these settings on top of the measurement's, and without the figures that the measurement withholds.
  // Throws InputError at `pos` for a setting that the machine does not have.
  Entry& with(std::vector<Setting> const& settings, SourcePos const& pos);

  [[nodiscard]] Measurement const& measurement() const { return measurement_; }
  [[nodiscard]] bool with_ranges() const { return context_.ranges; }
  [[nodiscard]] bool with_possible() const { return context_.possible; }
  [[nodiscard]] bool with_changes() const { return context_.changes; }

  // The executor for a model of the entry, made on the first call; nullptr if nothing here runs it.
  Executor* executor(Entry& entry, Model const& model);

 private:
  [[nodiscard]] bool calibrated(Withheld const& withheld) const;

  Measurement const& measurement_;
  AccuracyContext const& context_;
  std::vector<std::pair<std::vector<Setting>, std::unique_ptr<Entry>>> entries_;
};

}  // namespace lanewise
