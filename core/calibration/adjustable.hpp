#pragma once
// The figures of a machine's parts that measuring single transfers can correct, and how to reach them as numbers.
//
//   for (auto const& target : targets_of(machine))            // every figure of every part that is built in
//     target.set(machine, 1.01 * *target.value(machine));
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/model/resources/parameter.hpp"
#include "core/units/dimension.hpp"

namespace lanewise {

// One key of one kind of part.
struct AdjustableFigure {
  PartKind kind;
  std::string_view key;  // as in a part's file
  Dimension unit;
  Parameter parameter;  // whose range says how far it may be off
  double upper_limit;   // what it cannot exceed; infinity where nothing forbids more
  bool shared;          // a limit of what meets there, which few single transfers reach
  // The figure in use, with what stands in where the part is silent; nullopt where the part has no such limit.
  std::optional<double> (*value)(Part const&);
  void (*set)(Part&, double);
};
std::span<AdjustableFigure const> adjustable_figures();

// A figure of one part wherever it is built in, or of the one thing called `at`.
struct CalibrationTarget {
  AdjustableFigure const* figure = nullptr;
  std::string part;
  std::string at;  // a function, a socket, or two ends of an NVLink or socket link, "gpu0-gpu1"; empty: the part

  [[nodiscard]] std::optional<double> value(Machine const& machine) const;
  // Of `at`, gives it a part of its own first; of a part, also of the copies that single things have for themselves, so
  // those come after. Does nothing where the machine has no such part.
  void set(Machine& machine, double value) const;
  [[nodiscard]] std::string text() const;  // "nvlink-4 copy_efficiency", "gpu3 link_utilisation_up"
  friend bool operator==(CalibrationTarget const&, CalibrationTarget const&) = default;
};

// The name of the copy of a part that one thing has for itself: "h200-sxm5-141g/gpu3".
std::string part_name_at(std::string_view part, std::string_view at);
// What a name stands for, and its part: a function, socket, NVLink bundle or socket link.
std::optional<PartId> part_at(Machine const& machine, std::string_view at);
// Gives the thing called `at` a copy of its part to itself (once) and returns it. It must exist.
Part& own_part(Machine& machine, std::string_view at);
// Everything that can be called `at` and has this part, or a copy of it for itself, in file order.
std::vector<std::string> places_of_part(Machine const& machine, std::string_view part);

// Every adjustable figure of the parts that are built in, those of `shared` limits or the others.
std::vector<CalibrationTarget> targets_of(Machine const& machine, bool shared);

}  // namespace lanewise
