#include "hw/verbs/network_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "hw/memory/pattern.hpp"
#include "hw/verbs/buffer_contents.hpp"
#include "hw/verbs/exchange.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// The time from the announcement of the release to the release itself: long enough to reach every process.
constexpr Seconds kReleaseNotice{20e-3};
// Entries of a NIC's completion queue: enough for some tens of queue pairs with full queues. A NIC that holds fewer
// gets fewer.
constexpr int kCompletionEntries = 16384;

// What a step's driver must know about the memory at the other end: its address, and its key with each of the NICs.
struct RemoteMemory {
  std::uint64_t address = 0;
  std::vector<std::uint32_t> keys;  // by link of the step
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RemoteMemory, address, keys)

// A host that stands for a Soft-RoCE node may have fewer NUMA nodes: the kernel then places the memory.
NetworkMemory memory_here(NetworkMemory where, NetworkPlan const& plan) {
  bool const soft = std::all_of(plan.nics.begin(), plan.nics.end(), [](NetworkNic const& nic) { return nic.soft; });
  if (soft && !std::filesystem::exists(fmt::format("/sys/devices/system/node/node{}", where.numa))) where.numa = -1;
  return where;
}

// The step that the wrong bytes of a buffer are reported with; the first one where none writes there.
std::size_t last_writer(NetworkPlan const& plan, std::size_t buffer) {
  for (auto i = plan.steps.size(); i-- > 0;)
    if (plan.steps[i].writes.buffer == static_cast<int>(buffer)) return i;
  return 0;
}

std::uint64_t address_of(std::byte const* data) { return reinterpret_cast<std::uint64_t>(data); }

}  // namespace

struct NetworkProcess::PreparedPlan {
  // The memory that the NIC touches at this end of a step: the step's own, or its ring.
  struct End {
    Memory* memory = nullptr;
    Bytes bytes{0};
  };
  std::vector<Nic*> nics;  // by NIC of the plan
  std::vector<StepPart> parts;
  std::vector<std::optional<End>> ends;  // by step; absent where this process has no end of it
  std::vector<Memory*> buffers;          // by buffer of the plan; nullptr: another process has it
  std::vector<std::string> devices;
};

