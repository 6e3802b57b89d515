#include "core/machine/device_order.hpp"

#include <algorithm>
#include <charconv>

namespace lanewise {
namespace {

std::string_view stem_of(std::string_view name) {
  auto const last = name.find_last_not_of("0123456789");
  return last == std::string_view::npos ? std::string_view() : name.substr(0, last + 1);
}

}  // namespace

std::optional<int> number_of(Machine const& machine, PciId id, std::string_view stem) {
  std::string_view const name = machine.at(id).name;
  if (!name.starts_with(stem)) return std::nullopt;
  auto const digits = name.substr(stem.size());
  int value = 0;
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  bool const whole =
      !digits.empty() && digits[0] != '-' && error == std::errc() && end == digits.data() + digits.size();
  return whole ? std::optional(value) : std::nullopt;
}

std::vector<PciId> all_in_number_order(Machine const& machine, PciKind kind) {
  auto all = machine.all(kind);
  if (all.empty()) return all;
  auto const stem = stem_of(machine.at(all[0]).name);
  bool const numbered =
      std::all_of(all.begin(), all.end(), [&](PciId id) { return number_of(machine, id, stem).has_value(); });
  if (numbered)
    std::stable_sort(all.begin(), all.end(),
                     [&](PciId a, PciId b) { return *number_of(machine, a, stem) < *number_of(machine, b, stem); });
  return all;
}

}  // namespace lanewise
