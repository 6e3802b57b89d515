#pragma once
// The command line described as data, for manual pages and completions: read from the parser, which is its only source.
#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise::cli {

// An option, a flag or a positional argument.
struct ArgumentDescription {
  std::vector<std::string> names;  // "-o", "--output"; of a positional argument its one name
  std::string type;                // "FILE", "MACHINE|SCENARIO"; empty for a flag
  std::vector<std::string> words;  // the values that it can have; empty if they are no fixed set
  std::string text;
  std::string fallback;  // its value when it is not given; may be empty
  bool required = false;
  bool repeated = false;  // takes any number of values

  // Whether one of the alternatives of the type, which '|' separates, is this one.
  [[nodiscard]] bool takes(std::string_view alternative) const;
};

struct CommandDescription {
  std::vector<std::string> path;  // "lanewise", "export", "schema"
  std::string text;
  std::vector<ArgumentDescription> positionals, options;
  std::vector<CommandDescription> commands;

  [[nodiscard]] std::string const& name() const { return path.back(); }
  // The first line of the text.
  [[nodiscard]] std::string summary() const { return text.substr(0, text.find('\n')); }
};

// The whole program's, with all commands below it.
CommandDescription describe(CLI::App const& app);

// Says in help and completions which words an option takes. The option's own reader refuses others, with the nearest
// spelling.
CLI::Validator one_of(std::vector<std::string> const& words);

}  // namespace lanewise::cli
