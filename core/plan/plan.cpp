#include "core/plan/plan.hpp"

#include <fmt/format.h>

#include "core/io/json.hpp"
#include "core/machine/part_fields.hpp"
#include "core/machine/part_fields.hpp"
#include "core/plan/dag_runner.hpp"
#include "core/units/text.hpp"

namespace lanewise {
namespace {

using Json = nlohmann::ordered_json;

void require(bool holds, Step const& step, std::string_view what) {
  if (!holds) throw PlanError(fmt::format("step of transfer '{}': {}", step.transfer, what));
}

bool is_kind(Machine const& machine, Place const& place, PciKind kind) {
  auto const* id = std::get_if<PciId>(&place);
  return id != nullptr && machine.at(*id).kind == kind;
}

// Whether a way has what its mechanism needs, between the kinds of places that it serves.
class WayVerifier {
 public:
  WayVerifier(Machine const& machine, Step const& step) : machine_(machine), step_(step), way_(step.way) {}

  void verify() const {
    devices();
    bool const gpus = gpu(step_.from) && gpu(step_.to) && step_.from != step_.to;
    bool const over_network = way_.nic_from || way_.nic_to;
    switch (way_.mechanism) {
      case Mechanism::Local: need((memory(step_.from) && memory(step_.to)) || (gpu(step_.from) && step_.from == step_.to), "within one memory"); break;
      case Mechanism::Nvlink: need(gpus || one_each(&WayVerifier::gpu, &WayVerifier::memory), "between two GPUs, or a GPU and host memory"); break;
      case Mechanism::PcieP2p: need(gpus, "between two GPUs"); break;
      case Mechanism::NvlinkRelay: need(gpus && way_.relay, "between two GPUs through a third"); break;
      case Mechanism::HostDma: need(one_each(&WayVerifier::gpu, &WayVerifier::memory) || one_each(&WayVerifier::drive, &WayVerifier::memory), "between a GPU or a drive and host memory"); break;
      case Mechanism::HostStaged: need(gpus && way_.staging, "between two GPUs through host memory"); break;
      case Mechanism::SharedHost:
        need(way_.staging && (gpus || over_network), "between two devices through host memory");
        if (over_network) network(true);
        break;
      case Mechanism::BarCopy: need(gpus || one_each(&WayVerifier::gpu, &WayVerifier::memory), "a CPU's copy to or from a GPU"); break;
      case Mechanism::Rdma: network(false); break;
      case Mechanism::Gdr: network(true); break;
      case Mechanism::GdrRelay:
        network(true);
        need((way_.relay || way_.relay_to) && (!way_.relay || gpu(step_.from)) && (!way_.relay_to || gpu(step_.to)), "through a GPU beside a NIC");
        break;
      case Mechanism::NetStaged:
        network(true);
        need(way_.staging.has_value(), "through host memory");
        break;
      case Mechanism::StorageDirect: need(one_each(&WayVerifier::gpu, &WayVerifier::drive), "between a GPU and a drive"); break;
      case Mechanism::StorageStaged: need(one_each(&WayVerifier::gpu, &WayVerifier::drive) && way_.staging, "between a GPU and a drive through host memory"); break;
    }
  }

 private:
  using Kind = bool (WayVerifier::*)(Place const&) const;
  [[nodiscard]] bool gpu(Place const& place) const { return is_kind(machine_, place, PciKind::Gpu); }
  [[nodiscard]] bool drive(Place const& place) const { return is_kind(machine_, place, PciKind::Nvme); }
  [[nodiscard]] bool memory(Place const& place) const { return std::holds_alternative<NumaId>(place); }
  [[nodiscard]] bool one_each(Kind a, Kind b) const {
    return ((this->*a)(step_.from) && (this->*b)(step_.to)) || ((this->*b)(step_.from) && (this->*a)(step_.to));
  }
  void need(bool holds, std::string_view what) const { require(holds, step_, fmt::format("{} is {}", to_string(way_.mechanism), what)); }

