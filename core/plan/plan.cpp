#include "lanewise/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

// Buffers of participants: all but the host memory that data pass through.
std::size_t count_participant_buffers(std::span<Buffer const> buffers, Collective const& collective) {
  auto const& among = collective.among;
  return static_cast<std::size_t>(std::count_if(buffers.begin(), buffers.end(), [&](Buffer const& buffer) {
    return !std::holds_alternative<NumaId>(buffer.at) ||
           std::find(among.begin(), among.end(), buffer.at) != among.end();
  }));
}

// Makes the pieces of a split transfer one step, that of its decision, and renumbers the steps that are left.
void join_pieces(Plan& plan, Decision& decided) {
  auto& whole = plan.steps[index(decided.step)];
  std::vector<bool> is_joined(plan.steps.size(), false);
  for (auto const& piece : decided.others) {
    auto const& step = plan.steps[index(piece.step)];
    whole.bytes += step.bytes;
    whole.offset = std::min(whole.offset, step.offset);
    whole.after.insert(whole.after.end(), step.after.begin(), step.after.end());
    is_joined[index(piece.step)] = true;
  }
  std::vector<StepId> new_id(plan.steps.size());
  std::vector<Step> kept;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (is_joined[i]) continue;
    new_id[i] = StepId(kept.size());
    kept.push_back(std::move(plan.steps[i]));
  }
  for (auto const& piece : decided.others) new_id[index(piece.step)] = new_id[index(decided.step)];
  for (std::size_t i = 0; i < kept.size(); ++i) {
    auto& step = kept[i];
    for (auto& before : step.after) before = new_id[index(before)];
    std::erase(step.after, StepId(i));  // pieces that waited for one another are one step now
    std::sort(step.after.begin(), step.after.end());
    step.after.erase(std::unique(step.after.begin(), step.after.end()), step.after.end());
    for (auto& before : step.order_only) before = new_id[index(before)];
  }
  decided.others.clear();
  plan.steps = std::move(kept);
  for (auto& each : plan.decisions) {
    each.step = new_id[index(each.step)];
    for (auto& piece : each.others) piece.step = new_id[index(piece.step)];
  }
}

}  // namespace

std::span<Buffer const> buffers_of(Plan const& plan, NamedCollective const& named) {
  auto const first = index(named.first);
  auto end = plan.buffers.size();
  for (auto const& other : plan.collectives)
    if (index(other.first) > first) end = std::min(end, index(other.first));
  if (first >= end) return {};
  auto const participants = named.collective.among.size();
  auto const buffers = std::span(plan.buffers).subspan(first, end - first);
  auto const count = count_participant_buffers(buffers, named.collective);
  return count == participants || count == 2 * participants ? buffers : std::span<Buffer const>();
}

std::size_t first_result(std::span<Buffer const> buffers, Collective const& collective) {
  return count_participant_buffers(buffers, collective) - collective.among.size();
}

bool is_job_set(Plan const& plan) {
  return !plan.collectives.empty() ||
         std::any_of(plan.steps.begin(), plan.steps.end(), [](Step const& step) { return step.work > Seconds(0); });
}

Plan with_way(Plan const& plan, std::size_t decision, std::size_t candidate) {
  Plan other = plan;
  auto& decided = other.decisions[decision];
  auto& whole = other.steps[index(decided.step)];
  whole.way = decided.candidates[candidate].way;
  whole.op = decided.candidates[candidate].op;
  whole.order_only.clear();  // chosen for the old way; and what they wait for may itself wait for another piece
  decided.chosen = candidate;
  if (!decided.others.empty()) join_pieces(other, decided);
  return other;
}

std::string text_of(Way const& way, Machine const& machine) {
  auto text = std::string(to_string(way.mechanism));
  if (way.mechanism == Mechanism::PcieP2p) text += way.drive == Drive::Push ? " write" : " read";
  std::vector<std::string> through;
  for (auto const& id : {way.relay, way.nic_from, way.nic_to, way.relay_to})
    if (id) through.push_back(machine.at(*id).name);
  for (auto const& id : {way.staging, way.staging_to == way.staging ? std::nullopt : way.staging_to})
    if (id) through.push_back(machine.at(*id).name);
  if (!through.empty()) text += fmt::format(" through {}", fmt::join(through, ", "));
  if (way.carrier == Carrier::Mpi) text += ", by MPI";
  if (way.by_driver) text += " by the driver";
  if (way.pageable) text += ", pageable";
  if (way.queue_pairs > 0) text += fmt::format(", {} queue pair{}", way.queue_pairs, way.queue_pairs > 1 ? "s" : "");
  if (way.cores > 0) text += fmt::format(", {} core{}", way.cores, way.cores > 1 ? "s" : "");
  if (way.blocks > 0) text += fmt::format(", {} block{}", way.blocks, way.blocks > 1 ? "s" : "");
  if (way.warps > 0)
    text += fmt::format(", {} warp{}, {} in a block", way.warps, way.warps > 1 ? "s" : "", way.warps_per_block);
  if (way.low_latency) text += ", with flags";
  if (way.multimem) text += ", by multimem";
  if (way.in_network) text += ", added in the network";
  if (way.access.each > Bytes(0))
    text += fmt::format(", {} at a time {} over {}", exact_text(way.access.each),
                        way.access.random ? "at random" : "in turn", exact_text(way.access.window));
  if (way.chunk > Bytes(0)) text += fmt::format(", {} chunks", exact_text(way.chunk));
  return text;
}

}  // namespace lanewise
