#include "core/planner/collectives/algorithms/group_exchange.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "core/planner/collective_limits.hpp"
#include "core/planner/collectives/algorithms/algorithms.hpp"
#include "core/planner/collectives/algorithms/patterns.hpp"

namespace lanewise {
namespace {

class GroupExchange {
 public:
  GroupExchange(Collective const& collective, ParticipantLayout const& layout, InterGroupPattern pattern,
                std::size_t slices, IntraGroupPattern within)
      : pattern_(pattern), within_(within), layout_(layout), grouped_(collective, layout, slices) {}

  TransferSchedule build() {
    if (pattern_ == InterGroupPattern::WholeGroups)
      exchange_whole_groups();
    else
      exchange_chunks();
    return std::move(grouped_.schedule());
  }

 private:
  // Of each member of a group, the chunks of all members with its position.
  [[nodiscard]] std::vector<Chunks> chunks_by_position(std::size_t slice) const {
    std::vector<Chunks> columns(size_);
    for (std::size_t m = 0; m < size_; ++m) {
      for (std::size_t g = 0; g < groups_.size(); ++g) columns[m].push_back(grouped_.chunk(slice, g, m));
      std::sort(columns[m].begin(), columns[m].end());
    }
    return columns;
  }

  void exchange_chunks() {
    if (has_reduce_scatter(op_)) {
      reduce_from_other_members();
      if (within_ == IntraGroupPattern::AllAtOnce)
        reduce_all_at_once();
      else
        inside_groups(direct_reduce_scatter);
      if (slices_ > 1) grouped_.end_phase();  // one slice need not be ordered: its parts end together
    }
    std::vector<std::size_t> begins;  // the first transfer of each slice between groups
    for (std::size_t slice = 0; slice < slices_; ++slice) {
      begins.push_back(schedule_.transfers().size());
      if (has_reduce_scatter(op_)) between_groups(slice, recursive_halving_reduce_scatter, ring_reduce_scatter);
      if (has_all_gather(op_)) between_groups(slice, recursive_doubling_all_gather, ring_all_gather);
      constexpr auto kConcurrent = kCollectiveLimits.slices_between_groups;
      if (slice >= kConcurrent)
        schedule_.chain_after(begins[slice], begins[slice - kConcurrent], begins[slice - kConcurrent + 1]);
    }
    if (has_all_gather(op_)) inside_groups(direct_all_gather);  // slices in the order of their arrival
    if (has_all_gather(op_)) send_to_other_members();
  }
  // Members beyond the common size hand what they have to those that exchange it, a part to each, and get the result
  // from them.
  void reduce_from_other_members() {
    for (std::size_t slice = 0; slice < slices_; ++slice) {
      auto const columns = chunks_by_position(slice);
      for (std::size_t g = 0; g < layout_.other_members.size(); ++g)
        for (std::size_t m = 0; m < size_; ++m)
          for (auto const other : layout_.other_members[g]) schedule_.send(other, groups_[g][m], columns[m], true);
    }
  }
  void send_to_other_members() {
    for (std::size_t slice = 0; slice < slices_; ++slice) {
      auto const columns = chunks_by_position(slice);
      for (std::size_t g = 0; g < layout_.other_members.size(); ++g)
        for (std::size_t m = 0; m < size_; ++m)
          for (auto const other : layout_.other_members[g]) schedule_.send(groups_[g][m], other, columns[m], false);
    }
  }
  void inside_groups(auto pattern) {
    for (std::size_t slice = 0; slice < slices_; ++slice)
      for (auto const& group : groups_) pattern(schedule_, group, chunks_by_position(slice));
  }
  void reduce_all_at_once() {
    std::vector<std::vector<Chunks>> slices;
    for (std::size_t slice = 0; slice < slices_; ++slice) slices.push_back(chunks_by_position(slice));
    // An all_reduce has another phase over these links for the exchange between groups to overlap with: of 1 GiB
    // between two servers of MI300X it takes 5.9 ms this way, 6.1 a few slices at a time.
    auto const at_once = op_ == CollectiveOp::AllReduce ? slices_ : size_ - 1;
    for (auto const& group : groups_)
      for (std::size_t first = 0; first < slices_; first += at_once)
        mesh_reduce_scatter(schedule_, group, std::span(slices).subspan(first, std::min(at_once, slices_ - first)));
  }
  // Among the members with the same position, one position after another.
  void between_groups(std::size_t slice, auto by_halving, auto around_ring) {
    for (std::size_t m = 0; m < size_; ++m) {
      std::vector<std::size_t> ranks;
      std::vector<Chunks> parts;
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        ranks.push_back(groups_[g][m]);
        parts.push_back({grouped_.chunk(slice, g, m)});
      }
      if (pattern_ == InterGroupPattern::Halving)
        by_halving(schedule_, ranks, parts);
      else
        around_ring(schedule_, ranks, parts);
    }
  }

