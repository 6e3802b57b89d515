#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/session.hpp"
#include "core/view/why.hpp"

namespace lanewise::cli {
namespace {

struct Options {
  std::string from, to;
  std::string bytes = "256 MiB";
  std::string op = "copy";
};

void run(Session& session, Options const& options) {
  Model const model(session.machine());
  auto const& machine = model.machine();
  Request const request{.id = "why",
                        .from = machine.place(options.from),
                        .to = machine.place(options.to),
                        .bytes = argument(parse_bytes(options.bytes)),
                        .op = argument(parse_op(options.op))};
  auto const explanation = explain(model, request);
  if (session.json)
    fmt::print("{}\n", why_json(explanation, machine).dump(2));
  else
    fmt::print("{}", why_text(explanation, machine));
}

}  // namespace

void add_why(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("why", "explain which way a transfer takes, and why not the others");
  auto options = std::make_shared<Options>();
  session.add_machine(*command);
  command
      ->add_option("from", options->from,
                   "where the data is: gpu0, nic0, nvme0, cpu0 or numa0 (host memory), node1/gpu0")
      ->required();
  command->add_option("to", options->to, "where it goes")->required();
  command->add_option("--bytes", options->bytes, "size of the transfer")->capture_default_str();
  command->add_option("--op", options->op, "copy, write, read, load_store, atomic, prefetch or fault")
      ->capture_default_str();
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
