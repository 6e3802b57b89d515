#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/session.hpp"
#include "core/view/catalogue/part_text.hpp"
#include "core/view/machine/dot.hpp"
#include "core/view/machine/machine_json.hpp"
#include "core/view/machine/topo.hpp"
#include "core/view/machine/tree.hpp"
#include "lanewise/explain/choice_explanation.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/machine/machine_file.hpp"
#include "process/graphviz.hpp"

namespace lanewise::cli {
namespace {

struct ShowOptions {
  std::string as = "tree";
  std::vector<std::string> route;  // from, to
  std::string output;
};

std::string shown_part(Part const& part, std::string const& as, bool as_json) {
  if (as_json || as == "json") return part_json(part).dump(2) + "\n";
  if (as != "tree")
    throw InputError(fmt::format("'{}' is a part, which has no view '{}'; leave --as out", part.name, as));
  return part_text(part);
}

// The hops of the way that the planner chooses for a large copy. Throws PlanError where none is legal.
std::vector<std::string> route_of(Machine const& machine, std::vector<std::string> const& ends) {
  if (ends.empty()) return {};
  auto const pair = explain_pair(machine, ends[0], ends[1], Bytes(256 << 20), Op::Copy);
  if (!pair.choice.chosen)
    throw PlanError(fmt::format("nothing is legal from {} to {}; `lanewise why` says why", ends[0], ends[1]));
  return pair.choice.candidates[*pair.choice.chosen].route;
}

std::string shown_machine(Machine const& machine, ShowOptions const& options, std::string const& as) {
  bool const is_drawn = as == "dot" || as == "svg";
  if (!options.route.empty() && !is_drawn) throw InputError("--route is for --as svg and --as dot");
  if (as == "topo") return topo_matrix(machine);
  if (is_drawn) {
    auto const text = dot_text(machine, route_of(machine, options.route));
    return as == "svg" ? svg_of(text) : text;
  }
  if (as == "json") return machine_json(machine).dump(2) + "\n";
  if (as == "yaml") return write_machine(machine);
  return tree_text(machine);
}

// Whether the name is that of a part and of no machine; a file is a machine.
bool names_part(Session& session) {
  auto const& catalogue = session.catalogue;
  auto const has = [&](std::vector<std::string> const& names) {
    return std::find(names.begin(), names.end(), session.machine_name) != names.end();
  };
  return has(catalogue.part_names()) && !has(catalogue.machine_names()) && !has(catalogue.cluster_names());
}

std::string shown(Session& session, ShowOptions const& options) {
  auto const& as = options.as;
  if (!names_part(session)) {
    auto const machine = session.machine();
    if (!session.html.empty()) put_page(session, machine_json(machine), nullptr);
    return shown_machine(machine, options, session.json ? "json" : as);
  }
  if (!session.html.empty()) throw InputError("--html draws machines and clusters, and this is a part");
  if (!session.settings.empty() || !session.calibration_file.empty())
    throw InputError(fmt::format("'{}' is a part; --set and --calibration change machines", session.machine_name));
  return shown_part(*session.catalogue.part(session.machine_name), as, session.json);
}

}  // namespace

void add_show(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand(
      "show", "Show a machine as a tree, a matrix, a picture or data; or a part with what its figures rest on");
  session.add_machine(*command);
  session.add_html(*command);
  auto const options = std::make_shared<ShowOptions>();
  command
      ->add_option("--as", options->as,
                   "tree: with links, ACS and NUMA nodes; topo: the matrix of nvidia-smi topo -m; dot: Graphviz; "
                   "svg: a picture (needs graphviz); json; yaml: the machine file")
      ->check(CLI::IsMember({"tree", "topo", "dot", "svg", "json", "yaml"}))
      ->type_name("VIEW")
      ->capture_default_str();
  command->add_option("--route", options->route, "With svg or dot: show the way of a copy from the first to the second")
      ->expected(2)
      ->type_name("PLACE");
  command->add_option("-o,--output", options->output, "Write to this file instead of standard output")
      ->type_name("FILE");
  command->callback([&session, options] {
    auto const text = shown(session, *options);
    if (options->output.empty())
      fmt::print("{}", text);
    else
      write_file(options->output, text);
  });
}

}  // namespace lanewise::cli
