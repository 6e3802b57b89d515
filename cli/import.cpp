// lanewise import: machines from other people's files.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/machine_output.hpp"
#include "cli/session.hpp"
#include "core/interop/nccl.hpp"
#include "core/interop/topo_m.hpp"
#include "core/machine/machine_file.hpp"

namespace lanewise::cli {
namespace {

// What every importer's command line says.
struct ImportOptions {
  std::string file;
  std::string output;
  std::string name;
  TopoOptions topo;
};

// The file's text; "-" is standard input.
std::string text_of(std::string const& file) { return read_file(file == "-" ? "/dev/stdin" : file); }
std::string name_of(std::string const& file) { return file == "-" ? "stdin" : file; }

void write(Machine machine, ImportOptions const& options, Session& session) {
  if (!options.name.empty()) {
    check_machine_name(options.name);
    machine.name = machine.hosts.front().machine = options.name;
  }
  auto const yaml = checked_yaml(machine, session.catalogue, fmt::format("'{}'", options.file));
  auto const text = session.json ? machine_tree(machine).dump(2) + "\n" : yaml;
  if (options.output.empty())
    fmt::print("{}", text);
  else
    write_file(options.output, text);
  for (auto const& note : machine.notes) fmt::print(stderr, "note: {}\n", note);
}

CLI::App* add_importer(CLI::App& import, Session& session, ImportOptions& options, std::string const& name,
                       std::string const& about) {
  auto* command = import.add_subcommand(name, about);
  command->add_option("file", options.file, "the file; - reads standard input")->required()->type_name("FILE");
  command->add_option("-o,--output", options.output, "write the machine here instead of to standard output")
      ->type_name("FILE");
  command->add_option("--name", options.name, "the machine's name; default: the file's")->type_name("NAME");
  session.add_json(*command);
  return command;
}

}  // namespace

void add_import(CLI::App& app, Session& session) {
  auto* import = app.add_subcommand("import", "make a machine file of another tool's description");
  import->require_subcommand(1);
  auto const options = std::make_shared<ImportOptions>();

  auto* nccl =
      add_importer(*import, session, *options, "nccl", "a topology file of NCCL or RCCL (NCCL_TOPO_DUMP_FILE)");
  nccl->callback([options, &session] {
    auto const source = SourceText::from_memory(name_of(options->file), text_of(options->file));
    write(read_nccl_topology(source, session.catalogue), *options, session);
  });

  auto* topo = add_importer(*import, session, *options, "topo-m", "the table that 'nvidia-smi topo -m' prints");
  topo->add_option("--gpu", options->topo.gpu, "the part that its GPUs are")->type_name("PART");
  topo->add_option("--cpu", options->topo.cpu, "the part that its CPUs are")->type_name("PART");
  topo->add_option("--nic", options->topo.nic, "the part that its NICs are")->type_name("PART");
  topo->callback([options, &session] {
    auto const source = SourceText::from_memory(name_of(options->file), without_terminal_codes(text_of(options->file)));
    write(read_topo_m(source, options->topo, session.catalogue), *options, session);
  });
}

}  // namespace lanewise::cli
