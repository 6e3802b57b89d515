#pragma once
// The figures of a machine's parts that measured transfers can correct, and how to read and set them as numbers.
//
//   for (auto const& target : targets_of(machine))            // every figure of every part that is built in
//     target.set(machine, 1.01 * *target.value(machine));
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/machine/machine.hpp"
#include "lanewise/model/resources/parameter.hpp"
#include "lanewise/units/dimension.hpp"

namespace lanewise {

// One key of one kind of part.
struct AdjustableFigure {
  PartKind kind;
  std::string_view key;  // as in a part's file
  Dimension unit;
  Parameter parameter;  // its range is the prior of the fit
  double upper_limit;   // physical limit; infinity if there is none
  bool shared;          // a limit that transfers share; single transfers rarely reach it
  // The figure in use, or the model's default if the part does not state it; nullopt if the part has no such limit.
  std::optional<double> (*value)(Part const&);
  void (*set)(Part&, double);
};
std::span<AdjustableFigure const> adjustable_figures();

// A figure of one part everywhere in the machine, or only at one device or link.
struct CalibrationTarget {
  AdjustableFigure const* figure = nullptr;
  std::string part;
  std::string at;  // a function, a socket, a switch of the fabric, or two ends of an NVLink or socket link,
                   // "gpu0-gpu1"; empty: the part

  [[nodiscard]] std::optional<double> value(Machine const& machine) const;
  // With `at`: first gives it its own copy of the part. Without: sets the part and all such copies, so set parts before
  // single devices. Does nothing if the machine has no such part.
  void set(Machine& machine, double value) const;
  [[nodiscard]] std::string text() const;  // "nvlink-4 copy_efficiency", "gpu3 link_utilisation_up"
  friend bool operator==(CalibrationTarget const&, CalibrationTarget const&) = default;
};

// The name of a device's own copy of a part: "h200-sxm5-141g/gpu3".
std::string part_name_at(std::string_view part, std::string_view at);
// The part of the function, socket, NVLink bundle or socket link called `at`; nullopt if there is none.
std::optional<PartId> part_at(Machine const& machine, std::string_view at);
// Returns the own copy of the part of `at`, made on the first call. `at` must exist.
Part& own_part(Machine& machine, std::string_view at);
// Names of everything that has this part or its own copy of it, in file order.
std::vector<std::string> places_of_part(Machine const& machine, std::string_view part);

// The adjustable figures of all parts in the machine: those that are `shared` limits, or all others.
std::vector<CalibrationTarget> targets_of(Machine const& machine, bool shared);

}  // namespace lanewise
