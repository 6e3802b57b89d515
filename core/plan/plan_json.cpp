#include "lanewise/plan/plan_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "core/io/json.hpp"
#include "core/io/spelling.hpp"
#include "core/machine/place_index.hpp"
#include "lanewise/machine/fingerprint.hpp"

namespace lanewise {
namespace {

using Json = nlohmann::ordered_json;

Json way_json(Way const& way, Machine const& machine) {
  Json json{{"mechanism", to_string(way.mechanism)}, {"drive", way.drive == Drive::Push ? "push" : "pull"}};
  auto const add_function = [&](char const* key, std::optional<PciId> id) {
    if (id) json[key] = machine.at(*id).name;
  };
  add_function("relay", way.relay);
  add_function("relay_to", way.relay_to);
  add_function("nic_from", way.nic_from);
  add_function("nic_to", way.nic_to);
  if (way.nic_from || way.nic_to) json["carrier"] = to_string(way.carrier);
  if (way.staging) json["staging"] = machine.at(*way.staging).name;
  if (way.staging_to) json["staging_to"] = machine.at(*way.staging_to).name;
  if (way.chunk > Bytes(0)) json["chunk_bytes"] = way.chunk.value();
  if (way.by_driver) json["by_driver"] = true;
  if (way.pageable) json["pageable"] = true;
  if (way.queue_pairs > 0) json["queue_pairs"] = way.queue_pairs;
  if (way.cores > 0) json["cores"] = way.cores;
  if (way.blocks > 0) json["blocks"] = way.blocks;
  if (way.warps > 0) json["warps"] = way.warps;
  if (way.warps_per_block > 0) json["warps_per_block"] = way.warps_per_block;
  if (way.low_latency) json["low_latency"] = true;
  if (way.multimem) json["multimem"] = true;
  if (way.in_network) json["in_network"] = true;
  if (way.access.each > Bytes(0))
    json["access"] = {{"each_bytes", way.access.each.value()},
                      {"window_bytes", way.access.window.value()},
                      {"random", way.access.random}};
  return json;
}

template <class T>
T parsed(Parsed<T> const& result) {
  if (!result.value) throw InputError("not a plan: " + result.problem);
  return *result.value;
}

int count_from(Json const& json) { return static_cast<int>(whole_number(json, std::numeric_limits<int>::max())); }
// The count at a key, 0 where there is none.
int count_at(Json const& json, char const* key) { return json.contains(key) ? count_from(json.at(key)) : 0; }
StepId step_id_from(Json const& json) { return StepId(whole_number(json, std::numeric_limits<std::uint32_t>::max())); }
// The size at a key, 0 where there is none.
Bytes size_at(Json const& json, char const* key) { return json.contains(key) ? size_from(json.at(key)) : Bytes(0); }

std::optional<PciId> function_at(Json const& json, char const* key, PlaceIndex const& names) {
  if (!json.contains(key)) return std::nullopt;
  auto const name = json.at(key).get<std::string>();
  auto const id = names.find_function(name);
  if (!id) throw InputError(fmt::format("not a plan for '{}': it has no '{}'", names.machine().name, name));
  return id;
}
std::optional<NumaId> memory_at(Json const& json, char const* key, PlaceIndex const& names) {
  if (!json.contains(key)) return std::nullopt;
  auto const place = names.place(json.at(key).get<std::string>());
  auto const* numa = std::get_if<NumaId>(&place);
  if (numa == nullptr)
    throw InputError(fmt::format("not a plan: '{}' is not host memory", json.at(key).get<std::string>()));
  return *numa;
}

Drive drive_from(std::string const& word) {
  std::vector<std::string> const known{"push", "pull"};
  if (word == known[0]) return Drive::Push;
  if (word == known[1]) return Drive::Pull;
  throw InputError(fmt::format("'drive' is push or pull, not '{}'{}", word, did_you_mean(word, known)));
}

Way way_from(Json const& json, PlaceIndex const& names) {
  Way way;
  way.mechanism = parsed(parse_mechanism(json.at("mechanism").get<std::string>()));
  way.drive = drive_from(json.at("drive").get<std::string>());
  way.relay = function_at(json, "relay", names);
  way.relay_to = function_at(json, "relay_to", names);
  way.nic_from = function_at(json, "nic_from", names);
  way.nic_to = function_at(json, "nic_to", names);
  if (json.contains("carrier")) way.carrier = parsed(parse_carrier(json.at("carrier").get<std::string>()));
  way.staging = memory_at(json, "staging", names);
  way.staging_to = memory_at(json, "staging_to", names);
  way.chunk = size_at(json, "chunk_bytes");
  way.by_driver = json.value("by_driver", false);
  way.pageable = json.value("pageable", false);
  way.queue_pairs = count_at(json, "queue_pairs");
  way.cores = count_at(json, "cores");
  way.blocks = count_at(json, "blocks");
  way.warps = count_at(json, "warps");
  way.warps_per_block = count_at(json, "warps_per_block");
  way.low_latency = json.value("low_latency", false);
  way.multimem = json.value("multimem", false);
  way.in_network = json.value("in_network", false);
  if (json.contains("access")) {
    auto const& access = json.at("access");
    way.access = {size_from(access.at("each_bytes")), size_from(access.at("window_bytes")),
                  access.at("random").get<bool>()};
  }
  return way;
}

Json collective_json(Collective const& collective, Machine const& machine) {
  Json json{{"op", to_string(collective.op)},
            {"algorithm", to_string(collective.algorithm)},
            {"bytes", collective.bytes.value()},
            {"root", machine.name_of(collective.among.at(collective.root))}};
  for (auto const& place : collective.among) json["among"].push_back(machine.name_of(place));
  for (auto const& row : collective.sizes) {
    auto& written = json["sizes"].emplace_back(Json::array());
    for (auto const bytes : row) written.push_back(bytes.value());
  }
  if (collective.pieces > 0) json["pieces"] = collective.pieces;
  return json;
}

Json region_json(Region const& region, std::vector<Buffer> const& buffers) {
  return {{"buffer", buffers.at(index(region.buffer)).name}, {"offset", region.offset.value()}};
}

// Keys that only some steps have.
void add_optional_keys(Json& item, Step const& step, std::vector<Buffer> const& buffers) {
  if (step.offset > Bytes(0)) item["offset"] = step.offset.value();
  for (auto const before : step.order_only) item["order_only"].push_back(index(before));
  if (step.reads) item["reads"] = region_json(*step.reads, buffers);
  if (step.writes) item["writes"] = region_json(*step.writes, buffers);
  if (step.reduces) item["reduces"] = true;
  if (step.work > Seconds(0)) item["work_us"] = microseconds(step.work);
  if (step.count != 1) item["count"] = step.count;
}

Json library_json(LibraryChoice const& choice) {
  return {{"library", choice.library},
          {"algorithm", choice.algorithm},
          {"protocol", choice.protocol},
          {"channels", choice.channels},
          {"remarks", choice.remarks}};
}

LibraryChoice library_from(Json const& json) {
  return {json.at("library").get<std::string>(), json.at("algorithm").get<std::string>(),
          json.at("protocol").get<std::string>(), count_at(json, "channels"),
          json.at("remarks").get<std::vector<std::string>>()};
}

// Classes of units, each a list of nodes' names.
Json folding_json(Folding const& folding, Machine const& machine) {
  auto json = Json::array();
  for (auto const& alike : folding) {
    auto& units = json.emplace_back(Json::array());
    for (auto const& unit : alike.units) {
      auto& nodes = units.emplace_back(Json::array());
      for (auto const host : unit) nodes.push_back(machine.at(host).name);
    }
  }
  return json;
}

// Throws InputError for a node that the machine has not or that is named twice, and for an empty unit.
Folding folding_from(Json const& json, Machine const& machine) {
  std::map<std::string, HostId> nodes;
  for (std::size_t i = 0; i < machine.hosts.size(); ++i) nodes.emplace(machine.hosts[i].name, HostId(i));
  Folding folding;
  for (auto const& units : json) {
    auto& alike = folding.emplace_back();
    for (auto const& unit : units) {
      auto& hosts = alike.units.emplace_back();
      for (auto const& name : unit) {
        auto node = nodes.extract(name.get<std::string>());
        if (node.empty())
          throw InputError(fmt::format("not a plan for '{}': 'folding' names '{}', which it has not, or twice",
                                       machine.name, name.get<std::string>()));
        hosts.push_back(node.mapped());
      }
      if (hosts.empty()) throw InputError("not a plan: a unit of 'folding' has no node");
    }
    if (alike.units.empty()) throw InputError("not a plan: a class of 'folding' has no unit");
  }
  return folding;
}

void verify_sizes(Collective const& collective) {
  auto const n = collective.op == CollectiveOp::AllToAllV ? collective.among.size() : 0;
  bool const square = collective.sizes.size() == n && std::all_of(collective.sizes.begin(), collective.sizes.end(),
                                                                  [&](auto const& row) { return row.size() == n; });
  if (!square)
    throw InputError("not a plan: an all_to_all_v has a row of sizes for each participant, others have none");
}

Collective collective_from(Json const& json, PlaceIndex const& names) {
  Collective collective;
  collective.op = parsed(parse_collective_op(json.at("op").get<std::string>()));
  collective.algorithm = parsed(parse_algorithm(json.at("algorithm").get<std::string>()));
  collective.bytes = size_from(json.at("bytes"));
  for (auto const& name : json.at("among")) collective.among.push_back(names.place(name.get<std::string>()));
  auto const root = names.place(json.at("root").get<std::string>());
  auto const found = std::find(collective.among.begin(), collective.among.end(), root);
  if (found == collective.among.end()) throw InputError("not a plan: the root takes no part in the collective");
  collective.root = static_cast<std::size_t>(found - collective.among.begin());
  for (auto const& row : json.value("sizes", Json::array())) {
    auto& read = collective.sizes.emplace_back();
    for (auto const& bytes : row) read.push_back(size_from(bytes));
  }
  collective.pieces = static_cast<std::size_t>(count_at(json, "pieces"));
  verify_sizes(collective);
  return collective;
}

std::optional<Region> region_from(Json const& json, char const* key, std::vector<Buffer> const& buffers) {
  if (!json.contains(key)) return std::nullopt;
  auto const name = json.at(key).at("buffer").get<std::string>();
  auto const found = std::find_if(buffers.begin(), buffers.end(), [&](Buffer const& b) { return b.name == name; });
  if (found == buffers.end()) throw InputError(fmt::format("not a plan: it has no buffer '{}'", name));
  return Region{BufferId(found - buffers.begin()), size_from(json.at(key).at("offset"))};
}

void read_optional_keys(Step& step, Json const& item, std::vector<Buffer> const& buffers) {
  step.offset = size_at(item, "offset");
  for (auto const* key : {"order_only", "turns"})  // plan/2, plan/1
    for (auto const& before : item.value(key, Json::array())) step.order_only.push_back(step_id_from(before));
  step.reads = region_from(item, "reads", buffers);
  step.writes = region_from(item, "writes", buffers);
  step.reduces = item.value("reduces", false);
  if (item.contains("work_us")) step.work = from_microseconds(item.at("work_us"));
  if (item.contains("count"))
    step.count = static_cast<std::uint32_t>(whole_number(item.at("count"), std::numeric_limits<std::uint32_t>::max()));
}

Step step_from(Json const& json, std::vector<Buffer> const& buffers, PlaceIndex const& names) {
  Step step;
  step.transfer = json.at("transfer");
  step.from = names.place(json.at("from").get<std::string>());
  step.to = names.place(json.at("to").get<std::string>());
  step.bytes = size_from(json.at("bytes"));
  step.op = parsed(parse_op(json.at("op").get<std::string>()));
  step.way = way_from(json.at("way"), names);
  for (auto const& before : json.at("after")) step.after.push_back(step_id_from(before));
  read_optional_keys(step, json, buffers);
  return step;
}

Candidate candidate_from(Json const& json, Op default_op, PlaceIndex const& names) {
  Candidate candidate;
  candidate.way = way_from(json, names);
  candidate.op = json.contains("op") ? parsed(parse_op(json.at("op").get<std::string>())) : default_op;
  candidate.refused_by = json.value("rule", std::string());
  candidate.reason = json.value("reason", std::string());
  candidate.remarks = json.value("remarks", std::vector<std::string>());
  candidate.route = json.value("route", std::vector<std::string>());
  if (json.contains("time_us")) candidate.time = from_microseconds(json.at("time_us"));
  if (json.contains("time_interval_us"))
    candidate.range = TimeRange{from_microseconds(json.at("time_interval_us").at(0)),
                                from_microseconds(json.at("time_interval_us").at(1))};
  if (json.contains("rendezvous_from_bytes")) candidate.rendezvous = size_from(json.at("rendezvous_from_bytes"));
  if (json.contains("once_us")) candidate.once = from_microseconds(json.at("once_us"));
  if (json.contains("latency_us")) candidate.latency = from_microseconds(json.at("latency_us"));
  if (json.contains("bandwidth_GBps")) candidate.rate = from_gigabytes_per_second(json.at("bandwidth_GBps"));
  candidate.binding = json.value("binding", std::string());
  return candidate;
}

Decision decision_from(Json const& json, std::vector<Step> const& steps, PlaceIndex const& names) {
  Decision decision{json.at("transfer"),
                    step_id_from(json.at("step")),
                    {},
                    static_cast<std::size_t>(count_from(json.at("chosen"))),
                    {}};
  decision.any_mover = json.value("any_mover", false);
  for (auto const& piece : json.value("others", Json::array()))
    decision.others.push_back(
        {step_id_from(piece.at("step")), static_cast<std::size_t>(count_from(piece.at("candidate")))});
  auto const op = index(decision.step) < steps.size() ? steps[index(decision.step)].op : Op::Copy;
  for (auto const& candidate : json.at("candidates"))
    decision.candidates.push_back(candidate_from(candidate, op, names));
  return decision;
}

}  // namespace

nlohmann::ordered_json to_json(Candidate const& candidate, Machine const& machine) {
  auto json = way_json(candidate.way, machine);
  json["legal"] = candidate.legal();
  if (!candidate.legal()) json["rule"] = candidate.refused_by;
  if (!candidate.reason.empty()) json["reason"] = candidate.reason;
  if (!candidate.remarks.empty()) json["remarks"] = candidate.remarks;
  if (!candidate.route.empty()) json["route"] = candidate.route;
  if (candidate.time) json["time_us"] = microseconds(*candidate.time);
  if (candidate.range)
    json["time_interval_us"] = {microseconds(candidate.range->low), microseconds(candidate.range->high)};
  if (candidate.rendezvous) json["rendezvous_from_bytes"] = candidate.rendezvous->value();
  if (candidate.once) json["once_us"] = microseconds(*candidate.once);
  if (candidate.latency) json["latency_us"] = microseconds(*candidate.latency);
  if (candidate.rate) json["bandwidth_GBps"] = gigabytes_per_second(*candidate.rate);
  if (!candidate.binding.empty()) json["binding"] = candidate.binding;
  return json;
}

nlohmann::ordered_json to_json(Plan const& plan, Machine const& machine) {
  Json json{{"lanewise", kPlanSchemas.front()}, {"machine", plan.machine}, {"fingerprint", plan.fingerprint}};
  if (plan.collective) json["collective"] = collective_json(*plan.collective, machine);
  if (plan.library) json["library"] = library_json(*plan.library);
  if (!plan.folding.empty()) json["folding"] = folding_json(plan.folding, machine);
  for (auto const& buffer : plan.buffers)
    json["buffers"].push_back(
        {{"name", buffer.name}, {"at", machine.name_of(buffer.at)}, {"bytes", buffer.bytes.value()}});
  for (auto const& named : plan.collectives) {
    auto item = collective_json(named.collective, machine);
    item["id"] = named.id;
    item["first_buffer"] = plan.buffers.at(index(named.first)).name;
    json["collectives"].push_back(std::move(item));
  }
  json["steps"] = Json::array();
  for (auto const& step : plan.steps) {
    Json item{{"transfer", step.transfer},
              {"from", machine.name_of(step.from)},
              {"to", machine.name_of(step.to)},
              {"bytes", step.bytes.value()},
              {"op", to_string(step.op)}};
    item["way"] = way_json(step.way, machine);
    item["after"] = Json::array();
    for (auto const before : step.after) item["after"].push_back(index(before));
    add_optional_keys(item, step, plan.buffers);
    json["steps"].push_back(std::move(item));
  }
  json["decisions"] = Json::array();
  for (auto const& decision : plan.decisions) {
    Json item{{"transfer", decision.transfer}, {"step", index(decision.step)}, {"chosen", decision.chosen}};
    if (decision.any_mover) item["any_mover"] = true;
    for (auto const& piece : decision.others)
      item["others"].push_back({{"step", index(piece.step)}, {"candidate", piece.candidate}});
    for (auto const& candidate : decision.candidates) {
      auto& written = item["candidates"].emplace_back(to_json(candidate, machine));
      auto const& step = plan.steps[index(decision.step)];
      if (candidate.op != step.op) written["op"] = to_string(candidate.op);
    }
    json["decisions"].push_back(std::move(item));
  }
  return json;
}

namespace {

// Reads every item of a list; an error says which it is of.
template <class Read>
void for_each_named(std::string_view what, Json const& items, Read read) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    try {
      read(items[i]);
    } catch (InputError const& error) {
      auto const transfer = items[i].at("transfer").get<std::string>();
      throw InputError(fmt::format("{} {} (transfer '{}'): {}", what, i, transfer, error.what()));
    } catch (Json::exception const& error) {
      throw InputError(fmt::format("not a plan: {} {}: {}", what, i, reason_of(error)));
    }
  }
}

}  // namespace

