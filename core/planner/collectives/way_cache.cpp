#include "core/planner/collectives/way_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "core/io/error.hpp"

namespace lanewise {
namespace {

std::optional<std::size_t> fastest_without_cpu(Choice const& choice) {
  std::optional<std::size_t> fastest;
  for (std::size_t i = 0; i < choice.evaluated.size(); ++i) {
    auto const& evaluated = choice.evaluated[i];
    if (evaluated.refused_by != nullptr || !evaluated.cost || evaluated.way.mechanism == Mechanism::BarCopy) continue;
    if (!fastest || evaluated.cost->time < choice.evaluated[*fastest].cost->time) fastest = i;
  }
  return fastest;
}

}  // namespace

void WayCache::set_legs(std::vector<Leg> const& legs) {
  legs_.clear();
  for (auto const& leg : legs) legs_.push_back({leg.way, leg.op});
}

WayCache::Entry const& WayCache::way_of(TransferSchedule::Transfer const& transfer) {
  if (transfer.leg) return legs_[*transfer.leg];
  auto const [entry, is_new] =
      entries_.try_emplace({transfer.from, transfer.to, transfer.bytes.value(), transfer.reduces});
  if (is_new) entry->second = choose(transfer);
  return entry->second;
}

// A kernel adds. Where it can, it reads the other GPU's memory itself; otherwise it runs after the copy, which is one
// more start and one more pass over the data.
WayCache::Entry WayCache::choose(TransferSchedule::Transfer const& transfer) {
  Request request{.id = std::string(to_string(collective_.op)),
                  .from = places_[transfer.from],
                  .to = places_[transfer.to],
                  .bytes = transfer.bytes};
  std::optional<Entry> best;
  Seconds fastest{0};
  std::string refusal = "nothing moves data there";
  // To and from host memory the GPU's copy engines move data.
  bool const through_host = std::max(transfer.from, transfer.to) >= collective_.among.size();
  bool const kernel_first = !through_host && (transfer.reduces || movers_ == Movers::Kernels);
  auto const by_kernel = transfer.reduces ? Op::Read : Op::Write;
  for (auto const op : {kernel_first ? by_kernel : Op::Copy, kernel_first ? Op::Copy : by_kernel}) {
    if (through_host && op == by_kernel) continue;
    request.op = op;
    auto const choice = choice_of(request);
    if (!choice.chosen) {
      if (choice.evaluated.front().refused_by != nullptr) refusal = choice.evaluated.front().refused_by->id;
      continue;
    }
    auto const& evaluated = choice.evaluated[*choice.chosen];
    if (!evaluated.cost || (best && evaluated.cost->time >= fastest)) continue;
    best = Entry{evaluated.way, op};
    fastest = evaluated.cost->time;
    if (kernel_first) break;
  }
  if (!best)
    throw PlanError(fmt::format("{} from '{}' to '{}': {}", to_string(collective_.op),
                                model_.machine().name_of(request.from), model_.machine().name_of(request.to), refusal));
  return *best;
}

Choice WayCache::choice_of(Request request) const {
  auto choice = planner_.choose(request);
  if (!choice.chosen) return choice;
  // CPU cores do not copy within a collective: GPUs do not wait for them.
  if (choice.evaluated[*choice.chosen].way.mechanism == Mechanism::BarCopy) choice.chosen = fastest_without_cpu(choice);
  if (!choice.chosen) return choice;
  // Participants have their own data to move, so none relays for two others that NVLink joins directly.
  auto const& way = choice.evaluated[*choice.chosen].way;
  auto const& among = collective_.among;
  if (way.mechanism != Mechanism::NvlinkRelay ||
      std::find(among.begin(), among.end(), Place(*way.relay)) == among.end())
    return choice;
  request.only = Mechanism::Nvlink;
  auto direct = planner_.choose(request);
  return direct.chosen ? direct : choice;
}

}  // namespace lanewise