  // The chunks that belong to all members of a group, in as many runs as there are slices.
  [[nodiscard]] std::vector<Chunks> runs_of(std::size_t group) const {
    Chunks chunks;
    for (std::size_t slice = 0; slice < slices_; ++slice)
      for (std::size_t m = 0; m < size_; ++m) chunks.push_back(grouped_.chunk(slice, group, m));
    std::sort(chunks.begin(), chunks.end());
    std::vector<Chunks> runs;
    for (auto begin = chunks.begin(); begin != chunks.end(); begin += static_cast<std::ptrdiff_t>(size_))
      runs.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(size_));
    return runs;
  }
  [[nodiscard]] std::vector<Chunks> own_chunks(std::size_t group) const {
    std::vector<Chunks> own(size_);
    for (std::size_t m = 0; m < size_; ++m)
      for (std::size_t slice = 0; slice < slices_; ++slice) own[m].push_back(grouped_.chunk(slice, group, m));
    return own;
  }
  // Each run of a group goes to every other group (or is added up for it) through one member of each, and members take
  // turns: few long transfers instead of many short ones, one for each member's chunk. Every member does one at a time;
  // otherwise all of them would finish late.
  void exchange_whole_groups() {
    bool const reduces = has_reduce_scatter(op_);
    std::vector<std::vector<Chunks>> runs;
    for (std::size_t g = 0; g < groups_.size(); ++g) runs.push_back(runs_of(g));
    for (std::size_t g = 0; !reduces && g < groups_.size(); ++g)
      direct_all_gather(schedule_, groups_[g], own_chunks(g));
    std::size_t turn = 0;
    for (std::size_t distance = 1; distance < groups_.size(); ++distance)
      for (std::size_t run = 0; run < slices_; ++run, ++turn)
        for (std::size_t g = 0; g < groups_.size(); ++g) {
          auto const& sending = groups_[g];
          auto const& receiving = groups_[(g + distance) % groups_.size()];
          auto const carrier = turn % size_;
          auto const& chunks = runs[reduces ? (g + distance) % groups_.size() : g][run];
          for (std::size_t other = 1; reduces && other < size_; ++other)
            schedule_.send(sending[(carrier + other) % size_], sending[carrier], chunks, true);
          schedule_.send(sending[carrier], receiving[carrier], chunks, reduces);
          for (std::size_t other = 1; !reduces && other < size_; ++other)
            schedule_.send(receiving[carrier], receiving[(carrier + other) % size_], chunks, false);
        }
    for (std::size_t g = 0; reduces && g < groups_.size(); ++g)
      direct_reduce_scatter(schedule_, groups_[g], own_chunks(g));
    schedule_.limit_outstanding(1, groups_);
  }

  InterGroupPattern pattern_;
  IntraGroupPattern within_;
  ParticipantLayout const& layout_;
  GroupedSchedule grouped_;
  TransferSchedule& schedule_ = grouped_.schedule();
  std::vector<std::vector<std::size_t>> const& groups_ = grouped_.groups();
  std::size_t slices_ = grouped_.slices();
  std::size_t size_ = grouped_.group_size();
  CollectiveOp op_ = grouped_.collective().op;
};

}  // namespace

TransferSchedule group_exchange(Collective const& collective, ParticipantLayout const& layout,
                                InterGroupPattern pattern, std::size_t slices, IntraGroupPattern within) {
  return GroupExchange(collective, layout, pattern, slices, within).build();
}

std::optional<std::size_t> runs_per_group(Collective const& collective, std::size_t groups, std::size_t group_size) {
  if (collective.op != CollectiveOp::AllGather && collective.op != CollectiveOp::ReduceScatter) return std::nullopt;
  for (std::size_t runs = 1; 2 * runs <= group_size; ++runs) {
    auto const turns = (groups - 1) * runs;
    auto const rounds = (turns + group_size - 1) / group_size;
    if (static_cast<double>(turns) >=
        kCollectiveLimits.min_member_utilisation * static_cast<double>(rounds * group_size))
      return runs;
  }
  return std::nullopt;
}

}  // namespace lanewise
