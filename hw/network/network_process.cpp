#include "hw/network/network_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/plan/dag.hpp"
#include "hw/memory/gpu_memory.hpp"
#include "hw/memory/pattern.hpp"
#include "hw/network/exchange.hpp"
#include "hw/network/gpu_division.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// The time from the announcement of the release to the release itself: long enough to reach every process.
constexpr Seconds kReleaseNotice{20e-3};

// What a step's driver must know about the memory at the other end: its address, and its key with each of the NICs.
struct RemoteMemory {
  std::uint64_t address = 0;
  std::vector<std::uint32_t> keys;  // by link of the step
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RemoteMemory, address, keys)

// The step that the wrong bytes of a buffer are reported with; the first one where none writes there.
std::size_t last_writer(NetworkPlan const& plan, std::size_t buffer) {
  for (auto i = plan.steps.size(); i-- > 0;)
    if (plan.steps[i].writes.buffer == static_cast<int>(buffer)) return i;
  return 0;
}

std::uint64_t address_of(std::byte const* data) { return reinterpret_cast<std::uint64_t>(data); }

// Ends the connections of a run, whatever it comes to.
class ConnectionScope {
 public:
  explicit ConnectionScope(NetworkCarrier& carrier) : carrier_(carrier), exceptions_(std::uncaught_exceptions()) {}
  ConnectionScope(ConnectionScope const&) = delete;
  ConnectionScope& operator=(ConnectionScope const&) = delete;
  ~ConnectionScope() {
    bool const failed = std::uncaught_exceptions() > exceptions_;
    carrier_.close(failed ? NetworkCarrier::End::Failed : NetworkCarrier::End::Clean);
  }

 private:
  NetworkCarrier& carrier_;
  int exceptions_;
};

}  // namespace

struct NetworkProcess::PreparedPlan {
  // The memory that the network reaches at this end of a step: the step's own, a buffer, or its ring.
  struct End {
    Memory* memory = nullptr;
    Bytes bytes{0};
  };
  std::vector<StepPart> parts;
  std::vector<std::optional<End>> ends;  // by step; absent where this process has no end of it
  std::vector<Memory*> buffers;          // by buffer of the plan; nullptr: another process has it
  std::vector<std::unique_ptr<Copier>> copiers;
  NetworkCarrier* carrier = nullptr;
  NodePlan const* node_plan = nullptr;  // that this process runs; nullptr: none
  std::unique_ptr<DeviceSteps> gpu_steps;
  std::vector<std::string> devices;
};

NetworkResult NetworkProcess::run(NetworkPlan const& plan) {
  auto const ranks = ranks_of_nodes(group_.hosts(), plan.nodes.size());
  auto const layout = layout_of(plan, ranks);
  PreparedPlan prepared;
  std::optional<ConnectionScope> connections;
  auto const keys = exchange(group_, [&] {
    if (!layout.links.empty()) {
      prepared.carrier = &carriers_.of(plan.carrier);
      connections.emplace(*prepared.carrier);
      prepared.devices = prepared.carrier->open(plan, layout);
    }
    shares_host_ = shares_host(ranks, group_);
    first_gpu_ = first_gpu_of(plan, ranks, group_, visible_gpus());
    if (plan.uses_gpus[node_of(group_.rank(), ranks)]) choose_gpu(first_gpu_.value_or(0));
    memory_.release_all();
    allocate_buffers(plan, layout, prepared);
    return allocate_steps(plan, layout, prepared);
  });
  auto const addresses = exchange(group_, [&] {
    set_remote_addresses(layout, keys, prepared);
    return prepared.carrier != nullptr ? prepared.carrier->addresses() : std::string();
  });
  NoTransport no_transport;
  std::optional<NetworkRun> run;
  auto const devices = exchange(group_, [&] {
    MessageTransport& transport = prepared.carrier != nullptr ? prepared.carrier->connect(addresses) : no_transport;
    prepared.gpu_steps = make_gpu_steps(plan, ranks, prepared);
    run.emplace(plan, layout, prepared.parts, transport, group_, prepared.gpu_steps.get());
    return nlohmann::json(prepared.devices).dump();
  });
  auto const clock_offset = group_.clock_offset();
  NetworkResult result;
  result.mismatches.resize(plan.steps.size());
  for (int i = -plan.warm_up; i < plan.repeat; ++i) {
    exchange(group_, [&] {
      clear_targets(plan, prepared);
      run->prepare();
      return std::string();
    });
    auto const release =
        Seconds(std::stod(group_.broadcast(fmt::format("{:.9f}", (monotonic_now() + kReleaseNotice).value()))));
    auto const reports =
        exchange(group_, [&] { return report(plan, layout, prepared, run->once(release + clock_offset)); });
    NetworkSample sample;
    sample.spans.resize(plan.steps.size());
    for (auto const& text : reports) {
      auto const json = nlohmann::json::parse(text);
      for (auto const& [step, start, end] : json["spans"].get<std::vector<std::tuple<std::size_t, double, double>>>())
        sample.spans[step] = {Seconds(start), Seconds(end)};
      for (auto const& [step, mismatch] : json["wrong"].get<std::vector<std::pair<std::size_t, std::string>>>())
        if (result.mismatches[step].empty()) result.mismatches[step] = mismatch;
    }
    if (i >= 0) result.samples.push_back(std::move(sample));
  }
  auto const faults = exchange(group_, [&] { return nlohmann::json(run->faults()).dump(); });
  auto const gather = [](std::vector<std::string> const& texts) {
    std::vector<std::string> all;
    for (auto const& text : texts)
      for (auto const& one : nlohmann::json::parse(text)) all.push_back(one);
    return all;
  };
  result.faults = gather(faults);
  result.devices = gather(devices);
  return result;
}

