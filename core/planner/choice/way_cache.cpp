#include "core/planner/choice/way_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "core/planner/direct_ways.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

// The fastest legal way among those wanted.
template <typename IsWanted>
std::optional<std::size_t> fastest_of(Choice const& choice, IsWanted is_wanted) {
  std::optional<std::size_t> fastest;
  for (std::size_t i = 0; i < choice.evaluated.size(); ++i) {
    auto const& evaluated = choice.evaluated[i];
    if (evaluated.refused_by != nullptr || !evaluated.cost || !is_wanted(evaluated.way)) continue;
    if (!fastest || evaluated.cost->time < choice.evaluated[*fastest].cost->time) fastest = i;
  }
  return fastest;
}

}  // namespace

void WayCache::set_legs(std::vector<Leg> const& legs) {
  legs_.clear();
  for (auto const& leg : legs) legs_.push_back({leg.way, leg.op});
}

void WayCache::map_peers(std::vector<TransferSchedule::Transfer> const& transfers) {
  mappings_.reset();
  if (!has_few_mappings_) return;
  std::set<PeerPair> known;
  std::vector<PeerPair> wanted;
  for (auto const& transfer : transfers)
    if (auto const pair = pair_of(transfer); pair && way_of(transfer).way.mechanism == Mechanism::PcieP2p)
      if (known.insert(*pair).second) wanted.push_back(*pair);
  if (exceed_peer_limit(model_.machine(), wanted)) mappings_.emplace(model_.machine()).add(wanted);
}

MappedPeers WayCache::peers_of(TransferSchedule::Transfer const& transfer) const {
  auto const pair = mappings_ ? pair_of(transfer) : std::nullopt;
  return pair && !mappings_->has(*pair) ? mappings_->besides(*pair) : MappedPeers{};
}

std::size_t WayCache::KindHash::operator()(Kind const& kind) const {
  auto const flags = (kind.reduces ? 1U : 0U) + (kind.through_host ? 2U : 0U) + (kind.may_map ? 4U : 0U);
  return std::hash<PairClass>{}(kind.pair) ^ (std::hash<std::int64_t>{}(kind.bytes) * 8 + flags);
}

WayCache::Entry WayCache::way_of(TransferSchedule::Transfer const& transfer) {
  if (transfer.leg) return legs_[*transfer.leg];
  auto const& classes = model_.classes();
  auto const& from = places_[transfer.from];
  auto const& to = places_[transfer.to];
  bool const through_host = std::max(transfer.from, transfer.to) >= collective_.among.size();
  auto const peers = peers_of(transfer);
  bool const may_map = peers.source == 0 && peers.target == 0;
  Kind const kind{classes.of(from, to), transfer.bytes.value(), transfer.reduces, through_host, may_map};
  auto const [known, is_new] = found_.try_emplace(kind);
  auto& found = known->second;
  if (is_new) found = choose(transfer, through_host, peers);
  if (!found.passes_relay)
    if (auto const way = classes.moved(found.entry.way, found.at, classes.nodes_of(from, to)))
      return {*way, found.entry.op};
  auto const [own, is_first] =
      of_pairs_.try_emplace({transfer.from, transfer.to, transfer.bytes.value(), transfer.reduces, may_map});
  if (is_first) own->second = choose(transfer, through_host, peers).entry;
  return own->second;
}

// A kernel adds. Where it can, it reads the other GPU's memory itself; otherwise it runs after the copy, which is one
// more start and one more pass over the data.
WayCache::Found WayCache::choose(TransferSchedule::Transfer const& transfer, bool through_host, MappedPeers peers) {
  Request request{.id = std::string(to_string(collective_.op)),
                  .from = places_[transfer.from],
                  .to = places_[transfer.to],
                  .bytes = transfer.bytes};
  std::optional<Entry> best;
  bool passes_relay = false;
  Seconds fastest{0};
  std::string refusal = "nothing moves data there";
  // To and from host memory the GPU's copy engines move data.
  bool const kernel_first = !through_host && (transfer.reduces || movers_ == Movers::Kernels);
  auto const by_kernel = transfer.reduces ? Op::Read : Op::Write;
  for (auto const op : {kernel_first ? by_kernel : Op::Copy, kernel_first ? Op::Copy : by_kernel}) {
    if (through_host && op == by_kernel) continue;
    request.op = op;
    auto const considered = choice_of(request, peers);
    auto const& choice = considered.choice;
    passes_relay = passes_relay || considered.passes_relay;
    if (!choice.chosen) {
      if (choice.evaluated.front().refused_by != nullptr) refusal = choice.evaluated.front().refused_by->id;
      continue;
    }
    auto const& evaluated = choice.evaluated[*choice.chosen];
    // Kernels are passed over only where copies alone go straight, as through RoCE ports of an accelerator.
    if (kernel_first && best && !is_direct(evaluated.way)) continue;
    if (!evaluated.cost || (best && evaluated.cost->time >= fastest)) continue;
    best = Entry{evaluated.way, op};
    fastest = evaluated.cost->time;
    if (kernel_first && is_direct(best->way)) break;
  }
  if (!best)
    throw PlanError(fmt::format("{} from '{}' to '{}': {}", to_string(collective_.op),
                                model_.machine().name_of(request.from), model_.machine().name_of(request.to), refusal));
  return {*best, model_.classes().nodes_of(request.from, request.to), passes_relay};
}

void WayCache::prefer_direct(Choice& choice) {
  if (is_direct(choice.evaluated[*choice.chosen].way)) return;
  auto const direct = fastest_of(choice, is_direct);
  if (!direct) return;
  if (preference_ == WayPreference::Direct)
    choice.chosen = direct;
  else
    passed_over_direct_ = true;
}

WayCache::Considered WayCache::choice_of(Request request, MappedPeers peers) {
  auto choice = planner_.choose(request, peers);
  if (!choice.chosen) return {std::move(choice)};
  // CPU cores do not copy within a collective: GPUs do not wait for them.
  auto const by_gpu = [](Way const& way) { return way.mechanism != Mechanism::BarCopy; };
  if (!by_gpu(choice.evaluated[*choice.chosen].way)) choice.chosen = fastest_of(choice, by_gpu);
  if (!choice.chosen) return {std::move(choice)};
  prefer_direct(choice);
  // Participants have their own data to move, so none relays for two others that NVLink joins directly.
  auto const& way = choice.evaluated[*choice.chosen].way;
  if (way.mechanism != Mechanism::NvlinkRelay) return {std::move(choice)};
  auto const& among = collective_.among;
  if (std::find(among.begin(), among.end(), Place(*way.relay)) == among.end()) return {std::move(choice), true};
  request.only = Mechanism::Nvlink;
  auto direct = planner_.choose(request);
  return {direct.chosen ? std::move(direct) : std::move(choice), true};
}

}  // namespace lanewise