NetworkResult NetworkProcess::run(NetworkPlan const& plan) {
  auto const layout = layout_of(plan, ranks_of_nodes(group_.hosts(), plan.nodes.size()));
  PreparedPlan prepared;
  auto const keys = exchange(group_, [&] {
    open_nics(plan, layout, prepared);
    return allocate(plan, layout, prepared);
  });
  std::optional<VerbsTransport> transport;
  auto const addresses = exchange(group_, [&] {
    set_remote_addresses(layout, keys, prepared);
    transport.emplace(layout, group_.rank(), prepared.nics, plan.completion);
    return transport->addresses();
  });
  std::optional<NetworkRun> run;
  auto const devices = exchange(group_, [&] {
    transport->connect(addresses);
    run.emplace(plan, layout, prepared.parts, *transport, group_);
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

// Opens the NICs that this process's links use. NICs that only spare links use may be missing.
void NetworkProcess::open_nics(NetworkPlan const& plan, Layout const& layout, PreparedPlan& prepared) {
  std::set<std::size_t> needed;
  std::set<std::size_t> wanted;
  for (auto const& link : layout.links)
    for (int end = 0; end < 2; ++end)
      if (link.ranks[end] == group_.rank()) wanted.insert(link.nics[end]);
  for (auto const& step : layout.steps) {
    if (step.links.empty()) continue;
    auto const& link = layout.links[index(step.links.front())];
    for (int end = 0; end < 2; ++end)
      if (link.ranks[end] == group_.rank()) needed.insert(link.nics[end]);
  }
  prepared.nics.resize(plan.nics.size());
  for (auto const number : wanted) {
    auto const& nic = plan.nics[number];
    auto& open = nics_[fmt::format("{} {}", nic.name, static_cast<int>(plan.completion))];
    try {
      if (!open) open = std::make_unique<Nic>(nic, kCompletionEntries, plan.completion);
    } catch (MissingError const&) {
      if (needed.contains(number)) throw;
      continue;
    }
    prepared.nics[number] = open.get();
    prepared.devices.push_back(open->text());
  }
}

// Allocates and registers this process's ends of all steps. Returns what drivers in other processes must know about
// them.
std::string NetworkProcess::allocate(NetworkPlan const& plan, Layout const& layout, PreparedPlan& prepared) {
  memory_.release_all();
  prepared.buffers.resize(plan.buffers.size());
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    auto const& buffer = plan.buffers[i];
    if (layout.buffers[i] == group_.rank())
      prepared.buffers[i] = &memory_.take(memory_here(buffer.memory, plan), Bytes(buffer.bytes));
  }
  prepared.parts.resize(plan.steps.size());
  prepared.ends.resize(plan.steps.size());
  auto remote_ends = nlohmann::json::object();
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    auto const& step = plan.steps[i];
    auto const& links = layout.steps[i];
    auto& part = prepared.parts[i];
    bool const local = step.verb == Verb::Local;
    auto const take = [&](NetworkMemory const& where, std::vector<NetworkMemory> const& ring) {
      auto& memory = memory_.take(memory_here(where, plan), Bytes(step.bytes));
      prepared.ends[i] = PreparedPlan::End{&memory, Bytes(step.bytes)};
      if (ring.empty()) return &memory;
      prepared.ends[i] = PreparedPlan::End{&memory_.take(ring.front(), Bytes(step.slots * step.chunk)),
                                           Bytes(step.slots * step.chunk)};
      part.ring = prepared.ends[i]->memory->data();
      return &memory;
    };
    std::byte* begin = nullptr;  // of this end, for the NIC
    if (step.reads.buffer >= 0) {
      begin = set_buffers(plan, step, links, part, prepared, i);
    } else {
      if (links.source == group_.rank()) {
        part.source = take(step.from, step.ring_from);
        part.source->fill(seed_of(i));
      }
      if (links.target == group_.rank()) part.target = take(step.to, step.ring_to);
      if (prepared.ends[i]) begin = prepared.ends[i]->memory->data();
    }
    if (local || !prepared.ends[i]) continue;
    RemoteMemory mine{address_of(begin), {}};
    for (auto const link : links.links) {
      auto const& spec = layout.links[index(link)];
      auto const* nic = prepared.nics[spec.nics[spec.ranks[0] == group_.rank() ? 0 : 1]];
      LinkEndpoints ends;
      ends.local = begin;
      if (nic != nullptr) {
        auto const& region = regions_.region(*nic, *prepared.ends[i]->memory, prepared.ends[i]->bytes);
        ends.local_key = region.lkey;
        mine.keys.push_back(region.rkey);
      } else {
        mine.keys.push_back(0);
      }
      part.endpoints.push_back(ends);
    }
    if (links.driver != group_.rank()) remote_ends[std::to_string(i)] = mine;
  }
  return remote_ends.dump();
}

// The end of a step that is in a buffer of this process: what the NIC reads, writes, or fetches to before it is added.
// Returns where that begins; nullptr where this process has no end of the step.
std::byte* NetworkProcess::set_buffers(NetworkPlan const& plan, NetworkStep const& step, StepLayout const& links,
                                       StepPart& part, PreparedPlan& prepared, std::size_t number) {
  auto const at = [&](NetworkRegion const& region) {
    return prepared.buffers[static_cast<std::size_t>(region.buffer)]->data() + region.offset;
  };
  auto const whole = [&](NetworkRegion const& region) {
    auto const buffer = static_cast<std::size_t>(region.buffer);
    return PreparedPlan::End{prepared.buffers[buffer], Bytes(plan.buffers[buffer].bytes)};
  };
  std::byte* begin = nullptr;
  if (links.source == group_.rank()) {
    part.reads = begin = at(step.reads);
    prepared.ends[number] = whole(step.reads);
  }
  if (links.target != group_.rank()) return begin;
  part.writes = at(step.writes);
  if (step.verb == Verb::Local || !step.reduces) {
    prepared.ends[number] = whole(step.writes);
    return part.writes;
  }
  auto& landing = memory_.take(memory_here(step.to, plan), Bytes(step.bytes));
  prepared.ends[number] = PreparedPlan::End{&landing, Bytes(step.bytes)};
  part.landing = landing.data();
  return landing.data();
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

void NetworkProcess::clear_targets(NetworkPlan const& plan, PreparedPlan& prepared) {
  for (auto const& part : prepared.parts)
    if (part.target != nullptr) part.target->clear();
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    if (prepared.buffers[i] == nullptr) continue;
    prepared.buffers[i]->clear();
    for (auto const& content : plan.buffers[i].before) fill(prepared.buffers[i]->data(), content);
  }
}

// This process's report of a run: the spans of the steps that it drives, and what arrived here with wrong bytes.
std::string NetworkProcess::report(NetworkPlan const& plan, Layout const& layout, PreparedPlan const& prepared,
                                   std::vector<StepSpan> const& spans) const {
  auto json = nlohmann::json{{"spans", nlohmann::json::array()}, {"wrong", nlohmann::json::array()}};
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (layout.steps[i].driver == group_.rank())
      json["spans"].push_back({i, spans[i].start.value(), spans[i].end.value()});
    if (prepared.parts[i].target == nullptr) continue;
    if (auto const wrong = prepared.parts[i].target->mismatch(seed_of(i)))
      json["wrong"].push_back({i, text_of(*wrong)});
  }
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    if (prepared.buffers[i] == nullptr) continue;
    for (auto const& content : plan.buffers[i].after)
      if (auto const wrong = mismatch(prepared.buffers[i]->data(), content))
        json["wrong"].push_back({last_writer(plan, i), fmt::format("{}: {}", plan.buffers[i].name, text_of(*wrong))});
  }
  return json.dump();
}

}  // namespace lanewise::hw
