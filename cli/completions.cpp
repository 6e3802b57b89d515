#include "cli/completions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace lanewise::cli {
namespace {

// What a value can be, in the words of `list`, or files or folders.
std::vector<std::string> sources_of(ArgumentDescription const& argument) {
  std::vector<std::string> sources;
  if (argument.takes("MACHINE")) sources.insert(sources.end(), {"machines", "clusters"});
  if (argument.takes("SCENARIO")) sources.emplace_back("scenarios");
  if (argument.takes("PART")) sources.emplace_back("parts");
  for (auto const* type : {"FILE", "MACHINE", "SCENARIO", "PLAN"})
    if (argument.takes(type)) {
      sources.emplace_back("files");
      break;
    }
  if (argument.takes("DIR") || argument.takes("FOLDER")) sources.emplace_back("folders");
  return sources;
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

std::string one_line(std::string_view text) { return replaced(std::string(text), "\n", "; "); }

std::vector<std::string> option_names(CommandDescription const& command) {
  std::vector<std::string> names;
  for (auto const& option : command.options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> command_names(CommandDescription const& command) {
  std::vector<std::string> names;
  for (auto const& below : command.commands) names.push_back(below.name());
  return names;
}

// ---- bash

// A value as one word of an array: words that it can be, or where to ask for them.
std::string bash_value(ArgumentDescription const& argument) {
  auto const sources = sources_of(argument);
  auto const words = argument.words.empty() ? std::string() : fmt::format("words {}", fmt::join(argument.words, " "));
  return fmt::format("'{}'", words.empty() ? fmt::format("{}", fmt::join(sources, " ")) : words);
}

// The table of a command and of those below it: entries of a `case`.
std::string bash_table(CommandDescription const& command) {
  std::string positionals;
  std::string values;
  for (auto const& positional : command.positionals) positionals += " " + bash_value(positional);
  for (auto const& option : command.options)
    if (!option.type.empty())
      for (auto const& name : option.names) values += fmt::format(" [{}]={}", name, bash_value(option));
  bool const repeats = !command.positionals.empty() && command.positionals.back().repeated;
  auto table = fmt::format(R"(    '{}')
      commands='{}'
      options='{}'
      positionals=({})
      repeats={}
      values=({})
      ;;
)",
                           fmt::join(command.path, " "), fmt::join(command_names(command), " "),
                           fmt::join(option_names(command), " "), positionals, repeats ? 1 : 0, values);
  for (auto const& below : command.commands) table += bash_table(below);
  return table;
}

constexpr char kBash[] = R"sh(# bash completion for lanewise, made by `lanewise export completions bash`.

# Sets what a command takes: commands below it, options, and the values of options and of positional arguments.
__lanewise_command() {
  commands='' options='' positionals=() repeats=0 values=()
  case $1 in
@TABLE@  esac
}

# Completes a value: `words A B`, or where words come from: machines, clusters, scenarios, parts, files,
# folders.
__lanewise_value() {
  local word names
  if [[ $1 == 'words '* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "${1#words }" -- "$current")
    return
  fi
  for word in $1; do
    case $word in
      files) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current") ;;
      folders) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$current") ;;
      *)
        names=$("$program" list --names "$word" 2>/dev/null)
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$names" -- "$current")
        ;;
    esac
  done
  [[ $1 != *files* && $1 != *folders* ]] || compopt -o filenames 2>/dev/null
}

_lanewise() {
  local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} command=lanewise option='' word
  local commands options repeats given=0 i
  local -a positionals
  local -A values
  COMPREPLY=()
  [[ $current != '=' ]] || current=''
  __lanewise_command "$command"
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word == '=' ]]; then
      continue
    elif [[ -n $option ]]; then
      option=''
    elif [[ $word == -* ]]; then
      [[ ! -v values[$word] ]] || option=$word
    elif [[ " $commands " == *" $word "* ]]; then
      command+=" $word"
      __lanewise_command "$command"
    else
      given=$((given + 1))
    fi
  done
  if [[ -n $option ]]; then
    __lanewise_value "${values[$option]}"
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ -n $commands ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
  elif ((given < ${#positionals[@]})); then
    __lanewise_value "${positionals[given]}"
  elif ((repeats)); then
    __lanewise_value "${positionals[-1]}"
  fi
}
complete -F _lanewise lanewise
)sh";

// ---- zsh

// Text inside '...' and, in _arguments, inside [...] or between colons.
std::string zsh_text(std::string_view text) {
  auto out = replaced(one_line(text), "\\", "\\\\");
  for (auto const* special : {"[", "]", ":"}) out = replaced(out, special, std::string("\\") + special);
  return replaced(out, "'", "'\\''");
}

std::string zsh_function(CommandDescription const& command) {
  return fmt::format("_{}", replaced(fmt::format("{}", fmt::join(command.path, "_")), "-", "_"));
}

// ":TYPE:ACTION"
std::string zsh_value(ArgumentDescription const& argument) {
  auto const sources = sources_of(argument);
  std::string action = " ";
  if (!argument.words.empty())
    action = fmt::format("({})", fmt::join(argument.words, " "));
  else if (!sources.empty())
    action = fmt::format("{{_lanewise_names {}}}", fmt::join(sources, " "));
  return fmt::format(":{}:{}", zsh_text(argument.type), action);
}

std::string zsh_option(ArgumentDescription const& option) {
  auto const about = fmt::format("[{}]{}", zsh_text(option.text), option.type.empty() ? "" : zsh_value(option));
  std::string line;
  for (auto const& name : option.names) line += fmt::format(" '{}{}{}'", option.repeated ? "*" : "", name, about);
  return line;
}

// The functions of a command and of those below it.
std::string zsh_functions(CommandDescription const& command) {
  std::string specs;
  std::string functions;
  std::string branches;
  std::string described;
  for (auto const& option : command.options) specs += " \\\n   " + zsh_option(option);
  for (std::size_t i = 0; i < command.positionals.size(); ++i) {
    auto const& positional = command.positionals[i];
    auto const place = positional.repeated ? std::string("*") : fmt::format("{}", i + 1);
    specs += fmt::format(" \\\n    '{}{}'", place, zsh_value(positional));
  }
  if (command.commands.empty()) return fmt::format("{}() {{\n  _arguments -s{}\n}}\n\n", zsh_function(command), specs);
  for (auto const& below : command.commands) {
    functions += zsh_functions(below);
    branches += fmt::format("        {}) {} ;;\n", below.name(), zsh_function(below));
    described += fmt::format("        '{}:{}'\n", below.name(), zsh_text(below.summary()));
  }
  return functions + fmt::format(R"({}() {{
  local state line
  local -a commands
  local -A opt_args
  _arguments -s -C{} \
    '1:command:->command' '*::argument:->argument'
  case $state in
    command)
      commands=(
{}      )
      _describe command commands
      ;;
    argument)
      case $line[1] in
{}      esac
      ;;
  esac
}}

)",
                                 zsh_function(command), specs, described, branches);
}

