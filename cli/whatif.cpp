#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/executors.hpp"
#include "cli/session.hpp"
#include "core/explain/whatif.hpp"
#include "core/io/error.hpp"

namespace lanewise::cli {
namespace {

struct WhatifOptions {
  std::string bytes = "256 MiB";
  std::string op = "copy";
  std::vector<std::string> places;
};

// All GPUs, the other ends of their transfers, and host memory; of a cluster those of its first two nodes.
std::vector<std::string> usual_places(Machine const& machine) {
  std::vector<std::string> names;
  auto const near = [&](HostId host) { return index(host) < 2; };
  for (auto const kind : {PciKind::Gpu, PciKind::Nic, PciKind::Nvme})
    for (auto const id : machine.all(kind))
      if (near(machine.host_of(id))) names.push_back(machine.at(id).name);
  for (std::size_t i = 0; i < machine.numa_nodes.size(); ++i)
    if (near(machine.host_of(Place(NumaId(i))))) names.push_back(machine.numa_nodes[i].name);
  return names;
}

std::vector<std::string> places_named(Machine const& machine, std::vector<std::string> const& texts) {
  if (texts.empty()) return usual_places(machine);
  std::vector<std::string> names;
  for (auto const& text : texts)
    for (auto& name : expand_range(text)) {
      static_cast<void>(machine.place(name));  // says so when there is no such place
      names.push_back(std::move(name));
    }
  return names;
}

void run(Session& session, WhatifOptions const& options) {
  if (session.settings.empty()) throw InputError("what if? say it with --set, such as --set acs=on");
  Model const before(session.machine_before_settings());
  Model const after(session.machine());
  WhatIfQuestion const question{places_named(before.machine(), options.places), argument(parse_bytes(options.bytes)),
                                Bytes(16), argument(parse_op(options.op))};
  if (question.bytes == Bytes(0)) throw InputError("--bytes: nothing cannot be moved");
  auto const before_executor = simulator(before);
  auto const after_executor = simulator(after);
  auto const found = what_if(before, after, question, before_executor.get(), after_executor.get());
  if (session.json)
    fmt::print("{}\n", whatif_json(found, before.machine().name, session.settings).dump(2));
  else
    fmt::print("{}", whatif_text(found, before.machine().name, session.settings));
}

}  // namespace

void add_whatif(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("whatif", "what a change of settings does to every pair, worst first, and why");
  auto options = std::make_shared<WhatifOptions>();
  session.add_machine(*command);
  command->add_option("--bytes", options->bytes, "size of each transfer; latency is that of 16 B")
      ->capture_default_str();
  command->add_option("--op", options->op, "copy, write, read, load_store, atomic, prefetch or fault")
      ->capture_default_str();
  command->add_option("--places", options->places, "only these: gpu0..gpu3,nic0,cpu0")->delimiter(',');
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
