#include "core/view/catalogue/catalogue_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/machine/nic_rate.hpp"
#include "core/machine/node_kinds.hpp"
#include "core/text/table.hpp"
#include "core/view/catalogue/part_figures.hpp"
#include "core/view/machine/words.hpp"
#include "lanewise/io/bundled.hpp"
#include "lanewise/scenario/scenario.hpp"
#include "lanewise/workload/language_model.hpp"

namespace lanewise {
namespace {

bool is_wanted(CatalogueEntry const& entry, std::string_view pattern) {
  if (pattern.empty()) return true;
  auto const anywhere = fmt::format("*{}*", pattern);
  auto const has = [&](std::string const& text) { return fnmatch(anywhere.c_str(), text.c_str(), FNM_CASEFOLD) == 0; };
  return has(entry.name) || has(entry.title);
}

// "8 x NVIDIA B200, 2 x Intel Xeon 8558": titles with how many there are, in the order of the first.
class Tally {
 public:
  void add(std::string const& what) {
    auto found = std::find_if(counts_.begin(), counts_.end(), [&](auto const& entry) { return entry.first == what; });
    if (found == counts_.end()) found = counts_.insert(found, {what, 0});
    ++found->second;
  }
  [[nodiscard]] std::vector<std::string> words() const {
    std::vector<std::string> words;
    for (auto const& [what, count] : counts_) words.push_back(fmt::format("{} x {}", count, what));
    return words;
  }

