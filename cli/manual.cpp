#include "cli/manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace lanewise::cli {
namespace {

// Text as man(7) prints it unchanged: no line begins with a request, and '-' is the one that can be copied.
std::string escaped(std::string_view text) {
  std::string out;
  for (char const c : text) {
    bool const at_begin = out.empty() || out.back() == '\n';
    if (at_begin && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + escaped(text) + "\\fR"; }

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// Lines of a description as paragraphs: the first is the sentence about the whole.
std::string paragraphs(std::string_view text) {
  std::string out;
  for (char const c : text) out += c == '\n' ? std::string("\n.br\n") : std::string(1, c);
  std::string lines;
  for (std::size_t begin = 0; begin <= out.size();) {
    auto const end = std::min(out.find('\n', begin), out.size());
    auto const line = std::string_view(out).substr(begin, end - begin);
    lines += (line == ".br" ? ".br" : escaped(line)) + "\n";
    begin = end + 1;
  }
  return lines;
}

// An argument as it is called in the text of other arguments: by its type where the parser does not make that up.
std::string called(ArgumentDescription const& positional) {
  return positional.type.empty() || positional.type == "TEXT" ? upper(positional.names.front()) : positional.type;
}

std::string synopsis(CommandDescription const& command) {
  auto line = fmt::format("{}", bold(fmt::format("{}", fmt::join(command.path, " "))));
  if (!command.commands.empty()) return line + " " + italic("COMMAND") + " [" + italic("ARGUMENT") + "]...\n";
  for (auto const& positional : command.positionals) {
    auto const word = italic(called(positional)) + (positional.repeated ? "..." : "");
    line += positional.required ? fmt::format(" {}", word) : fmt::format(" [{}]", word);
  }
  return line + " [" + italic("OPTION") + "]...\n";
}

std::string about(ArgumentDescription const& argument) {
  auto const is_sentence = argument.text.ends_with('.') || argument.text.ends_with("...");
  auto text = paragraphs(argument.text + (is_sentence ? "" : "."));
  if (!argument.words.empty()) text += escaped(fmt::format("One of: {}.", fmt::join(argument.words, ", "))) + "\n";
  if (!argument.fallback.empty()) text += escaped(fmt::format("Default: {}.", argument.fallback)) + "\n";
  if (argument.required && argument.names.front().front() == '-') text += "Required.\n";
  return text;
}

std::string arguments(CommandDescription const& command) {
  std::string text;
  for (auto const& positional : command.positionals)
    text += ".TP\n" + italic(called(positional)) + "\n" + about(positional);
  for (auto const& option : command.options) {
    std::string names;
    for (auto const& name : option.names) names += (names.empty() ? "" : ", ") + bold(name);
    text += ".TP\n" + names + (option.type.empty() ? "" : " " + italic(option.type)) + "\n" + about(option);
  }
  return text;
}

constexpr char kExitStatus[] = R"(.SH EXIT STATUS
.TP
0
Fine.
.TP
1
An expectation failed, data arrived wrong, a run is worse than its baseline, a figure was graded as failed, or two
machines differ.
.TP
2
Bad input or usage.
.TP
3
Something needed is not here; the message says what would provide it.
.TP
4
A defect of lanewise itself.
.TP
130
Interrupted.
)";

constexpr char kEnvironment[] = R"(.SH ENVIRONMENT
.TP
LANEWISE_TOPOLOGIES
A folder with machines/, clusters/ and parts/ that is searched before the bundled ones.
)";

std::string see_also(CommandDescription const& command) {
  if (command.path.size() > 1) return ".SH SEE ALSO\n.BR lanewise (1)\n";
  std::string text = ".SH SEE ALSO\n";
  for (auto const& below : command.commands)
    text += fmt::format(".BR {} (1){}\n", escaped(manual_name(below)), &below == &command.commands.back() ? "" : ",");
  return text;
}

// What is below a command, each as a subsection of its page.
std::string below_of(CommandDescription const& command) {
  std::string text = ".SH COMMANDS\n";
  for (auto const& below : command.commands) {
    if (command.path.size() == 1)
      text += ".TP\n" + bold(below.name()) + "\n" + paragraphs(below.text);
    else
      text +=
          ".SS " + escaped(below.name()) + "\n" + paragraphs(below.text) + ".PP\n" + synopsis(below) + arguments(below);
  }
  return text;
}

}  // namespace

std::string manual_name(CommandDescription const& command) { return fmt::format("{}", fmt::join(command.path, "-")); }

std::string manual_page(CommandDescription const& command, std::string const& version) {
  auto const name = manual_name(command);
  auto text = fmt::format(".TH \"{}\" 1 \"\" \"lanewise {}\" \"lanewise\"\n", escaped(upper(name)), escaped(version));
  text += ".SH NAME\n" + escaped(name) + " \\- " + escaped(command.summary()) + "\n";
  text += ".SH SYNOPSIS\n" + synopsis(command);
  text += ".SH DESCRIPTION\n" + paragraphs(command.text);
  if (!command.commands.empty()) text += below_of(command);
  text += ".SH OPTIONS\n" + arguments(command);
  if (command.path.size() == 1) text += kEnvironment;
  return text + kExitStatus + see_also(command);
}

}  // namespace lanewise::cli
