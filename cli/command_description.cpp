#include "cli/command_description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lanewise::cli {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    auto const end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

ArgumentDescription describe_argument(CLI::Option const& option) {
  ArgumentDescription argument;
  if (option.nonpositional()) {
    for (auto const& name : option.get_snames()) argument.names.push_back("-" + name);
    for (auto const& name : option.get_lnames()) argument.names.push_back("--" + name);
  } else {
    argument.names.push_back(option.get_name(true));
  }
  argument.text = option.get_description();
  argument.fallback = option.get_default_str();
  argument.required = option.get_required();
  argument.repeated = option.get_items_expected_max() > 1;
  if (option.get_type_size_max() == 0) return argument;  // a flag
  // What the parser calls the type has what checks say of it behind colons: "VIEW:{tree,topo}", "INT:INT in [1 - 9]".
  auto const type = option.get_type_name();
  argument.type = type.substr(0, type.find(':'));
  if (auto const open = type.find(":{"), close = type.find('}'); open != std::string::npos && close > open)
    argument.words = split(std::string_view(type).substr(open + 2, close - open - 2), ',');
  return argument;
}

CommandDescription describe_below(CLI::App const& app, std::vector<std::string> path) {
  CommandDescription command;
  path.push_back(app.get_name());
  command.path = path;
  command.text = app.get_description();
  for (auto const* option : app.get_options())
    (option->nonpositional() ? command.options : command.positionals).push_back(describe_argument(*option));
  for (auto const* below : app.get_subcommands([](CLI::App const*) { return true; }))
    command.commands.push_back(describe_below(*below, path));
  return command;
}

}  // namespace

bool ArgumentDescription::takes(std::string_view alternative) const {
  auto const alternatives = split(type, '|');
  return std::find(alternatives.begin(), alternatives.end(), alternative) != alternatives.end();
}

CommandDescription describe(CLI::App const& app) { return describe_below(app, {}); }

CLI::Validator one_of(std::vector<std::string> const& words) {
  return {[](std::string&) { return std::string(); }, fmt::format("{{{}}}", fmt::join(words, ","))};
}

}  // namespace lanewise::cli
