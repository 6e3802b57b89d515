#pragma once
// What we intend to do: steps with dependencies, each with its way, and for every transfer the candidates that were
// weighed. A plain value: printable, comparable, written as JSON and read back; it knows nothing of what executes it.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/plan/collective.hpp"
#include "core/plan/time_range.hpp"
#include "core/rules/mechanism.hpp"

namespace lanewise {

enum class StepId : std::uint32_t {};
enum class BufferId : std::uint32_t {};

// Memory that steps of a collective share. Executors allocate it; what it holds at first is the caller's affair.
struct Buffer {
  std::string name;  // "gpu0.data"
  Place at;
  Bytes bytes{0};
  friend bool operator==(Buffer const&, Buffer const&) = default;
};

// Where in a buffer a step begins; it goes on for the step's bytes.
struct Region {
  BufferId buffer{};
  Bytes offset{0};
  friend bool operator==(Region const&, Region const&) = default;
};

// One piece of work that an executor starts and finishes: `bytes` bytes from `from` to `to`, or work at `from`.
//
// Which bytes: where `reads` and `writes` are set, [offset, offset + bytes) of those two of the plan's buffers. Where
// they are not, the transfer has a source at `from` and a target at `to` of its own, each as long as all its steps
// together, and this step takes [offset, offset + bytes) of the one to the same place in the other.
struct Step {
  std::string transfer;  // the transfer it belongs to
  Place from, to;
  Bytes bytes{0};
  Op op = Op::Copy;
  Way way;
  std::vector<StepId> after;  // steps that must have finished
  Bytes offset{0};
  std::vector<StepId> order_only = {};  // must have finished too, though no data is needed: they only avoid contention
  std::optional<Region> reads = {};
  std::optional<Region> writes = {};
  bool reduces = false;  // what arrives is added to what the target holds, element by element, in its place
  Seconds work{0};       // a kernel on `from` of that long, which moves nothing (bytes are 0); 0: a transfer
  friend bool operator==(Step const&, Step const&) = default;
};

// A way that was weighed, and what came of it.
struct Candidate {
  Way way;
  std::string refused_by;              // a rule's id; empty: legal
  std::string reason;                  // of the refusal, or the figure without which there is no cost
  std::vector<std::string> remarks;    // ids of rules that changed its way
  std::vector<std::string> route;      // hop by hop; empty where the way cannot be laid
  std::optional<Seconds> time;         // alone on an idle machine; absent: refused or a figure is unknown
  std::optional<TimeRange> range;      // of that, where it was asked for
  std::optional<Bytes> rendezvous;     // two-sided messages from this size on go by rendezvous (network ways)
  std::optional<Seconds> once;         // on top, before the first such transfer only
  std::optional<Seconds> latency;      // of the time, before the data flows
  std::optional<BytesPerSecond> rate;  // once it flows
  std::string binding;                 // what bounds the rate
  friend bool operator==(Candidate const&, Candidate const&) = default;
  [[nodiscard]] bool legal() const { return refused_by.empty(); }
};

// A part of a transfer that goes another way beside the decision's first.
struct Piece {
  StepId step{};
  std::size_t candidate = 0;
  friend bool operator==(Piece const&, Piece const&) = default;
};

struct Decision {
  std::string transfer;
  StepId step{};  // all of the transfer, or of a split one the largest piece
  std::vector<Candidate> candidates;
  std::size_t chosen = 0;
  std::vector<Piece> others = {};  // the other pieces of a split transfer
  friend bool operator==(Decision const&, Decision const&) = default;
};

// A collective beside other work: its steps carry its id, and its buffers follow one another from the first on, in the
// order of its participants.
struct NamedCollective {
  std::string id;
  Collective collective;
  BufferId first{};
  friend bool operator==(NamedCollective const&, NamedCollective const&) = default;
};

struct Plan {
  std::string machine;      // its name
  std::string fingerprint;  // of the machine with its settings, so that a plan is not run on another
  std::vector<Step> steps;
  std::vector<Decision> decisions;
  std::vector<Buffer> buffers = {};           // that steps with `reads` and `writes` speak of
  std::optional<Collective> collective = {};  // what the steps are together; its buffers are the first, in its order
  std::vector<NamedCollective> collectives = {};  // of a plan that is more than one collective
  friend bool operator==(Plan const&, Plan const&) = default;

  // Throws PlanError when a dependency is missing or circular, a step names the wrong kind of place or memory outside
  // its buffer, or bytes are negative.
  void verify(Machine const& of) const;
};

// A named collective's buffers: from its first to the next one's. Empty where the plan does not have them all: one for
// each participant, or two, the second for what arrives.
std::span<Buffer const> buffers_of(Plan const& plan, NamedCollective const& named);
// Where the results begin among a collective's buffers: the data of its participants come first, then the outputs where
// there are any, and last the host memory through which data go on.
std::size_t first_result(std::span<Buffer const> buffers, Collective const& collective);

// The plan with one transfer undivided and on another of its candidates.
Plan with_way(Plan const& plan, std::size_t decision, std::size_t candidate);

// `lanewise: plan/1`. Places are written by name, so the machine is needed both ways.
nlohmann::ordered_json to_json(Plan const& plan, Machine const& machine);
nlohmann::ordered_json to_json(Candidate const& candidate, Machine const& machine);
// Throws InputError when the JSON is not a plan or belongs to another machine.
Plan plan_from_json(nlohmann::ordered_json const& json, Machine const& machine);

// "pcie_p2p push", "host_staged through numa0, 4 MiB chunks".
std::string text_of(Way const& way, Machine const& machine);

}  // namespace lanewise
