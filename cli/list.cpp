#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command_description.hpp"
#include "cli/session.hpp"
#include "core/io/spelling.hpp"
#include "core/view/catalogue/catalogue_list.hpp"
#include "lanewise/io/bundled.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::cli {
namespace {

std::vector<std::string> const& kinds() {
  static std::vector<std::string> const all{"machines", "clusters", "parts", "scenarios"};
  return all;
}

struct ListOptions {
  std::string kind;
  std::string pattern;
  bool names_only = false;
};

// Reads no file but those of the folders.
std::vector<std::string> names_of(Catalogue const& catalogue, std::string const& kind) {
  if (kind == "machines") return catalogue.machine_names();
  if (kind == "clusters") return catalogue.cluster_names();
  if (kind == "parts") return catalogue.part_names();
  return bundled_scenario_names();
}

std::vector<CatalogueEntry> entries_of(Session& session, std::string const& kind, std::string const& pattern) {
  if (kind == "machines") return list_machines(session.catalogue, pattern);
  if (kind == "clusters") return list_clusters(session.catalogue, pattern);
  if (kind == "parts") return list_parts(session.catalogue, pattern);
  return list_scenarios(pattern);
}

void print_names(std::vector<std::string> const& names, bool as_json) {
  if (as_json) return fmt::print("{}\n", nlohmann::ordered_json(names).dump(2));
  for (auto const& name : names) fmt::print("{}\n", name);
}

void list(Session& session, ListOptions const& options) {
  if (std::find(kinds().begin(), kinds().end(), options.kind) == kinds().end())
    throw InputError(fmt::format("'{}' cannot be listed{} allowed: {}", options.kind,
                                 did_you_mean_first(options.kind, kinds()), fmt::join(kinds(), ", ")));
  if (options.names_only && options.pattern.empty())
    return print_names(names_of(session.catalogue, options.kind), session.json);
  auto const entries = entries_of(session, options.kind, options.pattern);
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
      "list", "List the machines, clusters, parts or scenarios that come with lanewise and your own, one line each");
  auto const options = std::make_shared<ListOptions>();
  command->add_option("kind", options->kind, "machines, clusters, parts or scenarios")
      ->required()
      ->check(one_of(kinds()))
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
