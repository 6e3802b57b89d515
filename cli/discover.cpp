// lanewise discover: writes a machine file of the machine it runs on.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/session.hpp"
#include "core/interop/machines/machine_output.hpp"
#include "core/interop/machines/topo_matrix.hpp"
#include "core/view/machine/summary.hpp"
#include "hw/hw_library.hpp"

namespace lanewise::cli {
namespace {

struct DiscoverOptions {
  hw::DiscoverOptions discover;
  std::string output;
  std::string sysfs = "/sys";
  std::string roles;
  std::string against;
  bool no_wake = false;
};

std::string finding_text(hw::Finding const& finding) {
  auto const more = finding.subjects.size() - 1;
  auto const whom =
      more == 0 ? finding.subjects.front() : fmt::format("{} and {} more", finding.subjects.front(), more);
  return fmt::format("finding: {}: {}\n", whom, finding.text);
}

void run(DiscoverOptions const& options, Session& session) {
  auto asked = options.discover;
  asked.sysfs = options.sysfs;
  asked.wake = !options.no_wake;
  if (!asked.name.empty()) check_name(asked.name);
  if (!options.roles.empty()) asked.roles = read_roles(SourceText::load(options.roles));
  if (!options.against.empty())
    asked.against =
        read_topo_matrix(SourceText::from_memory(options.against, without_terminal_codes(read_file(options.against))));
  auto const found = hw::hardware().discover(asked, session.catalogue);
  auto const yaml = checked_yaml(found.machine, session.catalogue, "what was discovered");
  auto const text = session.json ? hw::hardware().discovery_json(found).dump(2) + "\n" : yaml;
  if (options.output.empty())
    fmt::print("{}", text);
  else
    write_file(options.output, text);
  fmt::print(stderr, "{}", machine_summary(found.machine));
  for (auto const& note : found.machine.notes) fmt::print(stderr, "note: {}\n", note);
  for (auto const& finding : found.findings) fmt::print(stderr, "{}", finding_text(finding));
  if (asked.against && found.findings.empty()) fmt::print(stderr, "as '{}' says\n", options.against);
}

}  // namespace

void add_discover(CLI::App& app, Session& session) {
  auto* command =
      app.add_subcommand("discover", "Write a machine file of this machine, and report where its sources disagree");
  auto const options = std::make_shared<DiscoverOptions>();
  command->add_option("-o,--output", options->output, "Write the machine to this file instead of standard output")
      ->type_name("FILE");
  command->add_option("--name", options->discover.name, "Name of the machine; default: the host's")->type_name("NAME");
  command
      ->add_option("--sysfs", options->sysfs,
                   "Read this folder, and the folder proc beside it, instead of /sys; asks no driver")
      ->type_name("DIR");
  command
      ->add_option("--roles", options->roles,
                   "Roles file (roles/1) of an emulated machine: which PCI function stands for which device")
      ->type_name("FILE");
  command->add_option("--against", options->against, "Compare with what 'nvidia-smi topo -m' printed on this machine")
      ->type_name("FILE");
  command->add_flag("--no-wake", options->no_wake, "Do not wake idle GPUs before reading their links");
  session.add_json(*command);
  command->callback([options, &session] { run(*options, session); });
}

}  // namespace lanewise::cli
