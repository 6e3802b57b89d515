// lanewise compare: two traces of one plan, step by step.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/session.hpp"
#include "core/verdict/comparison.hpp"
#include "core/view/comparison_text.hpp"

namespace lanewise::cli {
namespace {

struct CompareOptions {
  std::string predicted;
  std::string measured;
};

void run(Session& session, CompareOptions const& options) {
  auto const comparison =
      compare(read_trace(SourceText::load(options.predicted)), read_trace(SourceText::load(options.measured)));
  put_result(
      session, "", [&] { return comparison_json(comparison); }, [&] { return comparison_text(comparison); });
}

}  // namespace

void add_compare(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("compare", "Compare two traces of one plan, step by step");
  auto options = std::make_shared<CompareOptions>();
  command->add_option("first", options->predicted, "A trace made by `lanewise run -o` (predicted)")
      ->required()
      ->type_name("FILE");
  command->add_option("second", options->measured, "Another trace of the same plan (measured)")
      ->required()
      ->type_name("FILE");
  session.add_json(*command);
  session.add_html(*command);
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
