#pragma once
// The ways open to each transfer of a set, with their demands: what planning of sets and bounds start from.
#include <vector>

#include "core/model/model.hpp"
#include "core/plan/plan.hpp"

namespace lanewise {

struct TransferOption {
  std::size_t candidate = 0;  // of the transfer's decision
  Way way;
  Demand demand;        // of all bytes going this way
  BytesPerSecond rate;  // alone on an idle machine
};

struct OpenTransfer {
  std::string id;
  Place from, to;
  Bytes bytes{0};
  Op op = Op::Copy;
  std::vector<TransferOption> options;  // legal, of known cost
  std::vector<std::size_t> after;       // transfers that must have finished
};

TransferOption transfer_option_of(Model const& model, OpenTransfer const& transfer, Way const& way,
                                  std::size_t candidate);

// The chunk of a pipelined way for a piece; 0 where it has none. `is_divided`: other ways carry the rest of the
// transfer meanwhile, by other engines of the same GPUs.
Bytes chunk_of_piece(Model const& model, OpenTransfer const& transfer, TransferOption const& option, Bytes piece,
                     bool is_divided);

// No step that goes this way and moves b of the bytes takes less than this + b / (the way's rate).
Seconds min_latency(Model const& model, OpenTransfer const& transfer, TransferOption const& option);

// Read back from a plan: one a decision, with every legal candidate of known cost.
std::vector<OpenTransfer> open_transfers(Plan const& plan, Model const& model);

}  // namespace lanewise
