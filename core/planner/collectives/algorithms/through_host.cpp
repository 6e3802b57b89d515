#include "core/planner/collectives/algorithms/through_host.hpp"

#include <algorithm>
#include <map>

#include "core/planner/collective_limits.hpp"
#include "core/planner/collectives/algorithms/algorithms.hpp"
#include "core/planner/collectives/algorithms/patterns.hpp"

namespace lanewise {
namespace {

struct Variant {
  std::size_t pieces = 1;     // of each part, one after another
  bool local_direct = false;  // participants near the writer's memory are served directly
};

class ThroughHostBuilder {
 public:
  ThroughHostBuilder(Collective const& collective, ParticipantLayout const& layout, Variant const& variant)
      : layout_(layout),
        variant_(variant),
        n_(collective.among.size()),
        island_(all_ranks(n_)),
        schedule_(n_ + layout.near_memories.size(), collective.bytes, n_ * variant.pieces) {
    for (std::size_t g = 0; layout.groups.size() > 1 && g < layout.groups.size(); ++g)
      for (auto const p : layout.groups[g]) island_[p] = g;
    if (has_reduce_scatter(collective.op))
      direct_reduce_scatter(schedule_, all_ranks(n_), parts_of(all_ranks(n_), variant.pieces));
    for (std::size_t k = 0; k < variant.pieces; ++k)
      for (std::size_t part = 0; part < n_; ++part)
        for (std::size_t m = 0; m < layout.near_memories.size(); ++m)
          send_to_readers(m, collective.op == CollectiveOp::Broadcast ? collective.root : part,
                          part * variant.pieces + k);
    schedule_.serialise_per_link();
  }
  TransferSchedule take() { return std::move(schedule_); }

 private:
  // One chunk of `from` to all participants near a host memory.
  void send_to_readers(std::size_t memory, std::size_t from, std::size_t chunk) {
    auto const& near = layout_.near_memories[memory].participants;
    bool const is_local = std::find(near.begin(), near.end(), from) != near.end();
    bool const direct = is_local && variant_.local_direct;
    Chunks const chunks{static_cast<std::uint32_t>(chunk)};
    std::map<std::size_t, std::vector<std::size_t>> islands;
    for (auto const p : near) islands[island_[p]].push_back(p);
    bool written = direct;
    for (auto const& [id, members] : islands) {
      auto const reader = id == island_[from] ? from : members[chunk % members.size()];
      if (reader != from) {
        if (!written) schedule_.send(from, n_ + memory, chunks, false);
        written = true;
        schedule_.send(direct ? from : n_ + memory, reader, chunks, false);
      }
      for (auto const p : members)
        if (p != reader && p != from) schedule_.send(reader, p, chunks, false);
    }
  }

  ParticipantLayout const& layout_;
  Variant const& variant_;
  std::size_t n_;
  std::vector<std::size_t> island_;  // of each participant: the group that NVLink joins it with
  TransferSchedule schedule_;
};

}  // namespace

std::vector<TransferSchedule> through_host_schedules(Collective const& collective, ParticipantLayout const& layout) {
  auto const n = collective.among.size();
  bool const can = collective.op == CollectiveOp::Broadcast || has_all_gather(collective.op);
  if (layout.near_memories.empty() || !can || n == 2) return {};
  std::vector<TransferSchedule> all;
  for (auto const pieces : kCollectiveLimits.through_host_pieces)
    for (bool const local_direct : {false, true}) {
      if (local_direct && layout.near_memories.size() < 2) continue;
      if (n * n * pieces > kCollectiveLimits.through_host_max_steps) continue;
      Variant const variant{pieces, local_direct};
      all.push_back(ThroughHostBuilder(collective, layout, variant).take());
    }
  return all;
}

}  // namespace lanewise
