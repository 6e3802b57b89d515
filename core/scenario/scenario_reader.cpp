#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/io/spelling.hpp"
#include "core/machine/setting_list.hpp"
#include "core/scenario/job_fields.hpp"
#include "core/scenario/scenario_spec.hpp"
#include "core/scenario/transfer_fields.hpp"
#include "core/workload/workload_reader.hpp"
#include "lanewise/scenario/scenario.hpp"

namespace lanewise {
namespace {

class ScenarioReader {
 public:
  explicit ScenarioReader(SourceText const& source) : source_(source) {}

  Scenario read() {
    auto const root = parse_yaml(source_);
    expect_schema(root, "scenario/1", source_);
    MapReader top(root, scenario_spec(), source_, diagnostics_);
    scenario_.name = top.text("scenario").value_or("");
    scenario_.title = top.text("title").value_or("");
    scenario_.source = top.text("source").value_or("");
    auto const* name = top.node("scenario");
    scenario_.pos = {source_.name(), name != nullptr ? name->line : 1, name != nullptr ? name->column : 1};
    scenario_.machines = top.texts("machines");
    if (auto const* machines = top.node("machines"))
      for (auto const& item : machines->items)
        scenario_.machine_positions.push_back({source_.name(), item.line, item.column});
    scenario_.settings = read_settings(top);
    if (auto const objective = top.text("objective"))
      scenario_.objective = parse_objective(*objective).value.value_or(Objective::Makespan);
    for (auto& reader : top.maps("transfers")) read_transfer(reader);
    if (auto collective = top.map("collective")) scenario_.collective = read_collective(*collective);
    for (auto& reader : top.maps("collectives")) scenario_.collectives.push_back(read_collective(reader));
    for (auto& reader : top.maps("compute")) scenario_.compute.push_back(read_compute(reader));
    if (auto workload = top.map("workload")) scenario_.workload = read_workload(*workload);
    bool const others = !scenario_.transfers.empty() || is_job_set(scenario_);
    bool const alone = top.has("collective") || top.has("workload");
    if (!others && !alone && diagnostics_.empty())
      top.fail_at_key(top.has("transfers") ? "transfers" : "scenario",
                      "a scenario has at least one transfer, collective or compute, or a workload");
    if (others && top.has("collective"))
      top.fail_at_key("collective", "'collective' stands alone; beside other work write it under 'collectives'");
    if (top.has("workload") && (others || top.has("collective")))
      top.fail_at_key("workload", "'workload' stands alone in its scenario");
    check_order(top);
    for (auto& reader : top.maps("variants")) read_variant(reader);
    if (scenario_.variants.empty()) scenario_.variants.emplace_back();
    for (auto& reader : top.maps("expect")) read_expectation(reader);
    diagnostics_.throw_if_any();
    return std::move(scenario_);
  }

 private:
  void read_transfer(MapReader& reader) {
    TransferSpec transfer;
    transfer.pos = {source_.name(), reader.self().line, reader.self().column};
    transfer.id = reader.text("id").value_or("");
    transfer.from = reader.text("from").value_or("");
    transfer.to = reader.text("to").value_or("");
    transfer.bytes = reader.size("bytes").value_or(Bytes(0));
    if (auto const op = reader.text("op")) transfer.op = parse_op(*op).value;
    if (auto const name = reader.text("mechanism"))
      transfer.mechanism = mechanism_at(reader, *reader.node("mechanism"), *name);
    transfer.by_driver = read_staging(reader, transfer.mechanism == Mechanism::HostStaged);
    if (auto const access = read_access(reader)) {
      transfer.access = *access;
      if (access->each == Bytes(0) || access->window == Bytes(0))
        reader.fail(*reader.node("access"), "'access' needs 'each' and 'window', such as {each: 64 B, window: 4 MiB}");
    }
    transfer.pageable = reader.flag("pageable").value_or(false);
    transfer.queue_pairs = reader.count("queue_pairs").value_or(0);
    transfer.cores = reader.count("cores").value_or(0);
    transfer.nics = read_nics(reader);
    transfer.after = reader.texts("after");
    for (auto const& other : scenario_.transfers)
      if (other.id == transfer.id && reader.has("id"))
        reader.fail(*reader.node("id"), fmt::format("a transfer '{}' is already there", transfer.id));
    if (!transfer.from.empty() && transfer.from == transfer.to && transfer.op == Op::Atomic)
      reader.fail(reader.self(), "an atomic needs two places");
    scenario_.transfers.push_back(std::move(transfer));
  }

