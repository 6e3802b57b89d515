#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/completions.hpp"
#include "cli/manual.hpp"
#include "cli/session.hpp"
#include "core/interop/exports/chrome_trace.hpp"
#include "core/interop/exports/hwloc.hpp"
#include "core/interop/exports/infragraph.hpp"
#include "core/interop/exports/library_tables.hpp"
#include "core/interop/exports/nccl_files.hpp"
#include "core/interop/exports/nvml_mock/mock_system.hpp"
#include "core/interop/exports/simgrid.hpp"
#include "core/io/spelling.hpp"
#include "core/reference/json_schema.hpp"
#include "core/reference/reference_text.hpp"
#include "core/view/catalogue/catalogue_page.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::cli {
namespace {

CLI::App* add_of_kind(CLI::App& command, std::string const& name, std::string const& what, void (*print)(FileKind)) {
  auto* exported = command.add_subcommand(name, what);
  auto const kind = std::make_shared<std::string>();
  std::vector<std::string> words;
  for (auto const one : kFileKinds) words.emplace_back(to_string(one));
  exported->add_option("kind", *kind, fmt::format("One of {}", fmt::join(words, ", ")))
      ->required()
      ->check(one_of(words))
      ->type_name("KIND");
  exported->callback([kind, print] { print(argument(parse_file_kind(*kind))); });
  return exported;
}

// To standard output, or into a file where one is named.
void put_text(std::string const& text, std::string const& file) {
  if (file.empty())
    fmt::print("{}", text);
  else
    write_file(file, text);
}

struct Timeline {
  std::vector<std::string> traces;
  std::string output;
};

void export_trace(Timeline const& timeline) {
  std::vector<Trace> traces;
  for (auto const& file : timeline.traces) traces.push_back(read_trace(SourceText::load(file)));
  put_text(chrome_trace(traces).dump() + "\n", timeline.output);
}

// A machine in another tool's format, as one text.
void add_of_machine(CLI::App& command, Session& session, std::string const& name, std::string const& what,
                    std::string (*write)(Machine const&)) {
  auto* exported = command.add_subcommand(name, what);
  session.add_machine(*exported);
  auto const output = std::make_shared<std::string>();
  exported->add_option("-o,--output", *output, "Write to this file instead of standard output")->type_name("FILE");
  exported->callback([&session, output, write] { put_text(write(session.machine()), *output); });
}

void add_nvml_mock(CLI::App& command, Session& session) {
  auto* exported = command.add_subcommand(
      "nvml-mock", "Write a machine as a configuration of NVIDIA's mock of NVML, with a mock of /sys and /proc");
  session.add_machine(*exported);
  auto const output = std::make_shared<std::string>();
  exported->add_option("-o,--output", *output, "The folder to write: it must be new or empty")
      ->required()
      ->type_name("DIR");
  exported->callback([&session, output] {
    auto const files = mock_system(session.machine());
    write_mock_files(*output, files);
    if (session.json) fmt::print("{}\n", nlohmann::ordered_json{{"folder", *output}, {"files", files.size()}}.dump(2));
    fmt::print(stderr, "{} files; read it back with: lanewise discover --sysfs {}/sys\n", files.size(), *output);
  });
}

void add_nccl_topology(CLI::App& command, Session& session) {
  auto* exported = command.add_subcommand("nccl-topo", "Write a machine as NCCL sees it, for NCCL_TOPO_FILE");
  session.add_machine(*exported);
  auto const dumped = std::make_shared<bool>(false);
  exported->add_flag(
      "--as-dumped", *dumped,
      "With NVLinks and rates of NICs too, as NCCL_TOPO_DUMP_FILE has them: for simulators; NCCL finds them "
      "itself");
  auto const output = std::make_shared<std::string>();
  exported->add_option("-o,--output", *output, "Write to this file instead of standard output")->type_name("FILE");
  exported->callback([&session, dumped, output] {
    put_text(nccl_topology_xml(session.machine(), *dumped ? NcclDetail::AsDumped : NcclDetail::PciOnly), *output);
  });
}

// A machine's table by what a library would do, as one text.
void add_of_library(CLI::App& command, Session& session, std::string const& name, std::string const& what,
                    std::string (*write)(Model const&, Library const&)) {
  auto* exported = command.add_subcommand(name, what);
  session.add_machine(*exported);
  auto const library = std::make_shared<std::string>("nccl");
  exported->add_option("--library", *library, "nccl, nccl-2.18 to nccl-2.30, rccl, mpi, oneshot")
      ->type_name("LIBRARY")
      ->capture_default_str();
  auto const output = std::make_shared<std::string>();
  exported->add_option("-o,--output", *output, "Write to this file instead of standard output")->type_name("FILE");
  exported->callback([&session, library, output, write] {
    put_text(write(Model(session.machine()), argument(parse_library(*library))), *output);
  });
}

// The manual page of one command to standard output, or all into a folder.
void export_manual(CommandDescription const& program, std::string const& command, std::string const& folder) {
  std::vector<CommandDescription> pages{program};
  pages.insert(pages.end(), program.commands.begin(), program.commands.end());
  if (!folder.empty()) {
    std::filesystem::create_directories(folder);
    for (auto const& page : pages)
      write_file(std::filesystem::path(folder) / (manual_name(page) + ".1"), manual_page(page, LANEWISE_VERSION));
    return;
  }
  std::vector<std::string> names;
  for (auto const& page : pages) {
    names.push_back(page.name());
    if (page.name() == command) return fmt::print("{}", manual_page(page, LANEWISE_VERSION));
  }
  throw InputError(fmt::format("no command is called '{}'{}", command, did_you_mean(command, names)));
}

void add_manual(CLI::App const& app, CLI::App& command) {
  auto* exported = command.add_subcommand("man", "Print the manual page of a command, or write all into a folder");
  auto const name = std::make_shared<std::string>("lanewise");
  auto const folder = std::make_shared<std::string>();
  exported->add_option("name", *name, "The command")->type_name("COMMAND")->capture_default_str();
  exported->add_option("-o,--output", *folder, "Write all pages into this folder")->type_name("DIR");
  exported->callback([&app, name, folder] { export_manual(describe(app), *name, *folder); });
}

void add_completions(CLI::App const& app, CLI::App& command) {
  auto* exported = command.add_subcommand("completions", "Print completions of this command line for a shell");
  auto const shell = std::make_shared<std::string>();
  exported->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("SHELL");
  exported->callback([&app, shell] {
    auto const program = describe(app);
    fmt::print("{}", *shell == "bash"  ? bash_completion(program)
                     : *shell == "zsh" ? zsh_completion(program)
                                       : fish_completion(program));
  });
}

}  // namespace

