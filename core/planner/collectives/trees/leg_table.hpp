#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/planner/collectives/trees/packing.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise {

// Every leg between sites, and how much of each resource and engine a byte on it takes: the data of the linear programs
// of a packing. So that numbers lie around 1, bytes are fractions of the collective's bytes, capacities are in GB/s,
// and the unit of time is what the collective's bytes take at 1 GB/s.
class LegTable {
 public:
  static constexpr double kGiga = 1e-9;
  struct Coefficient {
    std::size_t row = 0;  // a resource or engine
    double weight = 0;    // of its capacity, for each byte
  };

  // Legs for a plan in a style; without one for a bound: by engines and by kernels, each piece as small as can be.
  // `part`: the fraction of the collective's bytes that a root sends.
  LegTable(Sites const& sites, Model const& model, PackingStyle const* style, double bytes, double part);

  [[nodiscard]] std::vector<Leg> const& legs() const { return legs_; }
  [[nodiscard]] std::vector<Coefficient> const& coefficients(std::size_t leg) const { return coefficients_[leg]; }
  // Of a row for each byte on a leg; 0 if the leg does not use it.
  [[nodiscard]] double weight(std::size_t leg, std::size_t row) const;
  [[nodiscard]] std::vector<double> const& capacities() const { return capacities_; }  // of rows
  [[nodiscard]] std::string const& name(std::size_t row) const { return names_[row]; }
  [[nodiscard]] bool is_memory(std::size_t site) const { return std::holds_alternative<NumaId>(sites_.places[site]); }
  [[nodiscard]] Seconds seconds(double time) const { return Seconds(time * bytes_ * kGiga); }
  [[nodiscard]] double handover(std::size_t leg) const { return legs_[leg].handover / seconds(1); }
  // The shortest start of any step between the participants, on a leg or not.
  [[nodiscard]] double min_start();
  // The shortest start of a step that is not on a leg, but staged or relayed as a whole. Copies by CPU cores do not
  // count: no collective uses them.
  [[nodiscard]] double min_start_off_legs();

  // Legs and capacities, the latter in bytes per second, for a finished packing.
  [[nodiscard]] Packing release() &&;

 private:
  void add_legs(std::uint32_t from, std::uint32_t to);
  void add_leg(Leg leg, BytesPerSecond rate);
  [[nodiscard]] bool suits_style(Op op, bool through_host) const;
  std::vector<Coefficient> coefficients_of(Leg const& leg, BytesPerSecond rate);
  [[nodiscard]] double bytes_of_piece() const;
  std::size_t row_of(ResourceId resource);
  std::size_t row_of(EngineId engine);
  void add_row(std::string name, double capacity);

  Sites const& sites_;
  Model const& model_;
  Planner planner_;
  PackingStyle const* style_;
  double bytes_;
  double part_;
  std::map<ResourceId, std::size_t> resources_;  // rows
  std::map<EngineId, std::size_t> engines_;      // rows
  std::vector<std::string> names_;               // of rows
  std::vector<double> capacities_;               // of rows: GB/s, or slots of an engine
  std::vector<Leg> legs_;
  std::vector<std::vector<Coefficient>> coefficients_;  // of legs
  std::optional<double> min_start_off_legs_;
};

}  // namespace lanewise
