// lanewise import: machines and measurements from what other tools print. Its subcommands are the table of formats.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/benchmark_options.hpp"
#include "cli/session.hpp"
#include "core/interop/fabrics/fabric_cluster.hpp"
#include "core/interop/formats/formats.hpp"
#include "core/interop/formats/host_import.hpp"
#include "core/interop/machines/machine_builder.hpp"
#include "core/interop/machines/machine_output.hpp"
#include "core/interop/machines/redaction.hpp"
#include "core/measurement/measurement_writer.hpp"
#include "lanewise/machine/machine_file.hpp"

namespace lanewise::cli {
namespace {

// The options of all importers.
struct ImportOptions {
  std::vector<std::string> files;
  std::string output;
  std::string name;
  TopoOptions parts;
  std::string against;
  BenchmarkArguments benchmark;
  bool redact = false;
};

void put(std::string const& text, std::vector<std::string> const& notes, ImportOptions const& options) {
  if (options.output.empty())
    fmt::print("{}", text);
  else
    write_file(options.output, text);
  print_notes(notes);
}

void write(Machine machine, ImportOptions const& options, Session& session) {
  if (!options.name.empty()) {
    check_name(options.name);
    machine.name = machine.hosts.front().machine = options.name;
  }
  if (options.redact) machine = redacted_machine(std::move(machine), options.name.empty() ? "machine" : options.name);
  auto const yaml = checked_yaml(machine, session.catalogue, fmt::format("'{}'", options.files.front()));
  put(session.json ? machine_tree(machine).dump(2) + "\n" : yaml, machine.notes, options);
}

void import_benchmark(Benchmark tool, SourceText const& source, ImportOptions const& options, Session& session) {
  if (options.benchmark.machine.empty())
    throw InputError(fmt::format("{} is the output of {}: name the machine that it ran on with --machine",
                                 source.name(), to_string(tool)));
  auto const machine = session.catalogue.machine(options.benchmark.machine);
  auto measurement = read_benchmark(tool, source, machine, options.benchmark.parsed());
  if (!options.name.empty()) {
    check_name(options.name);
    measurement.name = options.name;
  }
  if (options.redact)
    for (auto& note : measurement.notes) note = redacted_text(note);
  put(session.json ? to_json(measurement).dump(2) + "\n" : write_measurement(measurement), measurement.notes, options);
}

// A fabric shows adapters and no servers: the machine of its nodes is named beside it.
void import_fabric(SourceText const& source, ImportOptions const& options, Session& session) {
  if (options.benchmark.machine.empty())
    throw InputError(
        fmt::format("{} shows a fabric and not what its hosts are: name the machine of one node with "
                    "--machine",
                    source.name()));
  if (!options.name.empty()) check_name(options.name);
  auto const name = options.name.empty() ? machine_name_from(source.name()) : options.name;
  auto const cluster = cluster_of(read_ibnetdiscover(source), name, options.benchmark.machine, session.catalogue);
  // Its own reader must accept it; a machine's file is looked for beside the cluster's.
  auto const place = options.output.empty() ? name + ".yaml" : options.output;
  (void)session.catalogue.machine_from(SourceText::from_memory(place, cluster.yaml));
  auto text = session.json ? cluster.json : cluster.yaml;
  auto notes = cluster.notes;
  if (options.redact) {
    text = redacted_text(text);
    for (auto& note : notes) note = redacted_text(note);
  }
  put(text, notes, options);
}

// Prints where a file and a machine differ; exit code 1 when they do.
void compare(Format const& format, SourceText const& source, ImportOptions const& options, Session& session) {
  auto const machine = session.catalogue.machine(options.against);
  auto const differences = format.compare(source, machine);
  nlohmann::ordered_json json{{"lanewise", "differences/1"}, {"machine", machine.name}, {"file", source.name()}};
  json["differences"] = nlohmann::ordered_json::array();
  std::string text;
  for (auto const& difference : differences) {
    json["differences"].push_back({{"subject", difference.subject}, {"text", difference.text}});
    text += fmt::format("{}: {}\n", difference.subject, difference.text);
  }
  if (differences.empty()) text = fmt::format("'{}' and '{}' agree\n", source.name(), machine.name);
  put_result(
      session, options.output, [&] { return json; }, [&] { return text; });
  if (!differences.empty()) session.exit_code = ExitCode::ExpectationFailed;
}

void import_as(Format const& format, SourceText source, ImportOptions const& options, Session& session) {
  if (format.benchmark) return import_benchmark(*format.benchmark, source, options, session);
  if (format.kind == FormatKind::Cluster) return import_fabric(source, options, session);
  if (!options.against.empty()) {
    if (format.compare == nullptr)
      throw InputError(fmt::format("{} is {}, which cannot be compared with a machine", source.name(), format.name));
    return compare(format, source, options, session);
  }
  if (format.kind == FormatKind::Comparison)
    throw InputError(fmt::format("{} is {}, which is no machine: compare it with one by --against MACHINE",
                                 source.name(), format.name));
  std::vector<ForeignFile> const files{{std::move(source), &format}};
  write(import_host(files, options.parts, session.catalogue), options, session);
}

void import_auto(ImportOptions const& options, Session& session) {
  std::vector<ForeignFile> files;
  for (auto const& file : options.files) {
    auto source = load_foreign_text(file);
    auto const& format = recognised_format(source);
    fmt::print(stderr, "{}: read as {}\n", source.name(), format.name);
    files.push_back({std::move(source), &format});
  }
  if (files.size() == 1) return import_as(*files.front().format, std::move(files.front().source), options, session);
  for (auto const& file : files)
    if (file.format->benchmark)
      throw InputError(
          fmt::format("{} is a measurement, the output of {}; import it alone", file.source.name(), file.format->name));
  write(import_host(files, options.parts, session.catalogue), options, session);
}

CLI::App* add_importer(CLI::App& import, Session& session, ImportOptions& options, std::string_view name,
                       std::string_view about) {
  auto* command = import.add_subcommand(std::string(name), std::string(about));
  command->add_option("-o,--output", options.output, "Write to this file instead of standard output")
      ->type_name("FILE");
  command->add_option("--name", options.name, "Name of the result; default: from the file's name, or the tool's")
      ->type_name("NAME");
  command->add_flag("--redact", options.redact,
                    "Leave out host names, serial numbers, GUIDs and network addresses; PCI addresses stay");
  session.add_json(*command);
  return command;
}

void add_file(CLI::App& command, ImportOptions& options) {
  command.add_option("file", options.files, "The file to read; - reads standard input")
      ->required()
      ->expected(1)
      ->type_name("FILE");
}

void add_parts(CLI::App& command, ImportOptions& options) {
  command.add_option("--gpu", options.parts.gpu, "Part name of the GPUs, where the file does not say it")
      ->type_name("PART");
  command.add_option("--cpu", options.parts.cpu, "Part name of the CPUs")->type_name("PART");
  command.add_option("--nic", options.parts.nic, "Part name of the NICs")->type_name("PART");
  command.add_option("--switch", options.parts.pcie_switch, "Part name of the PCIe switches")->type_name("PART");
}

void add_against(CLI::App& command, ImportOptions& options) {
  command
      .add_option(
          "--against", options.against,
          "Make no machine: print where the file and this machine differ, what 'nvidia-smi topo -p2p' allows too; "
          "exit 1 when they do")
      ->type_name("MACHINE");
}

void add_benchmark(CLI::App& command, ImportOptions& options, bool required) {
  auto* machine =
      command.add_option("--machine", options.benchmark.machine, "The machine or cluster that the benchmark ran on")
          ->type_name("MACHINE");
  if (required) machine->required();
  options.benchmark.add_to(command);
}

}  // namespace

void add_import(CLI::App& app, Session& session) {
  auto* import = app.add_subcommand("import", "Make a machine file or a measurement from what other tools print");
  import->require_subcommand(1);
  auto const options = std::make_shared<ImportOptions>();

  auto* recognising = add_importer(*import, session, *options, "auto",
                                   "Recognise the format of each file by its content, and merge those of one host");
  recognising->add_option("files", options->files, "The files to read; - reads standard input")
      ->required()
      ->type_name("FILE");
  add_parts(*recognising, *options);
  add_benchmark(*recognising, *options, false);
  recognising->callback([options, &session] { import_auto(*options, session); });

  for (auto const& format : formats()) {
    auto* command = add_importer(*import, session, *options, format.name, format.about);
    add_file(*command, *options);
    if (format.takes_parts) add_parts(*command, *options);
    if (format.compare != nullptr) add_against(*command, *options);
    if (format.benchmark) add_benchmark(*command, *options, true);
    if (format.kind == FormatKind::Cluster)
      command->add_option("--machine", options->benchmark.machine, "The machine of one node of the cluster")
          ->required()
          ->type_name("MACHINE");
    command->callback([options, &format, &session] {
      import_as(format, load_foreign_text(options->files.front()), *options, session);
    });
  }
}

}  // namespace lanewise::cli
