#include "core/view/optimality_text.hpp"

#include <fmt/format.h>

#include "lanewise/plan/collective.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {

namespace {

// Says how many nodes the steps of a folded plan stand for.
std::string folding_text(Folding const& folding) {
  if (folding.empty()) return "";
  std::size_t units = 0;
  for (auto const& alike : folding) units += alike.units.size();
  auto const what = folding.front().units.front().size() == 1 ? "nodes" : "groups of nodes";
  return folding.size() == 1 ? fmt::format(" by each of {} {} that are alike", units, what)
                             : fmt::format(" by {} {} of {} kinds", units, what, folding.size());
}

}  // namespace

std::string collective_text(Plan const& plan, Seconds makespan) {
  std::string text;
  for (auto const& [id, one, first] : plan.collectives)
    text += fmt::format("{}: {} of {} among {} by {}\n", id, to_string(one.op), exact_text(one.bytes), one.among.size(),
                        to_string(one.algorithm));
  if (!plan.collective) return text;
  auto const& collective = *plan.collective;
  if (plan.library) {
    auto const& choice = *plan.library;
    auto const channels =
        choice.channels == 0 ? "" : fmt::format(", {} channel{}", choice.channels, choice.channels == 1 ? "" : "s");
    text += fmt::format("{} of {} among {} as {} does it: {}, {}{}, bus bandwidth {}\n", to_string(collective.op),
                        exact_text(collective.bytes), collective.among.size(), choice.library, choice.algorithm,
                        choice.protocol, channels, rounded_text(bus_bandwidth(collective, makespan)));
    for (auto const& remark : choice.remarks) text += fmt::format("  {}\n", remark);
    return text;
  }
  return fmt::format("{} of {} among {} by {}: {} steps{}, bus bandwidth {}\n", to_string(collective.op),
                     exact_text(collective.bytes), collective.among.size(), to_string(collective.algorithm),
                     plan.steps.size(), folding_text(plan.folding), rounded_text(bus_bandwidth(collective, makespan)));
}

std::string best_plan_text(Plan const& best, Seconds makespan, Seconds of_library) {
  return fmt::format("best plan of lanewise: {} by {}, bus bandwidth {}; the library takes {:.2f} times that\n",
                     rounded_text(makespan), to_string(best.collective->algorithm),
                     rounded_text(bus_bandwidth(*best.collective, makespan)), of_library / makespan);
}

std::string optimality_text(Seconds makespan, std::optional<LowerBound> const& bound) {
  auto const text = fmt::format("makespan {}", rounded_text(makespan));
  if (!bound) return text + ", no bound: a transfer has no way of known cost, or switches reduce";
  return fmt::format("{}, at least {} (gap {:.1f} %), held by {}", text, rounded_text(bound->makespan),
                     bound->gap(makespan) * 100, binding_text(*bound));
}

}  // namespace lanewise
