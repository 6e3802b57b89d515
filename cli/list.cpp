#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/command_description.hpp"
#include "cli/session.hpp"
#include "core/io/spelling.hpp"
#include "core/view/catalogue/catalogue_list.hpp"
#include "lanewise/io/bundled.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/workload/language_model.hpp"

namespace lanewise::cli {
namespace {

// What can be listed: its names, which takes no reading of files, and its entries.
struct Kind {
  std::string_view name;
  std::vector<std::string> (*names)(Catalogue const&);
  std::vector<CatalogueEntry> (*entries)(Catalogue&, std::string_view pattern);
};
constexpr std::array<Kind, 5> kKinds{
    {{"machines", [](Catalogue const& all) { return all.machine_names(); }, list_machines},
     {"clusters", [](Catalogue const& all) { return all.cluster_names(); }, list_clusters},
     {"parts", [](Catalogue const& all) { return all.part_names(); }, list_parts},
     {"models", [](Catalogue const&) { return language_model_names(); },
      [](Catalogue&, std::string_view pattern) { return list_models(pattern); }},
     {"scenarios", [](Catalogue const&) { return bundled_scenario_names(); },
      [](Catalogue&, std::string_view pattern) { return list_scenarios(pattern); }}}};

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (auto const& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

Kind const& kind_named(std::string const& name) {
  auto const* const found =
      std::find_if(kKinds.begin(), kKinds.end(), [&](Kind const& kind) { return kind.name == name; });
  if (found != kKinds.end()) return *found;
  auto const names = kind_names();
  throw InputError(fmt::format("'{}' cannot be listed{} allowed: {}", name, did_you_mean_first(name, names),
                               fmt::join(names, ", ")));
}

struct ListOptions {
  std::string kind;
  std::string pattern;
  bool names_only = false;
};

void print_names(std::vector<std::string> const& names, bool as_json) {
  if (as_json) return fmt::print("{}\n", nlohmann::ordered_json(names).dump(2));
  for (auto const& name : names) fmt::print("{}\n", name);
}

void list(Session& session, ListOptions const& options) {
  auto const& kind = kind_named(options.kind);
  if (options.names_only && options.pattern.empty()) return print_names(kind.names(session.catalogue), session.json);
  auto const entries = kind.entries(session.catalogue, options.pattern);
  if (options.names_only) {
    std::vector<std::string> names;
    for (auto const& entry : entries) names.push_back(entry.name);
    return print_names(names, session.json);
  }
  if (session.json) return fmt::print("{}\n", list_json(entries).dump(2));
  if (entries.empty())
    return fmt::print("none has '{}' in its name or title; `lanewise list {}` lists all\n", options.pattern,
                      options.kind);
  fmt::print("{}", list_text(entries));
}

}  // namespace

void add_list(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand(
      "list",
      "List the machines, clusters, parts, models or scenarios that come with lanewise and your own, one line each");
  auto const options = std::make_shared<ListOptions>();
  command->add_option("kind", options->kind, "machines, clusters, parts, models (of language) or scenarios")
      ->required()
      ->check(one_of(kind_names()))
      ->type_name("KIND");
  command
      ->add_option("pattern", options->pattern,
                   "Only those with this in their name or in what they are, whatever the case; * is any text")
      ->type_name("PATTERN");
  command->add_flag("--names", options->names_only, "Print the names alone");
  session.add_json(*command);
  command->callback([&session, options] { list(session, *options); });
}

}  // namespace lanewise::cli
