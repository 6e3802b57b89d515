#include "hw/verbs/network_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "core/io/error.hpp"
#include "hw/memory/pattern.hpp"
#include "hw/verbs/exchange.hpp"

namespace lanewise::hw {
namespace {

// From the moment that the first names to the release: the news must have reached all by then.
constexpr Seconds kNotice{20e-3};
// Completions that may wait in a NIC's queue: of some tens of queue pairs with full queues. Fewer where it holds fewer.
constexpr int kEntries = 16384;

// What the driver of a step must know of the memory at the other end: where it is, and its key with each of the NICs.
struct RemoteMemory {
  std::uint64_t address = 0;
  std::vector<std::uint32_t> keys;  // by the step's links
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RemoteMemory, address, keys)

// A host that plays a Soft-RoCE node may have fewer NUMA nodes: then its memory is anywhere.
NetworkMemory here(NetworkMemory where, NetworkPlan const& plan) {
  bool const soft = std::all_of(plan.nics.begin(), plan.nics.end(), [](NetworkNic const& nic) { return nic.soft; });
  if (soft && !std::filesystem::exists(fmt::format("/sys/devices/system/node/node{}", where.numa))) where.numa = -1;
  return where;
}

std::uint64_t address_of(std::byte const* data) { return reinterpret_cast<std::uint64_t>(data); }

}  // namespace

struct NetworkProcess::Laid {
  // The memory whose bytes the NIC touches at this end of a step: its own, or its ring.
  struct End {
    Memory* memory = nullptr;
    Bytes bytes{0};
  };
  std::vector<Nic*> nics;  // by their number in the plan
  std::vector<StepPart> parts;
  std::vector<std::optional<End>> ends;  // at this process
  std::vector<std::string> devices;
};

NetworkResult NetworkProcess::run(NetworkPlan const& plan) {
  auto const layout = layout_of(plan, ranks_of_nodes(group_.hosts(), plan.nodes.size()));
  Laid laid;
  auto const keys = exchange(group_, [&] {
    open(plan, layout, laid);
    return lay(plan, layout, laid);
  });
  std::optional<VerbsTransport> transport;
  auto const addresses = exchange(group_, [&] {
    address(layout, keys, laid);
    transport.emplace(layout, group_.rank(), laid.nics, plan.completion);
    return transport->addresses();
  });
  std::optional<NetworkRun> run;
  auto const devices = exchange(group_, [&] {
    transport->connect(addresses);
    run.emplace(plan, layout, laid.parts, *transport, group_);
    return nlohmann::json(laid.devices).dump();
  });
  auto const ahead = group_.clock_offset();
  NetworkResult result;
  result.mismatches.resize(plan.steps.size());
  for (int i = -plan.warm_up; i < plan.repeat; ++i) {
    exchange(group_, [&] {
      prepare(plan, laid);
      run->prepare();
      return std::string();
    });
    auto const release =
        Seconds(std::stod(group_.broadcast(fmt::format("{:.9f}", (monotonic_now() + kNotice).value()))));
    auto const said = exchange(group_, [&] { return checked(plan, layout, laid, run->once(release + ahead)); });
    NetworkSample sample;
    sample.spans.resize(plan.steps.size());
    for (auto const& text : said) {
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

// The NICs that this process's links use. Those that only spare links would use may be missing.
void NetworkProcess::open(NetworkPlan const& plan, Layout const& layout, Laid& laid) {
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
  laid.nics.resize(plan.nics.size());
  for (auto const number : wanted) {
    auto const& nic = plan.nics[number];
    auto& open = nics_[fmt::format("{} {}", nic.name, static_cast<int>(plan.completion))];
    try {
      if (!open) open = std::make_unique<Nic>(nic, kEntries, plan.completion);
    } catch (MissingError const&) {
      if (needed.contains(number)) throw;
      continue;
    }
    laid.nics[number] = open.get();
    laid.devices.push_back(open->text());
  }
}

// Takes and registers this process's ends of all steps; what their drivers elsewhere must know of them.
std::string NetworkProcess::lay(NetworkPlan const& plan, Layout const& layout, Laid& laid) {
  memory_.give_all_back();
  laid.parts.resize(plan.steps.size());
  laid.ends.resize(plan.steps.size());
  auto told = nlohmann::json::object();
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    auto const& step = plan.steps[i];
    auto const& links = layout.steps[i];
    auto& part = laid.parts[i];
    bool const local = step.verb == Verb::Local;
    auto const take = [&](NetworkMemory const& where, std::vector<NetworkMemory> const& ring) {
      auto& memory = memory_.take(here(where, plan), Bytes(step.bytes));
      laid.ends[i] = Laid::End{&memory, Bytes(step.bytes)};
      if (ring.empty()) return &memory;
      laid.ends[i] =
          Laid::End{&memory_.take(ring.front(), Bytes(step.slots * step.chunk)), Bytes(step.slots * step.chunk)};
      part.ring = laid.ends[i]->memory->data();
      return &memory;
    };
    if (links.source == group_.rank()) {
      part.source = take(step.from, step.ring_from);
      part.source->fill(seed_of(i));
    }
    if (links.target == group_.rank()) part.target = take(step.to, step.ring_to);
    if (local || !laid.ends[i]) continue;
    RemoteMemory mine{address_of(laid.ends[i]->memory->data()), {}};
    for (auto const link : links.links) {
      auto const& spec = layout.links[index(link)];
      auto const* nic = laid.nics[spec.nics[spec.ranks[0] == group_.rank() ? 0 : 1]];
      LinkEndpoints track;
      track.local = laid.ends[i]->memory->data();
      if (nic != nullptr) {
        auto const& region = regions_.region(*nic, *laid.ends[i]->memory, laid.ends[i]->bytes);
        track.local_key = region.lkey;
        mine.keys.push_back(region.rkey);
      } else {
        mine.keys.push_back(0);
      }
      part.tracks.push_back(track);
    }
    if (links.driver != group_.rank()) told[std::to_string(i)] = mine;
  }
  return told.dump();
}

void NetworkProcess::address(Layout const& layout, std::vector<std::string> const& keys, Laid& laid) const {
  std::vector<nlohmann::json> of_ranks;
  for (auto const& text : keys) of_ranks.push_back(nlohmann::json::parse(text));
  for (std::size_t i = 0; i < layout.steps.size(); ++i) {
    auto const& links = layout.steps[i];
    if (links.driver != group_.rank() || links.links.empty()) continue;
    auto const other = links.driver == links.source ? links.target : links.source;
    auto const remote = of_ranks[static_cast<std::size_t>(other)].at(std::to_string(i)).get<RemoteMemory>();
    for (std::size_t k = 0; k < laid.parts[i].tracks.size(); ++k) {
      laid.parts[i].tracks[k].remote = remote.address;
      laid.parts[i].tracks[k].remote_key = remote.keys[k];
    }
  }
}

void NetworkProcess::prepare(NetworkPlan const& plan, Laid& laid) const {
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    if (laid.parts[i].target != nullptr) laid.parts[i].target->clear();
}

// What this process saw of a run: the spans of the steps that it drives, and what arrived wrong here.
std::string NetworkProcess::checked(NetworkPlan const& plan, Layout const& layout, Laid const& laid,
                                    std::vector<StepSpan> const& spans) const {
  auto json = nlohmann::json{{"spans", nlohmann::json::array()}, {"wrong", nlohmann::json::array()}};
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (layout.steps[i].driver == group_.rank())
      json["spans"].push_back({i, spans[i].start.value(), spans[i].end.value()});
    if (laid.parts[i].target == nullptr) continue;
    if (auto const wrong = laid.parts[i].target->mismatch(seed_of(i))) json["wrong"].push_back({i, text_of(*wrong)});
  }
  return json.dump();
}

}  // namespace lanewise::hw