  // A job of any kind, and the ids that it waits for.
  struct Dependency {
    std::string_view kind;
    std::string_view key;
    std::string const& id;
    std::vector<std::string> const& after;
  };
  [[nodiscard]] std::vector<Dependency> all_dependencies() const {
    std::vector<Dependency> all;
    for (auto const& item : scenario_.transfers) all.push_back({"transfer", "transfers", item.id, item.after});
    for (auto const& item : scenario_.collectives) all.push_back({"collective", "collectives", item.id, item.after});
    for (auto const& item : scenario_.compute) all.push_back({"compute", "compute", item.id, item.after});
    return all;
  }

  void check_order(MapReader const& top) {
    auto const all = all_dependencies();
    std::vector<std::string> ids;
    for (auto const& item : all) {
      if (item.kind != "transfer" && std::find(ids.begin(), ids.end(), item.id) != ids.end())
        top.fail_at_key(item.key, fmt::format("'{}' is already there", item.id));
      ids.push_back(item.id);
    }
    for (std::size_t i = 0; i < all.size(); ++i)
      for (auto const& name : all[i].after) {
        auto const found = static_cast<std::size_t>(std::find(ids.begin(), ids.end(), name) - ids.begin());
        if (found == all.size())
          top.fail_at_key(all[i].key, fmt::format("{} '{}' comes after '{}', which is not there{}", all[i].kind,
                                                  all[i].id, name, did_you_mean(name, ids)));
        else if (all[found].kind == all[i].kind && found >= i)
          top.fail_at_key(all[i].key, fmt::format("{} '{}' comes after '{}', which must stand before it in the list",
                                                  all[i].kind, all[i].id, name));
      }
    if (diagnostics_.empty() && order_of(scenario_).size() != all.size())
      top.fail_at_key("scenario", "its transfers, collectives and computing wait for one another in a circle");
  }

  void read_variant(MapReader& reader) {
    Variant variant{reader.text("name").value_or(""), read_settings(reader)};
    for (auto const& other : scenario_.variants)
      if (reader.has("name") && other.name == variant.name)
        reader.fail(*reader.node("name"), fmt::format("a variant '{}' is already there", variant.name));
    scenario_.variants.push_back(std::move(variant));
  }

  // ------------------------------------------------------------------------------------------------------ expectations
  std::vector<std::string> words(MapReader& reader, std::string_view key) {
    auto const* node = reader.custom(key);
    std::vector<std::string> found;
    if (node == nullptr) return found;
    if (node->kind == YamlKind::Scalar) found.push_back(node->text);
    for (auto const& item : node->items) found.push_back(item.text);
    if (found.empty()) reader.fail(*node, fmt::format("'{}': expected a word or a list of words", key));
    return found;
  }

  void check_known(MapReader& reader, std::string_view key, std::string const& name,
                   std::vector<std::string> const& known, std::string_view what) {
    if (name.empty() || std::find(known.begin(), known.end(), name) != known.end()) return;
    reader.fail(*reader.node(key), fmt::format("no {} is called '{}'{}", what, name, did_you_mean(name, known)));
  }

  // Whether an expectation has no key but those of where it holds. What is wrong in the other keys they say themselves.
  static bool only_says_where(MapReader const& reader) {
    constexpr std::array<std::string_view, 4> kWhere{"machine", "variant", "transfer", "collective"};
    auto const& entries = reader.self().entries;
    return std::all_of(entries.begin(), entries.end(), [&](auto const& entry) {
      return std::find(kWhere.begin(), kWhere.end(), entry.key) != kWhere.end();
    });
  }

