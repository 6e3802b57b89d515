// lanewise discover: writes a machine file of the machine it runs on.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <variant>

#include "cli/difference_options.hpp"
#include "cli/session.hpp"
#include "core/interop/formats/formats.hpp"
#include "core/interop/machines/machine_output.hpp"
#include "core/interop/machines/redaction.hpp"
#include "core/interop/machines/topo_matrix.hpp"
#include "core/view/machine/difference_text.hpp"
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
  DifferenceArguments difference;
  bool no_wake = false;
  bool redact = false;
};

// What --against names: a machine, or the table of nvidia-smi.
using Against = std::variant<Machine, TopoMatrix>;

// A file whose content is that of `nvidia-smi topo -m` is a table; anything else is a machine or a machine's name.
Against read_against(std::string const& name, Session& session) {
  std::error_code ignored;
  if (name == "-" || std::filesystem::is_regular_file(name, ignored)) {
    auto const source = load_foreign_text(name);
    auto const* format = recognise_format(source.text());
    if (format != nullptr && format->name == "topo-m") return read_topo_matrix(source);
    if (name == "-") return session.catalogue.machine_from(source);
  }
  return session.catalogue.machine(name);
}

MachineComparison compare_with(Machine const& described, hw::Discovery const& found, DiscoverOptions const& options) {
  auto comparison = compare_machines(described, found.machine);
  comparison.second = "this system";
  auto expected = options.difference.parsed();
  if (found.roles)
    for (auto const& what : found.roles->not_expressed)
      expected.push_back({.kind = argument(parse_difference_kind(what.kind)),
                          .key = what.key,
                          .subject = what.subject,
                          .reason = what.reason});
  auto const unsaid = differences_unsaid(found.facts.nvml.probe.found, found.facts.cuda.probe.found);
  expected.insert(expected.end(), unsaid.begin(), unsaid.end());
  mark_expected(comparison, expected);
  return comparison;
}

std::string finding_text(hw::Finding const& finding) {
  auto const more = finding.subjects.size() - 1;
  auto const whom =
      more == 0 ? finding.subjects.front() : fmt::format("{} and {} more", finding.subjects.front(), more);
  return fmt::format("finding: {}: {}\n", whom, finding.text);
}

// "drive: nvme0: /dev/nvme0n1, 3840.76 GB, mounted at /data". Drives that nothing is known of have no line.
std::string drives_text(hw::Discovery const& found) {
  std::string text;
  for (auto const drive : found.machine.all(PciKind::Nvme))
    for (auto const& device : found.facts.block_devices) {
      auto const& function = found.machine.at(drive);
      if (std::find(device.functions.begin(), device.functions.end(), function.bdf) == device.functions.end()) continue;
      text += fmt::format("drive: {}: /dev/{}", function.name, device.name);
      if (device.functions.size() > 1) text += fmt::format(" of {} drives", device.functions.size());
      if (device.bytes) text += fmt::format(", {:.2f} GB", static_cast<double>(device.bytes->value()) / 1e9);
      if (!device.mounted_at.empty()) text += fmt::format(", mounted at {}", fmt::join(device.mounted_at, " and "));
      text += "\n";
    }
  return text;
}

// The roles file that the emulator left in its guest; empty where there is none.
std::string roles_of_this_guest() {
  auto const* named = std::getenv("LANEWISE_ROLES");
  std::string const file = named != nullptr && *named != '\0' ? named : "/run/lanewise/roles.yaml";
  std::error_code error;
  return std::filesystem::exists(file, error) ? file : std::string();
}

void run(DiscoverOptions const& options, Session& session) {
  auto asked = options.discover;
  asked.sysfs = options.sysfs;
  asked.wake = !options.no_wake;
  if (!asked.name.empty()) check_name(asked.name);
  if (options.roles.empty() && options.sysfs == "/sys") asked.found_roles = roles_of_this_guest();
  if (auto const file = options.roles.empty() ? asked.found_roles : options.roles; !file.empty())
    asked.roles = read_roles(SourceText::load(file));
  std::optional<Against> against;
  if (!options.against.empty()) against = read_against(options.against, session);
  if (against)
    if (auto const* table = std::get_if<TopoMatrix>(&*against)) asked.against = *table;
  auto found = hw::hardware().discover(asked, session.catalogue);
  if (options.redact) {
    for (auto& device : found.facts.block_devices) device.mounted_at.clear();
    found.machine = redacted_machine(std::move(found.machine), asked.name.empty() ? "machine" : asked.name);
  }
  auto const yaml = checked_yaml(found.machine, session.catalogue, "what was discovered");
  auto json = hw::hardware().discovery_json(found);
  if (options.redact) json = redacted_tree(std::move(json));
  std::optional<MachineComparison> comparison;
  if (against && std::holds_alternative<Machine>(*against)) {
    comparison = compare_with(std::get<Machine>(*against), found, options);
    json["comparison"] = difference_json(*comparison);
    if (comparison->result() == ComparisonResult::Different) session.exit_code = ExitCode::ExpectationFailed;
  }
  auto const text = session.json ? json.dump(2) + "\n" : yaml;
  if (options.output.empty())
    fmt::print("{}", text);
  else
    write_file(options.output, text);
  fmt::print(stderr, "{}", machine_summary(found.machine));
  if (!options.redact) fmt::print(stderr, "{}", drives_text(found));
  print_notes(found.machine.notes);
  for (auto const& finding : found.findings) fmt::print(stderr, "{}", finding_text(finding));
  if (asked.against && found.findings.empty()) fmt::print(stderr, "as '{}' says\n", options.against);
  if (comparison) fmt::print(stderr, "against '{}':\n{}", options.against, difference_text(*comparison));
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
      ->add_option(
          "--roles", options->roles,
          "Roles file (roles/1) of an emulated machine: which PCI function stands for which device; in a guest of "
          "'lanewise emulate' found by itself")
      ->type_name("FILE");
  command
      ->add_option("--against", options->against,
                   "Compare with a machine file (exit code 1 when this system differs), or with what 'nvidia-smi topo "
                   "-m' printed here")
      ->type_name("FILE");
  options->difference.add_to(*command);
  command->add_flag("--no-wake", options->no_wake, "Do not wake idle GPUs before reading their links");
  command->add_flag("--redact", options->redact,
                    "Leave out host names, serial numbers, GUIDs and network addresses; PCI addresses stay");
  session.add_json(*command);
  command->callback([options, &session] { run(*options, session); });
}

}  // namespace lanewise::cli