// A host that stands for a Soft-RoCE node may have fewer NUMA nodes: the kernel then places the memory. So it is where
// several nodes share a host.
NetworkMemory NetworkProcess::memory_here(NetworkMemory where, NetworkPlan const& plan) const {
  bool const soft = std::all_of(plan.nics.begin(), plan.nics.end(), [](NetworkNic const& nic) { return nic.soft; });
  if ((soft || shares_host_) && !std::filesystem::exists(fmt::format("/sys/devices/system/node/node{}", where.numa)))
    where.numa = -1;
  if (first_gpu_ && where.gpu >= 0) {
    where.gpu += *first_gpu_;
    where.bdf.clear();
  }
  return where;
}

void NetworkProcess::allocate_buffers(NetworkPlan const& plan, Layout const& layout, PreparedPlan& prepared) {
  prepared.buffers.resize(plan.buffers.size());
  for (std::size_t i = 0; i < plan.buffers.size(); ++i)
    if (layout.buffers[i] == group_.rank())
      prepared.buffers[i] = &memory_.take(memory_here(plan.buffers[i].memory, plan), Bytes(plan.buffers[i].bytes));
}

// Allocates this process's ends of all steps that are not GPUs' own, and makes them known to the carrier. Returns what
// drivers in other processes must know about them.
std::string NetworkProcess::allocate_steps(NetworkPlan const& plan, Layout const& layout, PreparedPlan& prepared) {
  prepared.parts.resize(plan.steps.size());
  prepared.ends.resize(plan.steps.size());
  auto remote_ends = nlohmann::json::object();
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (plan.steps[i].verb == Verb::Device) continue;
    auto const* const begin = set_ends(plan, i, layout, prepared);
    auto const& links = layout.steps[i];
    if (plan.steps[i].verb == Verb::Local || !prepared.ends[i]) continue;
    RemoteMemory mine{address_of(begin), {}};
    for (auto const link : links.links) {
      auto const keys = prepared.carrier->keys(link, *prepared.ends[i]->memory, prepared.ends[i]->bytes);
      LinkEndpoints ends;
      ends.local = const_cast<std::byte*>(begin);
      ends.local_key = keys.local;
      mine.keys.push_back(keys.remote);
      prepared.parts[i].endpoints.push_back(ends);
    }
    if (links.driver != group_.rank()) remote_ends[std::to_string(i)] = mine;
  }
  return remote_ends.dump();
}

// The ends of a step that this process has. Returns where the network reads or writes; nullptr where it has none.
std::byte* NetworkProcess::set_ends(NetworkPlan const& plan, std::size_t number, Layout const& layout,
                                    PreparedPlan& prepared) {
  auto const& step = plan.steps[number];
  auto& part = prepared.parts[number];
  auto& reached = prepared.ends[number];
  std::byte* begin = nullptr;
  auto const take = [&](NetworkMemory const& where, std::int64_t bytes) {
    auto& memory = memory_.take(memory_here(where, plan), Bytes(bytes));
    reached = PreparedPlan::End{&memory, Bytes(bytes)};
    begin = memory.data();
    return &memory;
  };
  auto const add_copier = [&](StepEnd& end) { end.copier = prepared.copiers.emplace_back(end.memory->copier()).get(); };
  auto const set = [&](StepEnd& end, NetworkMemory const& where, NetworkRegion const& region,
                       std::vector<NetworkMemory> const& ring) {
    if (region.buffer >= 0) {
      auto const buffer = static_cast<std::size_t>(region.buffer);
      end = {prepared.buffers[buffer], static_cast<std::size_t>(region.offset), nullptr};
      reached = PreparedPlan::End{end.memory, Bytes(plan.buffers[buffer].bytes)};
      begin = end.data();
    } else {
      end.memory = take(where, step.bytes);
    }
    if (ring.empty()) return;
    part.ring = take(ring.front(), step.slots * step.chunk)->data();
    add_copier(end);
  };
  auto const& links = layout.steps[number];
  if (links.source == group_.rank()) {
    set(part.source, step.from, step.reads, step.ring_from);
    if (step.reads.buffer < 0) part.source.memory->fill(seed_of(number));
  }
  if (links.target != group_.rank()) return begin;
  set(part.target, step.to, step.writes, step.ring_to);
  if (step.verb == Verb::Read && step.reduces) {
    part.landing = take(step.to, step.bytes);
    add_copier(part.target);
  }
  return begin;
}

