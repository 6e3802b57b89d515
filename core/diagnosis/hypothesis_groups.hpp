#pragma once
// Parts of hypotheses_for(): causes that a library, the network between nodes, or the firmware has.
#include <functional>
#include <set>
#include <vector>

#include "core/diagnosis/hypothesis.hpp"

namespace lanewise {

// What has the same effect as a setting.
std::function<void(Machine&)> applying(Setting setting, Catalogue& catalogue);

// Variables of a collective's library. `exchanges`: an all-to-all is among the slow figures.
std::vector<Hypothesis> library_hypotheses(Machine const& machine, Catalogue& catalogue, bool exchanges);
// Networks that lost cables, or that send each flow over one of them.
std::vector<Hypothesis> fabric_hypotheses(Machine const& machine, Catalogue& catalogue);
// NICs whose Data Direct functions are not used, so that GPUs are reached through the CPU; none where they have none.
std::vector<Hypothesis> no_data_direct(Machine const& machine, Catalogue& catalogue);
// BAR1 of the GPUs among `functions` (indices of the machine's) maps 256 MiB only.
std::vector<Hypothesis> small_bar1(Machine const& machine, std::set<std::size_t> const& functions);

}  // namespace lanewise
