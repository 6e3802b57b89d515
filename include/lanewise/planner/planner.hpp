#pragma once
// Transfers in, plan out: lists every way a transfer could go, drops illegal ones, costs the others and chooses.
//
//   Planner const planner(model);
//   auto const choice = planner.choose({.from = gpu0, .to = gpu1, .bytes = 256_MiB});
//   Plan const plan = planner.plan(requests);
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lanewise/machine/fingerprint.hpp"
#include "lanewise/model/interval.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/rules/rule.hpp"

namespace lanewise {

struct Request {
  std::string id = {};
  Place from, to;
  Bytes bytes{0};
  Op op = Op::Copy;
  bool any_mover = false;               // a copy between GPUs of a set that kernels may make as well
  std::optional<Mechanism> only = {};   // if given, no other mechanism is considered
  std::vector<std::size_t> after = {};  // requests that must finish first, by position
  std::optional<Drive> drive = {};      // if given, peer access is driven from this end only
  bool by_driver = false;               // staged copies are made by the driver instead of by lanewise
  Access access = {};                   // of device DMA to host memory
  bool pageable = false;                // host memory is not pinned
  int queue_pairs = 0;                  // for mechanisms over the network; 0: as many as the NIC needs
  int cores = 0;                        // that copy between host memories at once; 0: one
  std::optional<Carrier> carrier = {};  // between nodes; absent: as the nodes' NICs and software say
  std::optional<std::pair<PciId, PciId>> nics =
      {};  // if given, between nodes: the NIC of the source's and of the target's
};

// Number of PCIe peers that the two GPUs have mapped for other transfers.
struct MappedPeers {
  int source = 0;
  int target = 0;
};

// A way with its legality and cost. Cheap: no names, no allocation.
struct EvaluatedWay {
  Way way;
  Rule const* refused_by = nullptr;  // nullptr: the way is legal
  std::optional<Cost> cost;          // absent if the way is refused or a figure is unknown
};

struct Choice {
  std::vector<EvaluatedWay> evaluated;  // in order of preference where times are equal
  std::optional<std::size_t> chosen;    // position in `evaluated`; absent if no way is legal
};

class PeerMappings;

class Planner {
 public:
  // `model` must outlive the planner.
  explicit Planner(Model const& model) : model_(model), fingerprint_(fingerprint(model.machine())) {}

  // Evaluates every possible way and chooses the fastest legal one, or an earlier, simpler one unless another is
  // clearly faster. Throws PlanError if no mechanism moves data between such places.
  [[nodiscard]] Choice choose(Request const& request, MappedPeers peers = {}) const;
  // The plan of all requests, each decided alone; where a GPU would map more PCIe peers than it may, the nearest are
  // mapped. Throws PlanError naming a request without a legal way.
  [[nodiscard]] Plan plan(std::vector<Request> const& requests) const;
  // An evaluated way with names and reasons, for people and files.
  [[nodiscard]] Candidate describe(Request const& request, EvaluatedWay const& evaluated) const;

 private:
  [[nodiscard]] std::optional<PeerMappings> peer_mappings(std::vector<Request> const& requests) const;

  Model const& model_;
  std::string fingerprint_;  // of the machine: covers every figure of it, so it is made once for all plans
};

// The range of a way's time, alone on an idle machine. Nullopt if the time is unknown.
std::optional<TimeRange> time_range(Intervals const& intervals, Request const& request, Way const& way);

// Adds the range of the chosen way to each of a plan's decisions.
void add_ranges(Plan& plan, Model const& model);

// Every way worth considering for a request, preferred ones first, whether legal or not. Only a way that no rule
// refuses can be lowered: one through an NVLink relay, for example, may have no relay.
std::vector<Way> possible_ways(Machine const& machine, Request const& request);

}  // namespace lanewise