  void read_expectation(MapReader& reader) {
    Expectation e;
    e.pos = {source_.name(), reader.self().line, reader.self().column};
    e.machine = reader.text("machine").value_or("");
    e.variant = reader.text("variant").value_or("");
    e.transfer = reader.text("transfer").value_or("");
    check_known(reader, "machine", e.machine, scenario_.machines, "machine of this scenario");
    check_known(reader, "variant", e.variant, variant_names(), "variant");
    check_known(reader, "transfer", e.transfer, transfer_ids(), "transfer");
    e.collective = reader.text("collective").value_or("");
    check_known(reader, "collective", e.collective, collective_ids(), "collective");
    for (auto const& name : words(reader, "mechanism"))
      if (auto const m = mechanism_at(reader, *reader.node("mechanism"), name)) e.mechanisms.push_back(*m);
    e.avoids = words(reader, "avoids");
    e.through = words(reader, "through");
    read_refusal(reader, e);
    e.possible = reader.flag("possible");
    e.bandwidth = read_threshold(reader, "bandwidth", Dimension::Rate);
    e.latency = read_threshold(reader, "latency", Dimension::Time);
    e.makespan = read_threshold(reader, "makespan", Dimension::Time);
    e.regret = read_threshold(reader, "regret", Dimension::Ratio);
    bool const of_way = !e.mechanisms.empty() || !e.avoids.empty() || !e.through.empty() || e.refuses || e.possible;
    if (only_says_where(reader)) reader.fail(reader.self(), "this expectation expects nothing");
    if (!e.collective.empty()) {
      if (of_way || e.makespan || e.regret || !e.transfer.empty())
        reader.fail(reader.self(), "of a collective latency and bandwidth can be expected");
      scenario_.expectations.push_back(std::move(e));
      return;
    }
    bool const of_transfer = of_way || e.latency;
    if (of_transfer && e.transfer.empty() && scenario_.transfers.size() == 1)
      e.transfer = scenario_.transfers.front().id;
    if (of_transfer && e.transfer.empty())
      reader.fail(
          reader.self(),
          "mechanism, avoids, through, refuses, possible and latency speak of one transfer; add 'transfer: ID'");
    if (scenario_.workload && (of_transfer || e.bandwidth || e.regret))
      reader.fail(reader.self(), "of a workload only 'makespan', the time of its step, can be expected");
    scenario_.expectations.push_back(std::move(e));
  }

  void read_refusal(MapReader& reader, Expectation& e) {
    auto const* node = reader.custom("refuses");
    if (node == nullptr) return;
    if (node->kind != YamlKind::Map || node->entries.size() != 1)
      return reader.fail(*node, "'refuses': expected one pair, such as {pcie_p2p: P2P-SOCKET}");
    auto const m = mechanism_at(reader, *node, node->entries.front().key);
    auto const& rule = node->entries.front().value.text;
    if (find_rule(rule) == nullptr) {
      std::vector<std::string> ids;
      for (auto const& known : all_rules()) ids.emplace_back(known.id);
      reader.fail(*node, fmt::format("no rule is called '{}'{}", rule, did_you_mean(rule, ids)));
    } else if (m) {
      e.refuses = std::pair(*m, rule);
    }
  }

  std::optional<Threshold> read_threshold(MapReader& reader, std::string_view key, Dimension dimension) {
    auto const text = reader.text(key);
    if (!text) return std::nullopt;
    auto const parsed = parse_threshold(*text, dimension);
    if (!parsed.value) {
      reader.fail(*reader.node(key), parsed.problem);
      return std::nullopt;
    }
    check_reference(reader, key, parsed.value->relative_to);
    return parsed.value;
  }

  void check_reference(MapReader& reader, std::string_view key, std::string const& reference) {
    if (reference.empty()) return;
    if (key == "makespan") return check_known(reader, key, reference, variant_names(), "variant");
    auto const slash = reference.find('/');
    auto const first = reference.substr(0, slash);
    auto known = variant_names();
    auto const jobs = key == "regret" ? transfer_ids() : job_ids();  // a collective's decision has no regret of its own
    if (slash != std::string::npos) {
      check_known(reader, key, first, known, "variant");
      return check_known(reader, key, reference.substr(slash + 1), jobs, "transfer or collective");
    }
    known.insert(known.end(), jobs.begin(), jobs.end());
    check_known(reader, key, first, known, "variant, transfer or collective");
  }

  [[nodiscard]] std::vector<std::string> variant_names() const {
    std::vector<std::string> names;
    for (auto const& variant : scenario_.variants) names.push_back(variant.name);
    return names;
  }
  [[nodiscard]] std::vector<std::string> collective_ids() const {
    std::vector<std::string> ids;
    for (auto const& collective : scenario_.collectives) ids.push_back(collective.id);
    return ids;
  }
  // What a figure can be compared with.
  [[nodiscard]] std::vector<std::string> job_ids() const {
    auto ids = transfer_ids();
    for (auto& id : collective_ids()) ids.push_back(std::move(id));
    return ids;
  }
  [[nodiscard]] std::vector<std::string> transfer_ids() const {
    std::vector<std::string> ids;
    for (auto const& transfer : scenario_.transfers) ids.push_back(transfer.id);
    return ids;
  }

  SourceText const& source_;
  Diagnostics diagnostics_;
  Scenario scenario_;
};

}  // namespace

Scenario read_scenario(SourceText const& source) { return ScenarioReader(source).read(); }

}  // namespace lanewise