constexpr char kZsh[] = R"sh(#compdef lanewise
# zsh completion for lanewise, made by `lanewise export completions zsh`.

# Names of machines, clusters, scenarios or parts as the program lists them; files; folders.
_lanewise_names() {
  local source
  local -a names
  for source in "$@"; do
    case $source in
      files) _files ;;
      folders) _files -/ ;;
      *)
        names=(${(f)"$(lanewise list --names $source 2>/dev/null)"})
        compadd -a names
        ;;
    esac
  done
}

@TABLE@_lanewise "$@"
)sh";

// ---- fish

std::string fish_quoted(std::string_view text) {
  return "'" + replaced(replaced(one_line(text), "\\", "\\\\"), "'", "\\'") + "'";
}

// The value's candidates, as the rest of a line of `complete`.
std::string fish_value(ArgumentDescription const& argument) {
  if (!argument.words.empty())
    return fmt::format(" -a {}", fish_quoted(fmt::format("{}", fmt::join(argument.words, " "))));
  std::string rest;
  std::string names;
  for (auto const& source : sources_of(argument)) {
    if (source == "files")
      rest += " -F";
    else if (source == "folders")
      names += "(__fish_complete_directories)";
    else
      names += (names.empty() ? "(" : " (") + std::string("lanewise list --names ") + source + " 2>/dev/null)";
  }
  return (names.empty() ? "" : " -a " + fish_quoted(names)) + rest;
}

std::string fish_lines(CommandDescription const& command) {
  auto const path = fmt::format("{}", fmt::join(command.path.begin() + 1, command.path.end(), " "));
  auto const here = path.empty() ? std::string() : " " + path;
  std::string lines;
  for (auto const& below : command.commands)
    lines += fmt::format("complete -c lanewise -n '__lanewise_wants_command{}' -a {} -d {}\n", here, below.name(),
                         fish_quoted(below.summary()));
  for (auto const& option : command.options) {
    std::string names;
    for (auto const& name : option.names)
      names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    lines += fmt::format("complete -c lanewise -n '__lanewise_at{}'{} -d {}{}{}\n", here, names,
                         fish_quoted(option.text), option.type.empty() ? "" : " -r", fish_value(option));
  }
  for (auto const& positional : command.positionals)
    if (auto const value = fish_value(positional); !value.empty())
      lines += fmt::format("complete -c lanewise -n '__lanewise_at{}'{}\n", here, value);
  for (auto const& below : command.commands) lines += fish_lines(below);
  return lines;
}

constexpr char kFish[] = R"sh(# fish completion for lanewise, made by `lanewise export completions fish`.

# Whether these commands, and perhaps more, stand on the command line.
function __lanewise_at
    set -l given (string match -v -- '-*' (commandline -opc))[2..]
    set -l last (count $argv)
    test $last -eq 0; or test "$given[1..$last]" = "$argv"
end

# Whether these commands stand there, and nothing after them.
function __lanewise_wants_command
    set -l given (string match -v -- '-*' (commandline -opc))[2..]
    test "$given" = "$argv"
end

complete -c lanewise -f
@TABLE@)sh";

}  // namespace

std::string bash_completion(CommandDescription const& program) {
  return replaced(kBash, "@TABLE@", bash_table(program));
}
std::string zsh_completion(CommandDescription const& program) {
  return replaced(kZsh, "@TABLE@", zsh_functions(program));
}
std::string fish_completion(CommandDescription const& program) {
  return replaced(kFish, "@TABLE@", fish_lines(program));
}

}  // namespace lanewise::cli
