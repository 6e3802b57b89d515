#include "core/workload/rank_grid.hpp"

#include <array>
#include <map>
#include <tuple>

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 15> kRankGroups{"tp",
                                                       "cp",
                                                       "dp",
                                                       "shards",
                                                       "shard replicas",
                                                       "ep",
                                                       "etp",
                                                       "expert dp",
                                                       "pp",
                                                       "group",
                                                       "each rank",
                                                       "the first replica",
                                                       "the first shards",
                                                       "the first replica of experts",
                                                       "the first stage"};

}  // namespace

std::string_view to_string(RankGroup group) { return kRankGroups.at(static_cast<std::size_t>(group)); }

RankGrid::RankGrid(Parallelism const& parallel) : parallel_(parallel), ranks_(parallel.ranks()) {
  int stride = 1;
  auto const& order = parallel_.order;
  for (std::size_t start = 0; start < order.size(); start += 3) {  // "tp-cp-ep-dp-pp"
    auto const word = order.substr(start, 2);
    auto const take = [&](int& own, int size) {
      own = stride;
      stride *= size;
    };
    if (word == "tp") take(tp_stride_, parallel_.tp);
    if (word == "cp") take(cp_stride_, parallel_.cp);
    if (word == "dp") take(dp_stride_, parallel_.dp);
    if (word == "pp") take(pp_stride_, parallel_.pp);
  }
}

RankGrid::Coordinates RankGrid::at(int rank) const {
  Coordinates c{};
  c.tp = rank / tp_stride_ % parallel_.tp;
  c.cp = rank / cp_stride_ % parallel_.cp;
  c.dp = rank / dp_stride_ % parallel_.dp;
  c.pp = rank / pp_stride_ % parallel_.pp;
  // The rank's number among those of its stage, in the order of ranks.
  auto const outer = rank / (pp_stride_ * parallel_.pp);
  auto const in_stage = outer * pp_stride_ + rank % pp_stride_;
  c.etp = in_stage % parallel_.expert_tp();
  c.ep = in_stage / parallel_.expert_tp() % parallel_.ep;
  c.expert_replica = in_stage / (parallel_.expert_tp() * parallel_.ep);
  return c;
}

std::vector<std::vector<int>> RankGrid::singles(RankGroup group, int shards) const {
  std::vector<std::vector<int>> ranks;
  for (int rank = 0; rank < ranks_; ++rank) {
    auto const c = at(rank);
    auto const replica = c.dp * parallel_.cp + c.cp;
    bool const is_in = [&] {
      switch (group) {
        case RankGroup::FirstReplica: return replica == 0;
        case RankGroup::FirstShards: return replica < shards;
        case RankGroup::FirstExpertReplica: return c.expert_replica == 0;
        case RankGroup::FirstStage: return c.pp == 0;
        default: return true;
      }
    }();
    if (is_in) ranks.push_back({rank});
  }
  return ranks;
}

std::vector<std::vector<int>> RankGrid::groups(RankGroup group) const {
  auto const shards = parallel_.shards > 0 ? parallel_.shards : parallel_.dp * parallel_.cp;
  using Key = std::array<int, 4>;  // equal for the ranks of one group
  auto const key_of = [&](int rank) -> Key {
    auto const c = at(rank);
    auto const replica = c.dp * parallel_.cp + c.cp;
    switch (group) {
      case RankGroup::Tensor: return {c.cp, c.dp, c.pp, 0};
      case RankGroup::Context: return {c.tp, c.dp, c.pp, 0};
      case RankGroup::Replicas: return {c.tp, c.pp, 0, 0};
      case RankGroup::Shards: return {c.tp, c.pp, replica / shards, 0};
      case RankGroup::ShardReplicas: return {c.tp, c.pp, replica % shards, 0};
      case RankGroup::Expert: return {c.etp, c.expert_replica, c.pp, 0};
      case RankGroup::ExpertTensor: return {c.ep, c.expert_replica, c.pp, 0};
      case RankGroup::ExpertReplicas: return {c.etp, c.ep, c.pp, 0};
      case RankGroup::Pipeline: return {c.tp, c.cp, c.dp, 0};
      default: break;
    }
    return {};
  };
  if (group >= RankGroup::Each) return singles(group, shards);
  std::map<Key, std::size_t> number;
  std::vector<std::vector<int>> groups;
  for (int rank = 0; rank < ranks_; ++rank) {
    auto const [found, is_new] = number.emplace(key_of(rank), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(rank);
  }
  return groups;
}

}  // namespace lanewise