 private:
  std::vector<std::pair<std::string, int>> counts_;
};

// GPUs, sockets and NICs of a machine.
std::string equipment_words(Machine const& machine) {
  Tally gpus;
  Tally sockets;
  Tally nics;
  for (auto const gpu : machine.all(PciKind::Gpu)) gpus.add(part_words(machine, gpu));
  for (std::size_t i = 0; i < machine.sockets.size(); ++i) sockets.add(part_words(machine, SocketId(i)));
  for (auto const nic : machine.all(PciKind::Nic)) {
    auto const rate = nic_rate(machine, nic);
    nics.add(rate ? in_gigabits(*rate) : part_words(machine, nic));
  }
  auto words = gpus.words();
  for (auto const* more : {&sockets, &nics})
    for (auto& text : more->words()) words.push_back(std::move(text));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string cluster_words(Machine const& cluster) {
  std::vector<std::string> words;
  for (auto const& kind : node_kinds(cluster))
    words.push_back(fmt::format("{} x {}", kind.hosts.size(), kind.machine.name));
  words.push_back(fmt::format("{} GPUs", cluster.all(PciKind::Gpu).size()));
  if (cluster.fabric) {
    std::set<std::string> switches;
    for (auto const& one : cluster.fabric->switches)
      if (one.part) switches.insert(title_of(cluster.at(*one.part)));
    for (auto const& network : cluster.fabric->networks) words.push_back(network.kind);
    words.insert(words.end(), switches.begin(), switches.end());
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::optional<int> newest_part(Machine const& machine) {
  std::optional<int> year;
  for (auto const& part : machine.parts)
    if (part.year) year = std::max(year.value_or(0), *part.year);
  return year;
}

// "1.03 T" for 1,026,408,000,000.
std::string count_words(std::int64_t count) {
  auto const billions = static_cast<double>(count) / 1e9;
  return billions >= 1000 ? fmt::format("{:.3g} T", billions / 1000) : fmt::format("{:.3g} B", billions);
}

std::string model_words(LanguageModel const& model) {
  auto text = count_words(model.parameters);
  if (model.active_parameters > 0) text += fmt::format(" ({} active)", count_words(model.active_parameters));
  text += fmt::format(" parameters, {} layers, hidden size {}", model.layers, model.hidden_size);
  if (model.latent_key_value_size > 0)
    text += fmt::format(", {} heads, latent of {}", model.attention_heads, model.latent_key_value_size);
  else
    text += fmt::format(", {} heads ({} of keys and values)", model.attention_heads, model.key_value_heads);
  if (model.experts > 0) text += fmt::format(", {} experts ({} a token)", model.experts, model.experts_per_token);
  return text;
}

std::vector<CatalogueEntry> listed(Catalogue& catalogue, std::vector<std::string> const& names,
                                   std::string (*words)(Machine const&), std::string_view pattern) {
  std::vector<CatalogueEntry> entries;
  for (auto const& name : names) {
    auto const machine = catalogue.machine(name);
    CatalogueEntry entry{name, {}, newest_part(machine), machine.title, words(machine)};
    if (is_wanted(entry, pattern)) entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

std::vector<CatalogueEntry> list_parts(Catalogue& catalogue, std::string_view pattern) {
  std::vector<std::pair<PartKind, CatalogueEntry>> found;
  for (auto const& name : catalogue.part_names()) {
    auto const& part = *catalogue.part(name);
    CatalogueEntry entry{name, std::string(to_string(part.kind)), part.year, title_of(part), key_figures_words(part)};
    if (is_wanted(entry, pattern)) found.emplace_back(part.kind, std::move(entry));
  }
  std::stable_sort(found.begin(), found.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
  std::vector<CatalogueEntry> entries;
  for (auto& [kind, entry] : found) entries.push_back(std::move(entry));
  return entries;
}

std::vector<CatalogueEntry> list_machines(Catalogue& catalogue, std::string_view pattern) {
  return listed(catalogue, catalogue.machine_names(), equipment_words, pattern);
}

std::vector<CatalogueEntry> list_clusters(Catalogue& catalogue, std::string_view pattern) {
  return listed(catalogue, catalogue.cluster_names(), cluster_words, pattern);
}

std::vector<CatalogueEntry> list_scenarios(std::string_view pattern) {
  std::vector<CatalogueEntry> entries;
  for (auto const& name : bundled_scenario_names()) {
    auto const scenario = read_scenario(SourceText::load(scenario_file(name)));
    CatalogueEntry entry{name, {}, {}, scenario.title, fmt::format("{}", fmt::join(scenario.machines, ", "))};
    if (is_wanted(entry, pattern)) entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<CatalogueEntry> list_models(std::string_view pattern) {
  std::vector<CatalogueEntry> entries;
  for (auto const& name : language_model_names()) {
    auto const model = find_language_model(name);
    CatalogueEntry entry{name, {}, model.year, model.title, model_words(model)};
    if (is_wanted(entry, pattern)) entries.push_back(std::move(entry));
  }
  return entries;
}

std::string list_text(std::vector<CatalogueEntry> const& entries) {
  bool const of_kinds =
      std::any_of(entries.begin(), entries.end(), [](auto const& entry) { return !entry.kind.empty(); });
  Table table(of_kinds ? std::vector<std::string>{"name", "kind", "year", "what it is", "key figures"}
                       : std::vector<std::string>{"name", "year", "what it is", "key figures"});
  table.align_left(of_kinds ? 4 : 3);
  for (auto const& entry : entries) {
    std::vector<std::string> row{entry.name};
    if (of_kinds) row.push_back(entry.kind);
    row.insert(row.end(), {entry.year ? std::to_string(*entry.year) : "", entry.title, entry.figures});
    table.add(std::move(row));
  }
  return table.text();
}

nlohmann::ordered_json list_json(std::vector<CatalogueEntry> const& entries) {
  auto json = nlohmann::ordered_json::array();
  for (auto const& entry : entries) {
    nlohmann::ordered_json one{{"name", entry.name}};
    if (!entry.kind.empty()) one["kind"] = entry.kind;
    if (entry.year) one["year"] = *entry.year;
    one["title"] = entry.title;
    one["key_figures"] = entry.figures;
    json.push_back(std::move(one));
  }
  return json;
}

}  // namespace lanewise
