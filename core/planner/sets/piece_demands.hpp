#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "core/estimate/step_demands.hpp"
#include "core/planner/sets/transfer_set.hpp"

namespace lanewise {

// Some bytes of a transfer, over one of its options.
struct Portion {
  std::size_t transfer = 0;
  std::size_t option = 0;
  Bytes offset{0};
  Bytes bytes{0};
};

// What pieces of a set's transfers need alone. Drafts of one set have most of their pieces in common: each is lowered
// once.
class PieceDemands {
 public:
  // `set` and `model` must outlive it.
  PieceDemands(TransferSet const& set, Model const& model) : set_(set), model_(model) {}

  struct Piece {
    Bytes chunk{0};  // of its way
    StepDemand demand;
  };
  // `is_divided`: whether other pieces of its transfer go another way. The uses hold until the next call. Throws
  // PlanError where a figure is unknown.
  Piece of(Portion const& portion, bool is_divided);

 private:
  struct Key {
    std::size_t transfer = 0;
    std::size_t option = 0;
    std::int64_t bytes = 0;
    bool is_divided = false;
    friend bool operator==(Key const&, Key const&) = default;
  };
  struct KeyHash {
    std::size_t operator()(Key const& key) const;
  };
  struct Known {
    Bytes chunk{0};
    std::size_t demand = 0;  // its number
  };

  TransferSet const& set_;
  Model const& model_;
  std::unordered_map<Key, Known, KeyHash> known_;
  StepDemands demands_{64};
};

// The chunk of a portion's way. `is_divided`: whether other portions of its transfer go another way.
Bytes chunk_of(TransferSet const& set, Model const& model, Portion const& portion, bool is_divided);

// The step that moves a portion, in chunks of this size.
Step step_of(TransferSet const& set, Portion const& portion, Bytes chunk);

}  // namespace lanewise
