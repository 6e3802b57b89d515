#include "core/planner/choice/plan_of_schedule.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "lanewise/machine/fingerprint.hpp"

namespace lanewise {
namespace {

// The buffers that a schedule uses: the data of all participants, their outputs if it has any, then the host memories
// that something passes.
class BufferTable {
 public:
  BufferTable(Plan& plan, Machine const& machine, Collective const& collective, std::vector<Place> const& places,
              std::vector<TransferSchedule::Transfer> const& transfers, bool has_output)
      : participants_(collective.among.size()) {
    auto const add = [&](Place const& place, char const* suffix, Bytes bytes) {
      plan.buffers.push_back({machine.name_of(place) + suffix, place, bytes});
    };
    for (std::size_t i = 0; i < participants_; ++i) add(collective.among[i], ".data", held_by(collective, i));
    for (std::size_t i = 0; has_output && i < participants_; ++i)
      add(collective.among[i], ".output", received_by(collective, i));
    for (auto m = static_cast<std::uint32_t>(participants_); m < places.size(); ++m) {
      auto const writes_it = [&](TransferSchedule::Transfer const& transfer) { return transfer.to == m; };
      if (std::none_of(transfers.begin(), transfers.end(), writes_it)) continue;
      of_memory_.emplace(m, BufferId(plan.buffers.size()));
      add(places[m], ".data", collective.bytes);
    }
  }
  [[nodiscard]] BufferId of(std::uint32_t place, TransferSchedule::BufferRole role) const {
    if (place >= participants_) return of_memory_.at(place);
    return BufferId(role == TransferSchedule::BufferRole::Data ? place : place + participants_);
  }

 private:
  std::size_t participants_;
  std::map<std::uint32_t, BufferId> of_memory_;
};

}  // namespace

Plan plan_of_schedule(Model const& model, Collective const& collective, std::vector<Place> const& places,
                      Algorithm algorithm, TransferSchedule const& schedule, WayCache& ways) {
  auto const& machine = model.machine();
  Plan plan{machine.name, fingerprint(machine), {}, {}, {}, collective};
  plan.collective->algorithm = algorithm;
  bool const has_output = schedule.has_output() || has_outputs(collective.op);
  auto const& transfers = schedule.transfers();
  BufferTable const buffers(plan, machine, collective, places, transfers, has_output);
  plan.steps.reserve(transfers.size());
  ways.map_peers(transfers);
  std::string const name(to_string(collective.op));
  for (auto const& transfer : transfers) {
    auto const& [way, op] = ways.way_of(transfer);
    Step step{name, places[transfer.from], places[transfer.to], transfer.bytes, op, way, {}};
    for (auto const before : transfer.after) step.after.push_back(StepId(before));
    step.reads = Region{buffers.of(transfer.from, transfer.reads), transfer.read_at};
    step.writes = Region{buffers.of(transfer.to, transfer.writes), transfer.write_at};
    step.reduces = transfer.reduces;
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

}  // namespace lanewise
