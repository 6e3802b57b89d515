#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/session.hpp"
#include "core/view/machine/dot.hpp"
#include "core/view/machine/machine_json.hpp"
#include "core/view/machine/topo.hpp"
#include "core/view/machine/tree.hpp"
#include "lanewise/io/bundled.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/machine/machine_file.hpp"
#include "process/graphviz.hpp"

namespace lanewise::cli {
namespace {

struct ShowOptions {
  std::string as = "tree";
  std::string output;
  std::string list;  // kind of names to list instead; empty: show a machine
};

// The names of what comes with lanewise, and of the user's own topologies.
std::vector<std::string> names_of(Catalogue const& catalogue, std::string const& kind) {
  if (kind == "scenarios") return bundled_scenario_names();
  if (kind == "parts") return catalogue.part_names();
  auto names = catalogue.machine_names();
  auto const& clusters = catalogue.cluster_names();
  names.insert(names.end(), clusters.begin(), clusters.end());
  return names;
}

std::string listed(Session const& session, std::string const& kind) {
  auto const names = names_of(session.catalogue, kind);
  return session.json ? nlohmann::ordered_json(names).dump(2) + "\n" : fmt::format("{}\n", fmt::join(names, "\n"));
}

std::string shown(Machine const& machine, std::string const& as) {
  if (as == "topo") return topo_matrix(machine);
  if (as == "dot") return dot_text(machine);
  if (as == "svg") return svg_of(dot_text(machine));
  if (as == "json") return machine_json(machine).dump(2) + "\n";
  if (as == "yaml") return write_machine(machine);
  return tree_text(machine);
}

}  // namespace

void add_show(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("show", "Show a machine as a tree, a matrix, a picture or data");
  session.add_machine(*command, "machine", false);
  auto const options = std::make_shared<ShowOptions>();
  command
      ->add_option("--as", options->as,
                   "tree: with links, ACS and NUMA nodes; topo: the matrix of nvidia-smi topo -m; dot: Graphviz; "
                   "svg: a picture (needs graphviz); json; yaml: the machine file")
      ->check(CLI::IsMember({"tree", "topo", "dot", "svg", "json", "yaml"}))
      ->type_name("VIEW")
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "Write to this file instead of standard output")
      ->type_name("FILE");
  command
      ->add_option("--list", options->list,
                   "List the names of bundled machines and clusters, scenarios or parts instead")
      ->check(CLI::IsMember({"machines", "scenarios", "parts"}))
      ->type_name("KIND");
  command->callback([&session, options] {
    if (session.machine_name.empty() == options->list.empty())
      throw InputError("give a machine to show, or a kind of names to --list");
    auto const text = options->list.empty() ? shown(session.machine(), session.json ? "json" : options->as)
                                            : listed(session, options->list);
    if (options->output.empty())
      fmt::print("{}", text);
    else
      write_file(options->output, text);
  });
}

}  // namespace lanewise::cli
