#pragma once
// What we intend to do: steps with dependencies, each with its way, and for every transfer the candidates that were
// weighed. A plain value: printable, comparable, written as JSON and read back; it knows nothing of what executes it.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/plan/time_range.hpp"
#include "core/rules/mechanism.hpp"

namespace lanewise {

enum class StepId : std::uint32_t {};

// One piece of work that an executor starts and finishes.
struct Step {
  std::string transfer;  // the transfer it belongs to
  Place from, to;
  Bytes bytes{0};
  Op op = Op::Copy;
  Way way;
  std::vector<StepId> after;  // steps that must have finished
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

struct Decision {
  std::string transfer;
  StepId step{};
  std::vector<Candidate> candidates;
  std::size_t chosen = 0;
  friend bool operator==(Decision const&, Decision const&) = default;
};

struct Plan {
  std::string machine;      // its name
  std::string fingerprint;  // of the machine with its settings, so that a plan is not run on another
  std::vector<Step> steps;
  std::vector<Decision> decisions;
  friend bool operator==(Plan const&, Plan const&) = default;

  // Throws PlanError when a dependency is missing or circular, a step names the wrong kind of place, or bytes are
  // negative.
  void verify(Machine const& of) const;
};

// A short text that changes whenever anything in the machine does.
std::string fingerprint(Machine const& machine);

// `lanewise: plan/1`. Places are written by name, so the machine is needed both ways.
nlohmann::ordered_json to_json(Plan const& plan, Machine const& machine);
nlohmann::ordered_json to_json(Candidate const& candidate, Machine const& machine);
// Throws InputError when the JSON is not a plan or belongs to another machine.
Plan plan_from_json(nlohmann::ordered_json const& json, Machine const& machine);

// "pcie_p2p push", "host_staged through numa0, 4 MiB chunks".
std::string text_of(Way const& way, Machine const& machine);

}  // namespace lanewise
