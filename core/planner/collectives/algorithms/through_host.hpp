#pragma once
#include <vector>

#include "core/planner/collectives/algorithms/participant_layout.hpp"
#include "core/planner/collectives/algorithms/transfer_schedule.hpp"
#include "lanewise/plan/collective.hpp"

namespace lanewise {

// Broadcast, all_gather and all_reduce through host memory: each participant writes its part to every host memory
// once, however many read it there. Of the participants that NVLink joins, one reads it and passes it on. An
// all_reduce begins with a direct reduce_scatter. Variants: 1, 4 or 16 pieces per part, and participants near the
// writer's memory served through it or directly. Empty for two participants, where this is a staged copy.
std::vector<TransferSchedule> through_host_schedules(Collective const& collective, ParticipantLayout const& layout);

}  // namespace lanewise