void add_export(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand(
      "export",
      "Write machines for other tools, timelines, JSON Schema, the reference of keys and rules, manual pages");
  command->require_subcommand(1);
  add_of_kind(*command, "schema", "Print the JSON Schema of a kind of file, for editors",
              [](FileKind kind) { fmt::print("{}\n", json_schema(kind).dump(2)); });
  command->add_subcommand("catalogue", "Print every part with its key figures and what they rest on, as Markdown")
      ->callback([&session] { fmt::print("{}", catalogue_page(session.catalogue)); });
  add_of_kind(*command, "keys", "Print every key of a kind of file, as Markdown",
              [](FileKind kind) { fmt::print("{}", keys_text(kind)); });
  auto* trace = command->add_subcommand("trace", "Write traces as a timeline for Perfetto or Chrome, one process each");
  auto timeline = std::make_shared<Timeline>();
  trace->add_option("traces", timeline->traces, "Traces made by `lanewise run -o`: predicted, measured")
      ->required()
      ->type_name("FILE");
  trace->add_option("-o,--output", timeline->output, "Write to this file instead of standard output")
      ->type_name("FILE");
  trace->callback([timeline] { export_trace(*timeline); });
  add_of_machine(*command, session, "hwloc", "Write a machine as hwloc's XML (version 2)", hwloc_xml);
  add_of_machine(*command, session, "infragraph",
                 "Write a machine or cluster as an Infrastructure of InfraGraph (API 2)", infragraph_yaml);
  add_of_machine(*command, session, "simgrid", "Write a machine as a SimGrid platform: hosts, links, and routes",
                 [](Machine const& machine) { return simgrid_platform(Model(machine)); });
  add_of_library(*command, session, "nccl-tuner",
                 "Write the fastest algorithm and protocol by size, for NCCL's example tuner plugin", nccl_tuner_table);
  add_of_library(
      *command, session, "thresholds",
      "Write what nccl-tests and nvbandwidth should reach on a machine, with the slow end of its range",
      [](Model const& model, Library const& library) { return thresholds_json(model, library).dump(2) + "\n"; });
  add_of_library(
      *command, session, "perf-table",
      "Write times of collectives by op, number of GPUs and size, as CSV with the columns of aiconfigurator's "
      "nccl_perf.txt",
      collective_times_csv);
  add_nccl_topology(*command, session);
  add_of_machine(*command, session, "nccl-graph", "Write rings over all GPUs of a machine, for NCCL_GRAPH_FILE",
                 [](Machine const& machine) { return nccl_graph_xml(Model(machine)); });
  add_nvml_mock(*command, session);
  command->add_subcommand("rules", "Print every rule, as Markdown")->callback([] { fmt::print("{}", rules_text()); });
  add_manual(app, *command);
  add_completions(app, *command);
}

}  // namespace lanewise::cli
