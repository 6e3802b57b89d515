#pragma once
// A plan: steps with dependencies, each with its way, and for every transfer the candidates that were compared. A plain
// value that knows nothing of executors; plan_json.hpp writes and reads it.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lanewise/machine/machine.hpp"
#include "lanewise/plan/collective.hpp"
#include "lanewise/plan/time_range.hpp"
#include "lanewise/rules/mechanism.hpp"

namespace lanewise {

enum class StepId : std::uint32_t {};
enum class BufferId : std::uint32_t {};

// Memory that the steps of a collective share. Executors allocate it; the caller fills it.
struct Buffer {
  std::string name;  // "gpu0.data"
  Place at;
  Bytes bytes{0};
  friend bool operator==(Buffer const&, Buffer const&) = default;
};

// Where a step's bytes begin in a buffer.
struct Region {
  BufferId buffer{};
  Bytes offset{0};
  friend bool operator==(Region const&, Region const&) = default;
};

// What an executor starts and finishes: a move of `bytes` bytes from `from` to `to`, or a computation at `from`.
//
// Which bytes: with `reads` and `writes`, [offset, offset + bytes) of these two regions' buffers. Without them, the
// transfer has a source at `from` and a target at `to` of its own, each as long as all its steps together, and this
// step moves [offset, offset + bytes) of the source to the same place in the target.
struct Step {
  std::string transfer;  // the transfer it belongs to
  Place from, to;
  Bytes bytes{0};
  Op op = Op::Copy;
  Way way;
  std::vector<StepId> after;  // steps that must have finished
  Bytes offset{0};
  std::vector<StepId> order_only = {};  // must have finished too; no data is needed, they only avoid contention
  std::optional<Region> reads = {};
  std::optional<Region> writes = {};
  bool reduces = false;     // adds what arrives to what the target holds, element by element
  Seconds work{0};          // duration of a kernel on `from` that moves nothing (bytes are 0); 0: a transfer
  std::uint32_t count = 1;  // of a folded plan: the steps that it stands for
  friend bool operator==(Step const&, Step const&) = default;
};

// A way that was considered, and why it was refused or what it costs.
struct Candidate {
  Way way;
  Op op = Op::Copy;                    // what moves it: the transfer's own, or a kernel's where any mover may
  std::string refused_by;              // a rule's id; empty: legal
  std::string reason;                  // of the refusal, or the unknown figure without which there is no cost
  std::vector<std::string> remarks;    // ids of rules that changed the way
  std::vector<std::string> route;      // hop by hop; empty where there is none
  std::optional<Seconds> time;         // alone on an idle machine; absent: refused, or a figure is unknown
  std::optional<TimeRange> range;      // of `time`, where it was asked for
  std::optional<Bytes> rendezvous;     // two-sided messages from this size on go by rendezvous (network ways)
  std::optional<Seconds> once;         // added to the first such transfer only
  std::optional<Seconds> latency;      // the part of `time` before the data flows
  std::optional<BytesPerSecond> rate;  // while the data flows
  std::string binding;                 // what limits the rate
  friend bool operator==(Candidate const&, Candidate const&) = default;
  [[nodiscard]] bool legal() const { return refused_by.empty(); }
};

// A part of a split transfer, other than the decision's own step.
struct Piece {
  StepId step{};
  std::size_t candidate = 0;
  friend bool operator==(Piece const&, Piece const&) = default;
};

struct Decision {
  std::string transfer;
  StepId step{};  // the whole transfer, or the largest piece of a split one
  std::vector<Candidate> candidates;
  std::size_t chosen = 0;
  std::vector<Piece> others = {};  // the other pieces of a split transfer
  bool any_mover = false;          // of a set: kernels may move it as well as copy engines, whichever is sooner
  friend bool operator==(Decision const&, Decision const&) = default;
};

// One of several jobs of a plan. Its steps carry its id as their transfer; its buffers are consecutive, in the order of
// its participants.
struct NamedCollective {
  std::string id;
  Collective collective;
  BufferId first{};
  friend bool operator==(NamedCollective const&, NamedCollective const&) = default;
};

// What a communication library decided for a collective.
struct LibraryChoice {
  std::string library;               // "nccl-2.30"
  std::string algorithm, protocol;   // in its own words: "Ring", "LL128"
  int channels = 0;                  // thread blocks of a GPU that take part
  std::vector<std::string> remarks;  // why, a sentence each
  friend bool operator==(LibraryChoice const&, LibraryChoice const&) = default;
};

// Units of a cluster that are alike and do the same at the same time: nodes, or groups of nodes that NVLink joins. Each
// unit is the list of its nodes, in an order that makes them correspond.
struct AlikeUnits {
  std::vector<std::vector<HostId>> units;
  friend bool operator==(AlikeUnits const&, AlikeUnits const&) = default;
};

// How a plan is folded: one unit of each class stands for all of them. What a step takes of any unit, it takes of the
// first of its class; what the units of a class share (uplinks of switches) it takes once for each step
// that it stands for, divided by how many of it there are. Empty: every step stands for itself.
using Folding = std::vector<AlikeUnits>;

struct Plan {
  std::string machine;      // its name
  std::string fingerprint;  // of the machine with its settings, so that a plan is not run on another
  std::vector<Step> steps;
  std::vector<Decision> decisions;
  std::vector<Buffer> buffers = {};               // for steps with `reads` and `writes`
  std::optional<Collective> collective = {};      // if the whole plan is one; its buffers come first, in its order
  std::vector<NamedCollective> collectives = {};  // if the plan is more than one collective
  Folding folding = {};                           // of a collective among many that are alike
  std::optional<LibraryChoice> library = {};      // if it is what a library would do, rather than the best there is
  friend bool operator==(Plan const&, Plan const&) = default;

  // Throws PlanError when a dependency is missing or circular, a step's way does not fit its places, a region lies
  // outside its buffer, a size is negative, or a decision names a step or candidate that is not there.
  void verify(Machine const& of) const;
};

// A named collective's buffers: from its first to the next collective's. Each participant has one, or two: the second
// for what arrives. Empty where the plan lacks some of them.
std::span<Buffer const> buffers_of(Plan const& plan, NamedCollective const& named);
// The index of the first result among a collective's buffers. The participants' data come first, then the outputs where
// there are any, and last the host memory that data pass through.
std::size_t first_result(std::span<Buffer const> buffers, Collective const& collective);

// Whether a plan is more than a set of transfers or one collective: it computes, or has collectives among other jobs.
bool is_job_set(Plan const& plan);

// The plan with one transfer in one piece, on another of its candidates.
Plan with_way(Plan const& plan, std::size_t decision, std::size_t candidate);

// "pcie_p2p push", "host_staged through numa0, 4 MiB chunks".
std::string text_of(Way const& way, Machine const& machine);

}  // namespace lanewise
