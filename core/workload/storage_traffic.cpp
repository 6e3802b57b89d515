#include "core/workload/storage_traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/machine/path_class.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

class StorageTraffic {
 public:
  explicit StorageTraffic(Workload const& workload)
      : w_(workload),
        p_(workload.parallel),
        own_(parameters_of_rank(workload)),
        layers_(layers_of_stage(workload)),
        micro_(micro_batches(workload)),
        trains_(workload.mode == WorkloadMode::Train) {}

  std::vector<TrafficPattern> build() {
    add_weights();
    add_cache();
    if (w_.offload.optimizer) add_optimizer();
    if (w_.checkpoint) add_checkpoint(*w_.checkpoint);
    if (w_.data) add_data(*w_.data);
    return std::move(found_);
  }

 private:
  static Exchange from(MemoryTier tier) { return tier == MemoryTier::Host ? Exchange::FromHost : Exchange::FromDrive; }
  static Exchange to(MemoryTier tier) { return tier == MemoryTier::Host ? Exchange::ToHost : Exchange::ToDrive; }

  void add(std::string id, std::string what, Exchange exchange, RankGroup among, double bytes, double count,
           StepPhase phase) {
    if (count <= 0 || bytes <= 0) return;
    found_.push_back({std::move(id), std::move(what), exchange, among,
                      Bytes(static_cast<std::int64_t>(std::ceil(bytes))), count, phase});
  }

  // Over which zero divides what belongs to the weights.
  [[nodiscard]] int sharing_ranks() const { return p_.zero == 3 && p_.shards > 0 ? p_.shards : p_.replicas(); }
  // Parameters whose optimizer state a rank keeps.
  [[nodiscard]] double parameters_to_update() const {
    return p_.zero == 0 ? own_.dense + own_.experts
                        : own_.dense / sharing_ranks() + own_.experts / p_.expert_replicas();
  }

  void add_weights() {
    auto const kept = p_.zero == 3 ? parameters_to_update() : own_.dense + own_.experts;
    auto const layer = w_.offload.weights * kept / layers_ * bytes_of(w_.precision.weights);
    auto const calls = layers_ * micro_;
    add("offload-weights-forward", "weights of a layer that are not in GPU memory", from(w_.offload.to),
        RankGroup::Each, layer, calls, StepPhase::Forward);
    if (trains_)
      add("offload-weights-backward", "weights of a layer that are not in GPU memory", from(w_.offload.to),
          RankGroup::Each, layer, calls, StepPhase::Backward);
  }

  void add_cache() {
    auto const& b = w_.batch;
    bool const reads = w_.mode == WorkloadMode::Decode;
    auto const tokens = reads ? b.prompt + b.output / 2.0 : b.prompt * (1 - b.prefix_hit);
    auto const layer = w_.offload.kv * b.concurrency * kv_bytes_of_rank(w_, tokens) / layers_;
    if (reads)
      add("offload-kv", "the cache of a layer that is not in GPU memory", from(w_.offload.to), RankGroup::Each, layer,
          layers_, StepPhase::Forward);
    else
      add("offload-kv", "the cache of a layer on its way out of GPU memory", to(w_.offload.to), RankGroup::Each, layer,
          layers_, StepPhase::Forward);
  }

  // The CPU updates the weights, so gradients leave and weights come back. Buckets are those of replicas.
  void add_optimizer() {
    auto const parameters = parameters_to_update();
    auto const buckets = gradient_buckets(parameters, sharing_ranks());
    add("offload-gradients", "gradients for the optimizer on the CPU, in buckets", to(w_.offload.to), RankGroup::Each,
        parameters / buckets * bytes_of(w_.precision.gradients), buckets, StepPhase::Gradients);
    add("offload-updated", "weights that the optimizer updated", from(w_.offload.to), RankGroup::Each,
        parameters * bytes_of(w_.precision.weights), 1, StepPhase::Once);
  }

