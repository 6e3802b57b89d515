#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/model/place_classes.hpp"
#include "core/planner/collectives/algorithms/transfer_schedule.hpp"
#include "core/planner/collectives/trees/packing.hpp"
#include "core/planner/peer_mappings.hpp"
#include "lanewise/plan/collective.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise {

// What carries transfers that do not reduce.
enum class Movers : std::uint8_t {
  Fastest,  // a copy engine or a kernel, whichever takes less time alone
  Kernels,  // a kernel wherever possible: a GPU runs more of them than it has copy engines
};

// Which of a pair's ways carries a transfer.
enum class WayPreference : std::uint8_t {
  FastestAlone,
  // A way that stores nothing in between, where one is legal: what is faster alone may share host memory with everyone.
  Direct,
};

// The best way of each transfer of a collective, found once for each class of pairs (core/model/place_classes.hpp) and
// size.
class WayCache {
 public:
  struct Entry {
    Way way;
    Op op = Op::Copy;
  };

  // `places`: the participants, then the host memories that schedules may pass.
  WayCache(Model const& model, Collective const& collective, std::vector<Place> const& places, Movers movers,
           WayPreference preference)
      : model_(model),
        planner_(model),
        collective_(collective),
        places_(places),
        movers_(movers),
        preference_(preference),
        has_few_mappings_(may_exceed_peer_limit(model.machine(), collective.among)) {}

  // Decides which of the GPUs of these transfers map one another, where there are not mappings for all: the nearest.
  // The others then have other ways than peer access.
  void map_peers(std::vector<TransferSchedule::Transfer> const& transfers);
  // The ways of transfers that name a leg.
  void set_legs(std::vector<Leg> const& legs);
  // Throws PlanError if no way between the two places is legal.
  Entry way_of(TransferSchedule::Transfer const& transfer);
  // Whether it chose a way that stores the data where a direct one is legal, for any transfer so far.
  [[nodiscard]] bool passed_over_direct() const { return passed_over_direct_; }

 private:
  // What a choice depends on, but for the nodes of the pair.
  struct Kind {
    PairClass pair;
    std::int64_t bytes = 0;
    bool reduces = false;
    bool through_host = false;
    bool may_map = true;  // false: other peers take the mappings of the two
    friend bool operator==(Kind const&, Kind const&) = default;
  };
  struct KindHash {
    std::size_t operator()(Kind const& kind) const;
  };
  struct Found {
    Entry entry;
    PlaceClasses::Nodes at;  // of the pair that it was found for
    bool passes_relay =
        false;  // through another GPU: then which GPUs take part counts, and it holds for this pair only
  };

  [[nodiscard]] std::optional<PeerPair> pair_of(TransferSchedule::Transfer const& transfer) const {
    return gpus_between(model_.machine(), places_[transfer.from], places_[transfer.to]);
  }
  // What the GPUs of a transfer map that do not map one another; else nothing.
  [[nodiscard]] MappedPeers peers_of(TransferSchedule::Transfer const& transfer) const;
  Found choose(TransferSchedule::Transfer const& transfer, bool through_host, MappedPeers peers);
  struct Considered {
    Choice choice;
    bool passes_relay = false;
  };
  [[nodiscard]] Considered choice_of(Request request, MappedPeers peers);
  void prefer_direct(Choice& choice);

  Model const& model_;
  Planner planner_;
  Collective const& collective_;
  std::vector<Place> const& places_;
  Movers movers_;
  WayPreference preference_;
  bool passed_over_direct_ = false;
  std::vector<Entry> legs_;
  bool has_few_mappings_;                 // whether GPUs of a host may not map all others of the participants
  std::optional<PeerMappings> mappings_;  // of the schedule; absent where there are enough for all
  std::unordered_map<Kind, Found, KindHash> found_;
  // By source, destination, bytes, whether they are reduced, and whether the two may map one another.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t, bool, bool>, Entry> of_pairs_;
};

}  // namespace lanewise
