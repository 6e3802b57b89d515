#pragma once
// Transfers in, plan out: lists every way a transfer could go, drops the illegal, costs the rest, chooses.
//
//   Planner const planner(model);
//   auto const choice = planner.choose({.from = gpu0, .to = gpu1, .bytes = 256_MiB});
//   Plan const plan = planner.plan(requests);
#include <optional>
#include <string>
#include <vector>

#include "core/machine/fingerprint.hpp"
#include "core/model/interval.hpp"
#include "core/model/model.hpp"
#include "core/plan/plan.hpp"
#include "core/rules/rule.hpp"

namespace lanewise {

struct Request {
  std::string id = {};
  Place from, to;
  Bytes bytes{0};
  Op op = Op::Copy;
  std::optional<Mechanism> only = {};   // this mechanism and no other
  std::vector<std::size_t> after = {};  // requests that must have finished
  std::optional<Drive> drive = {};      // peer access driven from this end only
  bool by_driver = false;               // staged copies as the driver does them, instead of our own
  Access access = {};                   // of device DMA to host memory
  bool pageable = false;                // host memory that is not pinned
  int queue_pairs = 0;                  // of network forms; 0: as many as the NIC needs
  int cores = 0;                        // that copy between host memories at once; 0: one
};

// PCIe peers already mapped at the two ends.
struct MappedPeers {
  int source = 0;
  int target = 0;
};

// One way, judged. Costs nothing to make: no names, no allocation.
struct EvaluatedWay {
  Way way;
  Rule const* refused_by = nullptr;  // nullptr: legal
  std::optional<Cost> cost;          // absent: refused, or a figure is unknown
};

struct Choice {
  std::vector<EvaluatedWay> evaluated;  // in order of preference where times are equal
  std::optional<std::size_t> chosen;    // absent: nothing is legal
};

class Planner {
 public:
  explicit Planner(Model const& model) : model_(model), fingerprint_(fingerprint(model.machine())) {}

  // Every way with its verdict, and the best. Throws PlanError when nothing moves data between such places at all.
  [[nodiscard]] Choice choose(Request const& request, MappedPeers peers = {}) const;
  // The plan of all requests, each decided alone. Throws PlanError naming the request that has no legal way.
  [[nodiscard]] Plan plan(std::vector<Request> const& requests) const;
  // A judged way with names and reasons, for people and files.
  [[nodiscard]] Candidate describe(Request const& request, EvaluatedWay const& evaluated) const;

 private:
  Model const& model_;
  std::string fingerprint_;  // of the machine: covers every figure of it, so it is made once for all plans
};

// The range of a way's time, alone on an idle machine; nullopt where its time is unknown.
std::optional<TimeRange> time_range(Intervals const& intervals, Request const& request, Way const& way);

// Adds the range of every chosen way to a plan's decisions.
void add_ranges(Plan& plan, Model const& model);

// Every way worth weighing for a request, preferred ones first; legality is not looked at.
std::vector<Way> possible_ways(Machine const& machine, Request const& request);

}  // namespace lanewise
