#include "cli/check_inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <optional>
#include <utility>

#include "core/reference/file_kind.hpp"
#include "lanewise/io/bundled.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::cli {
namespace {

namespace fs = std::filesystem;

class Reader {
 public:
  Reader(Session& session, std::string mode) : session_(session), mode_(std::move(mode)) {}

  void read(std::string const& argument) {
    std::error_code error;
    if (!fs::is_directory(argument, error)) {
      reporting(argument, [&] {
        auto const file = scenario_file(argument);
        sort_in(SourceText::load(file), file, false);
      });
      return;
    }
    for (auto const& file : yaml_files({argument}))
      reporting(file.string(), [&] { sort_in(SourceText::load(file), file, true); });
  }

  CheckInputs finish() {
    for (auto* sources : {&machines_, &clusters_})  // clusters may name the machines
      for (auto const& source : *sources) reporting(source.name(), [&] { session_.catalogue.add(source); });
    return std::move(inputs_);
  }

 private:
  void sort_in(SourceText source, fs::path const& file, bool in_folder) {
    auto const kind = file_kind(source);
    if (kind == FileKind::Machine || kind == FileKind::Cluster) {
      (kind == FileKind::Machine ? machines_ : clusters_).push_back(std::move(source));
    } else if (in_folder && kind && kind != FileKind::Scenario) {
      fmt::print(stderr, "note: {} is a {} file, and passed over\n", file.string(), to_string(*kind));
    } else {
      inputs_.scenarios.push_back(read_scenario(source));
      inputs_.files.push_back(file);
    }
  }

  // What is wrong with one file must not keep the others from being checked.
  void reporting(std::string const& file, std::function<void()> const& read) {
    try {
      read();
    } catch (InputError const& error) {
      inputs_.unreadable.push_back(unreadable_scenario(file, mode_, error));
    }
  }

  Session& session_;
  std::string mode_;
  std::vector<SourceText> machines_, clusters_;
  CheckInputs inputs_;
};

}  // namespace

CheckInputs read_check_inputs(std::vector<std::string> const& arguments, Session& session, std::string const& mode) {
  Reader reader(session, mode);
  for (auto const& argument : arguments) reader.read(argument);
  auto inputs = reader.finish();
  if (inputs.scenarios.empty() && inputs.unreadable.empty())
    throw InputError(fmt::format("{}: no scenario is there (a file that begins with 'lanewise: scenario/1')",
                                 fmt::join(arguments, ", ")));
  return inputs;
}

}  // namespace lanewise::cli
