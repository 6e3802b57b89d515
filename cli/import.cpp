// lanewise import: machines and measurements from what other tools print.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/benchmark_options.hpp"
#include "cli/session.hpp"
#include "core/interop/machines/machine_output.hpp"
#include "core/interop/machines/nccl/topology.hpp"
#include "core/interop/machines/topo_m.hpp"
#include "core/machine/machine_file.hpp"
#include "core/measurement/measurement_writer.hpp"

namespace lanewise::cli {
namespace {

// The options of all importers.
struct ImportOptions {
  std::string file;
  std::string output;
  std::string name;
  TopoOptions topo;
  BenchmarkArguments benchmark;
};

// The file's text; "-" is standard input.
std::string text_of(std::string const& file) { return read_file(file == "-" ? "/dev/stdin" : file); }
std::string name_of(std::string const& file) { return file == "-" ? "stdin" : file; }

void put(std::string const& text, std::vector<std::string> const& notes, ImportOptions const& options) {
  if (options.output.empty())
    fmt::print("{}", text);
  else
    write_file(options.output, text);
  for (auto const& note : notes) fmt::print(stderr, "note: {}\n", note);
}

void write(Machine machine, ImportOptions const& options, Session& session) {
  if (!options.name.empty()) {
    check_name(options.name);
    machine.name = machine.hosts.front().machine = options.name;
  }
  auto const yaml = checked_yaml(machine, session.catalogue, fmt::format("'{}'", options.file));
  put(session.json ? machine_tree(machine).dump(2) + "\n" : yaml, machine.notes, options);
}

void import_benchmark(Benchmark tool, ImportOptions const& options, Session& session) {
  auto const source = SourceText::from_memory(name_of(options.file), without_terminal_codes(text_of(options.file)));
  auto const machine = session.catalogue.machine(options.benchmark.machine);
  auto measurement = read_benchmark(tool, source, machine, options.benchmark.parsed());
  if (!options.name.empty()) {
    check_name(options.name);
    measurement.name = options.name;
  }
  put(session.json ? to_json(measurement).dump(2) + "\n" : write_measurement(measurement), measurement.notes, options);
}

CLI::App* add_importer(CLI::App& import, Session& session, ImportOptions& options, std::string const& name,
                       std::string const& about) {
  auto* command = import.add_subcommand(name, about);
  command->add_option("file", options.file, "The file to read; - reads standard input")->required()->type_name("FILE");
  command->add_option("-o,--output", options.output, "Write to this file instead of standard output")
      ->type_name("FILE");
  command->add_option("--name", options.name, "Name of the result; default: from the file's name, or the tool's")
      ->type_name("NAME");
  session.add_json(*command);
  return command;
}

}  // namespace

void add_import(CLI::App& app, Session& session) {
  auto* import = app.add_subcommand("import", "Make a machine file or a measurement from what other tools print");
  import->require_subcommand(1);
  auto const options = std::make_shared<ImportOptions>();

  auto* nccl = add_importer(*import, session, *options, "nccl",
                            "A machine from a topology file of NCCL or RCCL (NCCL_TOPO_DUMP_FILE)");
  nccl->callback([options, &session] {
    auto const source = SourceText::from_memory(name_of(options->file), text_of(options->file));
    write(read_nccl_topology(source, session.catalogue), *options, session);
  });

  auto* topo =
      add_importer(*import, session, *options, "topo-m", "A machine from the table that 'nvidia-smi topo -m' prints");
  topo->add_option("--gpu", options->topo.gpu, "Part name of the GPUs; the table does not say it")->type_name("PART");
  topo->add_option("--cpu", options->topo.cpu, "Part name of the CPUs")->type_name("PART");
  topo->add_option("--nic", options->topo.nic, "Part name of the NICs")->type_name("PART");
  topo->callback([options, &session] {
    auto const source = SourceText::from_memory(name_of(options->file), without_terminal_codes(text_of(options->file)));
    write(read_topo_m(source, options->topo, session.catalogue), *options, session);
  });

  for (auto const tool : kBenchmarks) {
    auto* command = add_importer(*import, session, *options, std::string(to_string(tool)), std::string(describe(tool)));
    command->add_option("--machine", options->benchmark.machine, "The machine or cluster that the benchmark ran on")
        ->required()
        ->type_name("MACHINE");
    options->benchmark.add_to(*command);
    command->callback([options, tool, &session] { import_benchmark(tool, *options, session); });
  }
}

}  // namespace lanewise::cli