  // What stands on the way is of the kind that its key says.
  void devices() const {
    for (auto const& relay : {way_.relay, way_.relay_to}) need(!relay || gpu(*relay), "relayed by GPUs only");
    for (auto const& nic : {way_.nic_from, way_.nic_to}) need(!nic || is_kind(machine_, *nic, PciKind::Nic), "sent by NICs only");
    require(way_.chunk >= Bytes(0), step_, "its chunk is negative");
  }
  // Each side has a NIC and memory that it serves, or is the other side's NIC: its wire.
  void network(bool with_gpus) const {
    auto const served = [&](Place const& place) { return memory(place) || (with_gpus && gpu(place)); };
    bool const from = way_.nic_from ? served(step_.from) : way_.nic_to && step_.from == Place(*way_.nic_to);
    bool const to = way_.nic_to ? served(step_.to) : way_.nic_from && step_.to == Place(*way_.nic_from);
    need(from && to, with_gpus ? "between memories of GPUs and hosts by a NIC" : "between host memories by a NIC");
  }

  Machine const& machine_;
  Step const& step_;
  Way const& way_;
};

// FNV-1a: short, stable over platforms; a collision only costs a missed warning.
class Hash {
 public:
  void add(std::string_view text) {
    for (char const c : text) {
      value_ ^= static_cast<unsigned char>(c);
      value_ *= 0x100000001b3ULL;
    }
    value_ ^= 0xff;
    value_ *= 0x100000001b3ULL;
  }
  void add(std::int64_t number) { add(std::to_string(number)); }
  template <class Quantity>
  void add(std::optional<Quantity> const& quantity) {
    add(quantity ? exact_text(*quantity) : std::string("-"));
  }
  [[nodiscard]] std::string text() const { return fmt::format("{:016x}", value_); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

void add_settings(Hash& hash, Host const& host) {
  auto const& s = host.settings;
  hash.add(to_string(s.acs));
  hash.add(to_string(s.iommu));
  hash.add(s.iommu_page.value());
  hash.add(s.virtualization.passthrough + 2 * s.virtualization.approval + 4 * s.virtualization.ats);
  for (auto const& clique : s.virtualization.cliques)
    for (auto const& name : clique) hash.add(name);
  auto const& w = host.software;
  hash.add(w.cuda + 2 * w.peermem + 4 * w.dma_buf + 8 * w.gdrcopy + 16 * w.gpudirect_storage + 32 * w.fabric_manager);
}

// Every figure of every part, as a file would say it.
void add_parts(Hash& hash, Machine const& machine) {
  for (auto const& part : machine.parts) {
    hash.add(part.name);
    for (auto const& field : part_fields(part.kind)) {
      if (field.spec.name == "title") continue;  // for people
      hash.add(field.spec.name);
      for (auto const& text : field.write(part)) hash.add(text);
    }
  }
}

template <class Id>
std::int64_t number(std::optional<Id> id) {
  return id ? static_cast<std::int64_t>(index(*id)) : -1;
}
template <class Id>
std::int64_t number(Id id) {
  return static_cast<std::int64_t>(index(id));
}

void add_functions(Hash& hash, Machine const& machine) {
  for (auto const& socket : machine.sockets) {
    hash.add(socket.name);
    hash.add(number(socket.host));
    hash.add(number(socket.part));
  }
  for (auto const& numa : machine.numa_nodes) {
    hash.add(numa.name);
    hash.add(number(numa.socket));
  }
  for (auto const& bridge : machine.host_bridges) {
    hash.add(number(bridge.socket));
    hash.add(number(bridge.numa));
  }
  for (auto const& function : machine.functions) {
    hash.add(function.name);
    hash.add(to_string(function.kind));
    hash.add(number(function.parent));
    hash.add(number(function.host_bridge));
    hash.add(number(function.part));
    for (auto const& link : {function.link, function.max_link}) hash.add(link ? to_string(*link) : std::string("-"));
    hash.add(function.acs ? to_string(*function.acs) : std::string("-"));
    hash.add(function.chip);
    hash.add(std::int64_t{function.mig});
    hash.add(function.rate);
    hash.add(std::int64_t{function.rail.value_or(-1)});
  }
}

void add_links(Hash& hash, Machine const& machine) {
  for (auto const& link : machine.socket_links)
    for (auto const value : {number(link.a), number(link.b), number(link.part), std::int64_t{link.count}}) hash.add(value);
  for (auto const& bundle : machine.nvlinks) {
    for (auto const& end : {bundle.a, bundle.b}) {
      hash.add(static_cast<std::int64_t>(end.index()));
      hash.add(std::visit([](auto id) { return number(id); }, end));
    }
    hash.add(number(bundle.part));
    hash.add(std::int64_t{bundle.count});
  }
  for (auto const& domain : machine.nvswitches) {
    hash.add(number(domain.part));
    hash.add(number(domain.link_part));
    for (auto const& port : domain.ports)
      for (auto const value : {number(port.gpu), std::int64_t{port.count}}) hash.add(value);
  }
}

void add_fabric(Hash& hash, Machine const& machine) {
  if (!machine.fabric) return hash.add("no fabric");
  hash.add(machine.fabric->kind);
  hash.add(number(machine.fabric->switch_part));
  for (auto const& leaf : machine.fabric->leaves) {
    hash.add(leaf.name);
    hash.add(leaf.uplink);
  }
  for (auto const& attachment : machine.fabric->attachments) {
    hash.add(number(attachment.nic));
    hash.add(std::int64_t{attachment.leaf});
    hash.add(attachment.rate);
  }
}

Json way_json(Way const& way, Machine const& machine) {
  Json json{{"mechanism", to_string(way.mechanism)}, {"drive", way.drive == Drive::Push ? "push" : "pull"}};
  auto const add_function = [&](char const* key, std::optional<PciId> id) {
    if (id) json[key] = machine.at(*id).name;
  };
  add_function("relay", way.relay);
  add_function("relay_to", way.relay_to);
  add_function("nic_from", way.nic_from);
  add_function("nic_to", way.nic_to);
  if (way.staging) json["staging"] = machine.at(*way.staging).name;
  if (way.staging_to) json["staging_to"] = machine.at(*way.staging_to).name;
  if (way.chunk > Bytes(0)) json["chunk_bytes"] = way.chunk.value();
  return json;
}

// --------------------------------------------------------------------------------------------------------- and back

template <class T>
T parsed(Parsed<T> const& result) {
  if (!result.value) throw InputError("not a plan: " + result.problem);
  return *result.value;
}

std::optional<PciId> function_at(Json const& json, char const* key, Machine const& machine) {
  if (!json.contains(key)) return std::nullopt;
  auto const name = json.at(key).get<std::string>();
  auto const id = machine.find_function(name);
  if (!id) throw InputError(fmt::format("not a plan for '{}': it has no '{}'", machine.name, name));
  return id;
}
std::optional<NumaId> memory_at(Json const& json, char const* key, Machine const& machine) {
  if (!json.contains(key)) return std::nullopt;
  auto const place = machine.place(json.at(key).get<std::string>());
  auto const* numa = std::get_if<NumaId>(&place);
  if (numa == nullptr) throw InputError(fmt::format("not a plan: '{}' is not host memory", json.at(key).get<std::string>()));
  return *numa;
}

Way way_from(Json const& json, Machine const& machine) {
  Way way;
  way.mechanism = parsed(parse_mechanism(json.at("mechanism").get<std::string>()));
  auto const drive = json.at("drive").get<std::string>();
  if (drive != "push" && drive != "pull") throw InputError(fmt::format("not a plan: '{}' is not a drive; allowed: push, pull", drive));
  way.drive = drive == "pull" ? Drive::Pull : Drive::Push;
  way.relay = function_at(json, "relay", machine);
  way.relay_to = function_at(json, "relay_to", machine);
  way.nic_from = function_at(json, "nic_from", machine);
  way.nic_to = function_at(json, "nic_to", machine);
  way.staging = memory_at(json, "staging", machine);
  way.staging_to = memory_at(json, "staging_to", machine);
  way.chunk = Bytes(json.value("chunk_bytes", std::int64_t{0}));
  return way;
}

Candidate candidate_from(Json const& json, Machine const& machine) {
  Candidate candidate;
  candidate.way = way_from(json, machine);
  candidate.refused_by = json.value("rule", std::string());
  candidate.reason = json.value("reason", std::string());
  candidate.remarks = json.value("remarks", std::vector<std::string>());
  candidate.route = json.value("route", std::vector<std::string>());
  if (json.contains("time_us")) candidate.time = from_microseconds(json.at("time_us"));
  if (json.contains("latency_us")) candidate.latency = from_microseconds(json.at("latency_us"));
  if (json.contains("bandwidth_GBps")) candidate.rate = from_gigabytes_per_second(json.at("bandwidth_GBps"));
  candidate.binding = json.value("binding", std::string());
  return candidate;
}

}  // namespace

void Plan::verify(Machine const& of) const {
  for (auto const& step : steps) {
    require(step.bytes >= Bytes(0), step, "its size is negative");
    WayVerifier(of, step).verify();
  }
  DagRunner const refuses_bad_order(steps);
  for (auto const& decision : decisions) {
    if (index(decision.step) >= steps.size() || decision.chosen >= decision.candidates.size())
      throw PlanError(fmt::format("the decision on '{}' points outside the plan", decision.transfer));
    require(decision.candidates[decision.chosen].legal(), steps[index(decision.step)], "an illegal way was chosen");
  }
}

std::string fingerprint(Machine const& machine) {
  Hash hash;
  hash.add(machine.name);
  for (auto const& host : machine.hosts) add_settings(hash, host);
  for (auto const& part : machine.parts) {
    hash.add(part.name);
    for (auto const& field : part_fields(part.kind))
      for (auto const& text : field.write(part)) hash.add(text);
  }
  auto const id = [&](auto any) { hash.add(static_cast<std::int64_t>(index(any))); };
  auto const part = [&](std::optional<PartId> which) { hash.add(which ? machine.at(*which).name : std::string("-")); };
  auto const rate = [&](std::optional<BytesPerSecond> figure) { hash.add(figure ? exact_text(*figure) : std::string("-")); };
  for (auto const& socket : machine.sockets) {
    hash.add(socket.name);
    part(socket.part);
  }
  for (auto const& numa : machine.numa_nodes) id(numa.socket);
  for (auto const& bridge : machine.host_bridges) id(bridge.numa);
  for (auto const& function : machine.functions) {
    hash.add(function.name);
    hash.add(function.parent ? static_cast<std::int64_t>(index(*function.parent)) : -1);
    id(function.host_bridge);
    part(function.part);
    for (auto const& link : {function.link, function.max_link}) hash.add(link ? to_string(*link) : std::string("-"));
    hash.add(function.acs ? to_string(*function.acs) : std::string("-"));
    hash.add(function.chip);
    hash.add(function.mig);
    rate(function.rate);
    hash.add(function.rail.value_or(-1));
  }
  auto const end = [&](NvlinkEnd const& e) {
    if (auto const* gpu = std::get_if<PciId>(&e)) hash.add(machine.at(*gpu).name);
    else hash.add(machine.at(std::get<SocketId>(e)).name);
  };
  for (auto const& link : machine.socket_links) {
    id(link.a);
    id(link.b);
    part(link.part);
    hash.add(link.count);
  }
  for (auto const& bundle : machine.nvlinks) {
    end(bundle.a);
    end(bundle.b);
    part(bundle.part);
    hash.add(bundle.count);
  }
  for (auto const& domain : machine.nvswitches) {
    part(domain.part);
    part(domain.link_part);
    for (auto const& port : domain.ports) {
      id(port.gpu);
      hash.add(port.count);
    }
  }
  for (auto const& entry : machine.overrides) {
    hash.add(machine.name_of(entry.from));
    hash.add(machine.name_of(entry.to));
    hash.add(entry.op ? to_string(*entry.op) : "-");
    rate(entry.bandwidth);
    hash.add(entry.latency ? exact_text(*entry.latency) : std::string("-"));
  }
  hash.add(machine.fabric ? machine.fabric->kind : std::string("-"));
  if (!machine.fabric) return hash.text();
  part(machine.fabric->switch_part);
  for (auto const& leaf : machine.fabric->leaves) rate(leaf.uplink);
  for (auto const& attachment : machine.fabric->attachments) {
    id(attachment.nic);
    hash.add(attachment.leaf);
    rate(attachment.rate);
  }
  return hash.text();
}

nlohmann::ordered_json to_json(Candidate const& candidate, Machine const& machine) {
  auto json = way_json(candidate.way, machine);
  json["legal"] = candidate.legal();
  if (!candidate.legal()) json["rule"] = candidate.refused_by;
  if (!candidate.reason.empty()) json["reason"] = candidate.reason;
  if (!candidate.remarks.empty()) json["remarks"] = candidate.remarks;
  if (!candidate.route.empty()) json["route"] = candidate.route;
  if (candidate.time) json["time_us"] = microseconds(*candidate.time);
  if (candidate.latency) json["latency_us"] = microseconds(*candidate.latency);
  if (candidate.rate) json["bandwidth_GBps"] = gigabytes_per_second(*candidate.rate);
  if (!candidate.binding.empty()) json["binding"] = candidate.binding;
  return json;
}

nlohmann::ordered_json to_json(Plan const& plan, Machine const& machine) {
  Json json{{"lanewise", "plan/1"}, {"machine", plan.machine}, {"fingerprint", plan.fingerprint}};
  json["steps"] = Json::array();
  for (auto const& step : plan.steps) {
    Json item{{"transfer", step.transfer}, {"from", machine.name_of(step.from)}, {"to", machine.name_of(step.to)}, {"bytes", step.bytes.value()}, {"op", to_string(step.op)}};
    item["way"] = way_json(step.way, machine);
    item["after"] = Json::array();
    for (auto const before : step.after) item["after"].push_back(index(before));
    json["steps"].push_back(std::move(item));
  }
  json["decisions"] = Json::array();
  for (auto const& decision : plan.decisions) {
    Json item{{"transfer", decision.transfer}, {"step", index(decision.step)}, {"chosen", decision.chosen}};
    for (auto const& candidate : decision.candidates) item["candidates"].push_back(to_json(candidate, machine));
    json["decisions"].push_back(std::move(item));
  }
  return json;
}

Plan plan_from_json(nlohmann::ordered_json const& json, Machine const& machine) {
  try {
    Plan plan;
    plan.machine = json.at("machine");
    plan.fingerprint = json.at("fingerprint");
    if (plan.fingerprint != fingerprint(machine))
      throw InputError(fmt::format("the plan was made for '{}' (fingerprint {}), not for this '{}' ({}): other hardware or settings", plan.machine,
                                   plan.fingerprint, machine.name, fingerprint(machine)));
    for (auto const& item : json.at("steps")) {
      Step step;
      step.transfer = item.at("transfer");
      step.from = machine.place(item.at("from").get<std::string>());
      step.to = machine.place(item.at("to").get<std::string>());
      step.bytes = Bytes(item.at("bytes").get<std::int64_t>());
      step.op = parsed(parse_op(item.at("op").get<std::string>()));
      step.way = way_from(item.at("way"), machine);
      for (auto const& before : item.at("after")) step.after.push_back(StepId(before.get<std::uint32_t>()));
      plan.steps.push_back(std::move(step));
    }
    for (auto const& item : json.at("decisions")) {
      Decision decision{item.at("transfer"), StepId(item.at("step").get<std::uint32_t>()), {}, item.at("chosen")};
      for (auto const& candidate : item.at("candidates")) decision.candidates.push_back(candidate_from(candidate, machine));
      plan.decisions.push_back(std::move(decision));
    }
    plan.verify(machine);
    return plan;
  } catch (Json::exception const& error) {
    throw InputError(std::string("not a plan: ") + error.what());
  }
}

std::string text_of(Way const& way, Machine const& machine) {
  auto text = std::string(to_string(way.mechanism));
  if (way.mechanism == Mechanism::PcieP2p) text += way.drive == Drive::Push ? " write" : " read";
  std::vector<std::string> through;
  for (auto const& id : {way.relay, way.nic_from, way.nic_to, way.relay_to})
    if (id) through.push_back(machine.at(*id).name);
  for (auto const& id : {way.staging, way.staging_to == way.staging ? std::nullopt : way.staging_to})
    if (id) through.push_back(machine.at(*id).name);
  if (!through.empty()) text += fmt::format(" through {}", fmt::join(through, ", "));
  if (way.chunk > Bytes(0)) text += fmt::format(", {} chunks", exact_text(way.chunk));
  return text;
}

}  // namespace lanewise
