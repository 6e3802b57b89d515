#pragma once
// The legal ways of each transfer of a set, with their demands. Set planning and lower bounds start from these.
#include <vector>

#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise {

struct TransferOption {
  std::size_t candidate = 0;  // its position in the transfer's decision
  Way way;
  Op op = Op::Copy;     // that of the transfer, or of what else may move it
  Demand demand;        // if all bytes go this way
  BytesPerSecond rate;  // alone on an idle machine
};

// A transfer whose way is not decided yet.
struct OpenTransfer {
  std::string id;
  Place from, to;
  Bytes bytes{0};
  Op op = Op::Copy;
  std::vector<TransferOption> options;  // legal ways of known cost
  std::vector<std::size_t> after;       // transfers that must finish first, by position
};

// `op`: that of the transfer, or of what moves it instead.
TransferOption transfer_option_of(Model const& model, OpenTransfer const& transfer, Way const& way, Op op,
                                  std::size_t candidate);

// How long a byte of the transfer keeps a resource busy that its way uses; 0: the resource has no capacity.
double seconds_per_byte(Model const& model, Use const& use);

// The chunk size of a pipelined way for a piece of the transfer; 0 if the way is not pipelined. `is_divided`: other
// ways carry the rest of the transfer at the same time, with other engines of the same GPUs.
Bytes chunk_of_piece(Model const& model, OpenTransfer const& transfer, TransferOption const& option, Bytes piece,
                     bool is_divided);

// The transfers of a plan, one for each decision, with every legal candidate of known cost. A transfer's own op is that
// of its first candidate.
std::vector<OpenTransfer> open_transfers(Plan const& plan, Model const& model);
// The same with the ways of kernels and of copy engines where either may move a transfer: for bounds.
std::vector<OpenTransfer> open_transfers_by_any_mover(Plan const& plan, Model const& model);

}  // namespace lanewise