Plan plan_from_json(nlohmann::ordered_json const& json, Machine const& machine) {
  try {
    Plan plan;
    plan.machine = json.at("machine");
    plan.fingerprint = json.at("fingerprint");
    if (plan.fingerprint != fingerprint(machine))
      throw InputError(
          fmt::format("the plan was made for '{}' (fingerprint {}), not for this '{}' ({}): other hardware or settings",
                      plan.machine, plan.fingerprint, machine.name, fingerprint(machine)));
    PlaceIndex const names(machine);
    if (json.contains("collective")) plan.collective = collective_from(json.at("collective"), names);
    if (json.contains("library")) plan.library = library_from(json.at("library"));
    if (json.contains("folding")) plan.folding = folding_from(json.at("folding"), machine);
    for (auto const& item : json.value("buffers", Json::array()))
      plan.buffers.push_back(
          {item.at("name"), names.place(item.at("at").get<std::string>()), size_from(item.at("bytes"))});
    for (auto const& item : json.value("collectives", Json::array())) {
      auto const first =
          region_from({{"first", {{"buffer", item.at("first_buffer")}, {"offset", 0}}}}, "first", plan.buffers);
      plan.collectives.push_back({item.at("id"), collective_from(item, names), first->buffer});
    }
    for_each_named("step", json.at("steps"),
                   [&](Json const& item) { plan.steps.push_back(step_from(item, plan.buffers, names)); });
    for_each_named("decision", json.at("decisions"),
                   [&](Json const& item) { plan.decisions.push_back(decision_from(item, plan.steps, names)); });
    plan.verify(machine);
    return plan;
  } catch (Json::exception const& error) {
    throw InputError("not a plan: " + reason_of(error));
  }
}

}  // namespace lanewise
