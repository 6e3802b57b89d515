#pragma once
// The steps of a library's collective. What a ring or a tree carries over a hop is one step: in the middle of a large
// collective all hops are busy at once, each with its own share. The launch, and the steps of a protocol that data wait
// for, are computing of each GPU before them.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/model/place_classes.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise {

// What a library takes for one node: a host, or the hosts that NVLink joins.
enum class NodeOf : std::uint8_t { Host, NvlinkDomain };

// The GPUs of a collective by node, where every node has equally many of them, in the order of the collective.
// `library` is how messages call it: "NCCL". Throws PlanError for other participants.
std::vector<std::vector<PciId>> gpus_by_node(Machine const& machine, Collective const& collective,
                                             std::string const& library, NodeOf node = NodeOf::NvlinkDomain);

// Throws PlanError unless libraries are known to do the op.
void refuse_unknown_op(CollectiveOp op, std::string const& library);

// Whether libraries do the op by sends and receives of pairs.
bool is_exchange(CollectiveOp op);

// Whether a ring's data pass the hop between two GPUs: a broadcast's not the one to its root, which has them, a
// reduction's not the one from it.
bool passes_hop(Collective const& collective, Machine const& machine, PciId from, PciId to);
// Whether an exchange has a message between two GPUs: of a gather those to its root, of a scatter those from it.
bool is_exchanged(Collective const& collective, Machine const& machine, PciId from, PciId to);

// A collective of all GPUs that work.
Collective collective_of_all(Machine const& machine, CollectiveOp op, Bytes bytes);

class LibrarySteps {
 public:
  // `name`: of the library with its version, for the plan; `spoken`: for messages. The model and the collective must
  // outlive it.
  LibrarySteps(Model const& model, Collective const& collective, std::string name, std::string spoken);

  [[nodiscard]] LibraryChoice& choice() { return *plan_.library; }
  void remark(std::string text);  // once

  // Every one of these GPUs computes for so long before any step of its own.
  void begin(std::vector<std::vector<PciId>> const& nodes, Seconds latency);
  void add_latency(Seconds more) { latency_ += more; }
  void name_next(std::string name) { name_ = std::move(name); }

  // Adds a step of the fastest legal way that the request allows, as `change` changes it, after `after` and the
  // launch of the GPU that it starts or ends at. Bytes of 0 and less add none.
  template <class Change>
  std::optional<StepId> add(Request const& request, Change change, std::vector<StepId> after = {}) {
    auto way = way_of(request);
    change(way);
    return append(request, way, std::move(after));
  }
  // The same by the way that another request would take.
  template <class Change>
  std::optional<StepId> add(Request const& request, Request const& asked, Change change) {
    auto way = way_of(asked);
    change(way);
    return append(request, way, {});
  }
  std::optional<StepId> add(Request const& request, std::vector<StepId> after = {}) {
    return append(request, way_of(request), std::move(after));
  }
  // What a step of such a request takes before its first byte arrives, by the model.
  [[nodiscard]] Seconds first_access(Request const& request);
  // Whether the request has a legal way.
  [[nodiscard]] bool is_possible(Request const& request) { return find_way(request).has_value(); }
  [[nodiscard]] static Request request_of(Place const& from, Place const& to, double bytes, Op op);

  // A request between two GPUs of a node by a kernel: over NVLink where they have one, else by peer access over PCIe.
  [[nodiscard]] Request between_gpus(PciId from, PciId to, double bytes, Op over_nvlink) const;

  // `first_access`: whether the latency counts the first access of a step, which the model counts too; then it is taken
  // off.
  enum class FirstAccess : std::uint8_t { InLatency, InStep };
  [[nodiscard]] Plan finish(FirstAccess first_access = FirstAccess::InLatency);

 private:
  // Found once for each class of pairs (core/model/place_classes.hpp), for the bytes asked for first; for each pair by
  // itself where the request names NICs or the way passes a third node.
  std::optional<Way> find_way(Request const& request);
  [[nodiscard]] std::optional<Way> choose(Request request) const;
  Way way_of(Request const& request);
  std::optional<StepId> append(Request const& request, Way const& way, std::vector<StepId> after);

  Model const& model_;
  Machine const& machine_;
  Planner planner_;
  std::string spoken_;
  Plan plan_;
  Seconds latency_{0};
  std::map<PciId, StepId> begun_;
  std::string name_;  // of the steps that are added
  struct Found {
    std::optional<Way> way;
    PlaceClasses::Nodes at;  // of the pair that it was found for
  };
  std::map<std::tuple<PairClass, Op, std::optional<Mechanism>>, Found> ways_of_classes_;
  std::map<std::tuple<Place, Place, std::optional<std::pair<PciId, PciId>>, Op, std::optional<Mechanism>>,
           std::optional<Way>>
      ways_of_pairs_;
};

}  // namespace lanewise
