#pragma once
// What `check` is given: scenarios, and machine files beside them.
#include <filesystem>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "lanewise/scenario/scenario.hpp"
#include "lanewise/verdict/verdict.hpp"

namespace lanewise::cli {

struct CheckInputs {
  std::vector<std::filesystem::path> files;  // of the scenarios, in their order
  std::vector<Scenario> scenarios;
  std::vector<ScenarioVerdict> unreadable;  // an error for each file that is wrong; the others are checked all the same
};

// Reads files, folders, and bundled scenarios by name. A file is a machine or a cluster if its first key says so; the
// session's catalogue then has it under its name. In folders, files of our other kinds are passed over with a note.
// Throws InputError if there is neither a scenario nor a file that is wrong, or a folder holds no YAML.
CheckInputs read_check_inputs(std::vector<std::string> const& arguments, Session& session, std::string const& mode);

}  // namespace lanewise::cli