  void add_checkpoint(Checkpoint const& checkpoint) {
    double const all = checkpoint.bytes_per_parameter;
    auto const weights = std::min(all, bytes_of(w_.precision.weights));
    auto const save = [&](std::string const& id, std::string const& what, RankGroup among, double bytes) {
      auto const count = 1.0 / checkpoint.every;
      add(id, what + ", to host memory", Exchange::ToHost, among, bytes, count, StepPhase::Once);
      if (checkpoint.to == MemoryTier::Nvme)
        add(id + "-write", what + ", from there to a drive", Exchange::HostToDrive, among, bytes, count,
            StepPhase::Afterwards);
    };
    // What all replicas hold the first of them saves; what they divide each saves its part of.
    if (p_.zero == 0) {
      save("checkpoint", "weights and optimizer state", RankGroup::FirstReplica, own_.dense * all);
      save("checkpoint-experts", "those of experts", RankGroup::FirstExpertReplica, own_.experts * all);
    } else if (p_.zero < 3) {
      save("checkpoint", "weights", RankGroup::FirstReplica, own_.dense * weights);
      save("checkpoint-experts", "weights of experts", RankGroup::FirstExpertReplica, own_.experts * weights);
      save("checkpoint-state", "a part of the optimizer state", RankGroup::Each,
           parameters_to_update() * (all - weights));
    } else {
      auto const among = sharing_ranks() < p_.replicas() ? RankGroup::FirstShards : RankGroup::Each;
      save("checkpoint", "a part of weights and optimizer state", among, parameters_to_update() * all);
    }
  }

  void add_data(DataLoading const& data) {
    auto const tokens = static_cast<double>(tokens_at_once(w_)) / p_.cp;
    add("data", "tokens of a micro-batch, on the first stage", from(data.from), RankGroup::FirstStage,
        tokens * data.bytes_per_token, micro_, StepPhase::Ahead);
  }

  Workload const& w_;
  Parallelism const& p_;
  RankParameters own_;
  double layers_;  // of one stage
  double micro_;
  bool trains_;
  std::vector<TrafficPattern> found_;
};

// Of each node, which drives have been given to GPUs so far.
class NearestDrives {
 public:
  explicit NearestDrives(Machine const& machine) : machine_(machine) {
    for (auto const drive : machine.all(PciKind::Nvme))
      if (!machine.is_off(drive)) of_host_[machine.host_of(drive)].push_back(drive);
  }

  PciId of(PciId gpu) {
    auto const host = machine_.host_of(gpu);
    auto const& drives = of_host_[host];
    if (drives.empty())
      throw PlanError(fmt::format("{} has no drive that works; the workload's 'nvme' needs one",
                                  machine_.at(host).name.empty() ? machine_.name : machine_.at(host).name));
    auto const cost = [&](PciId drive) { return std::pair(path_class(machine_, gpu, drive), users_[drive]); };
    auto const nearest =
        *std::min_element(drives.begin(), drives.end(), [&](PciId a, PciId b) { return cost(a) < cost(b); });
    ++users_[nearest];
    return nearest;
  }

 private:
  Machine const& machine_;
  std::map<HostId, std::vector<PciId>> of_host_;
  std::map<PciId, int> users_;
};

}  // namespace

std::vector<TrafficPattern> storage_traffic_of(Workload const& workload) { return StorageTraffic(workload).build(); }

bool is_with_storage(Exchange exchange) {
  switch (exchange) {
    case Exchange::FromHost:
    case Exchange::ToHost:
    case Exchange::FromDrive:
    case Exchange::ToDrive:
    case Exchange::HostToDrive: return true;
    default: return false;
  }
}

std::vector<Request> storage_requests(TrafficPattern const& pattern, Machine const& machine,
                                      std::vector<PciId> const& gpus) {
  std::vector<Request> requests;
  NearestDrives drives(machine);
  for (auto const gpu : gpus) {
    auto const ends = [&]() -> std::pair<Place, Place> {
      switch (pattern.exchange) {
        case Exchange::FromHost: return {machine.numa_of(gpu), gpu};
        case Exchange::FromDrive: return {drives.of(gpu), gpu};
        case Exchange::ToDrive: return {gpu, drives.of(gpu)};
        case Exchange::HostToDrive: return {machine.numa_of(gpu), drives.of(gpu)};
        default: return {gpu, machine.numa_of(gpu)};
      }
    }();
    requests.push_back({.id = fmt::format("{}.{}", pattern.id, requests.size()),
                        .from = ends.first,
                        .to = ends.second,
                        .bytes = pattern.bytes});
  }
  return requests;
}

std::string storage_reach(Machine const& machine, Request const& request) {
  auto const* from = std::get_if<PciId>(&request.from);
  auto const* to = std::get_if<PciId>(&request.to);
  auto const* memory = std::get_if<NumaId>(from != nullptr ? &request.to : &request.from);
  if (from == nullptr && to == nullptr) return "node";
  auto const device = from != nullptr ? *from : *to;
  if (memory != nullptr && gpu_at(machine, Place(device)) && has_nvlink(machine, device, *memory)) return "NVLink";
  auto const path = memory != nullptr ? path_class(machine, device, *memory) : path_class(machine, *from, *to);
  if (path <= PathClass::Pxb) return "switch";
  return path == PathClass::Sys ? "node" : "socket";
}

}  // namespace lanewise