void NetworkProcess::set_remote_addresses(Layout const& layout, std::vector<std::string> const& keys,
                                          PreparedPlan& prepared) const {
  std::vector<nlohmann::json> of_ranks;
  for (auto const& text : keys) of_ranks.push_back(nlohmann::json::parse(text));
  for (std::size_t i = 0; i < layout.steps.size(); ++i) {
    auto const& links = layout.steps[i];
    if (links.driver != group_.rank() || links.links.empty()) continue;
    auto const other = links.driver == links.source ? links.target : links.source;
    auto const remote = of_ranks[static_cast<std::size_t>(other)].at(std::to_string(i)).get<RemoteMemory>();
    for (std::size_t k = 0; k < prepared.parts[i].endpoints.size(); ++k) {
      prepared.parts[i].endpoints[k].remote = remote.address;
      prepared.parts[i].endpoints[k].remote_key = remote.keys[k];
    }
  }
}

// The GPUs' steps of a node are run by its first process, which has its buffers too.
std::unique_ptr<DeviceSteps> NetworkProcess::make_gpu_steps(NetworkPlan const& plan,
                                                            std::vector<std::vector<int>> const& ranks,
                                                            PreparedPlan& prepared) const {
  auto const node = node_of(group_.rank(), ranks);
  if (plan.node_plans[node].steps.empty() || ranks[node].front() != group_.rank()) return nullptr;
  auto const& of_node = plan.node_plans[node];
  prepared.node_plan = &of_node;
  DeviceWork work;
  work.steps = node_steps_from(of_node);
  work.drives = of_node.drives;
  for (auto const buffer : of_node.buffers) work.buffers.push_back(prepared.buffers[buffer]);
  std::vector<std::optional<StepId>> in_node(plan.steps.size());
  for (std::size_t i = 0; i < of_node.steps.size(); ++i) in_node[of_node.steps[i]] = StepId(i);
  for (auto const number : of_node.steps) {
    auto const& after = plan.steps[number].after;
    work.waits_outside.push_back(
        std::any_of(after.begin(), after.end(), [&](std::size_t before) { return !in_node[before]; }));
  }
  for (auto const id : topological_order(dag_of_after(plan.steps)))
    if (in_node[index(id)]) work.order.push_back(*in_node[index(id)]);
  return make_device_steps(work, first_gpu_);
}

void NetworkProcess::clear_targets(NetworkPlan const& plan, PreparedPlan& prepared) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    if (plan.steps[i].writes.buffer < 0 && prepared.parts[i].target.memory != nullptr)
      prepared.parts[i].target.memory->clear();
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    if (prepared.buffers[i] == nullptr) continue;
    prepared.buffers[i]->clear();
    for (auto const& content : plan.buffers[i].before) prepared.buffers[i]->fill(content);
  }
}

// This process's report of a run: the spans of the steps that it drives, and what arrived here with wrong bytes.
std::string NetworkProcess::report(NetworkPlan const& plan, Layout const& layout, PreparedPlan const& prepared,
                                   std::vector<StepSpan> const& spans) const {
  auto json = nlohmann::json{{"spans", nlohmann::json::array()}, {"wrong", nlohmann::json::array()}};
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (layout.steps[i].driver == group_.rank())
      json["spans"].push_back({i, spans[i].start.value(), spans[i].end.value()});
    if (plan.steps[i].writes.buffer >= 0 || prepared.parts[i].target.memory == nullptr) continue;
    if (auto const wrong = prepared.parts[i].target.memory->mismatch(seed_of(i)))
      json["wrong"].push_back({i, text_of(*wrong)});
  }
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    if (prepared.buffers[i] == nullptr) continue;
    for (auto const& content : plan.buffers[i].after)
      if (auto const wrong = prepared.buffers[i]->mismatch(content))
        json["wrong"].push_back({last_writer(plan, i), fmt::format("{}: {}", plan.buffers[i].name, text_of(*wrong))});
  }
  if (!prepared.gpu_steps) return json.dump();
  auto const wrong = prepared.gpu_steps->mismatches();
  for (std::size_t i = 0; i < wrong.size(); ++i)
    if (!wrong[i].empty()) json["wrong"].push_back({prepared.node_plan->steps[i], wrong[i]});
  return json.dump();
}

}  // namespace lanewise::hw
