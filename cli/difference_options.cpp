#include "cli/difference_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/session.hpp"

namespace lanewise::cli {

void DifferenceArguments::add_to(CLI::App& command) {
  command
      .add_option("--expected", expected,
                  "A kind of difference that is no surprise: shown, but does not count; KIND.KEY for one key of it")
      ->type_name("KIND");
}

std::vector<ExpectedDifference> DifferenceArguments::parsed() const {
  std::vector<ExpectedDifference> list;
  for (auto const& text : expected) {
    auto const dot = text.find('.');
    list.push_back({.kind = argument(parse_difference_kind(text.substr(0, dot))),
                    .key = dot == std::string::npos ? std::string() : text.substr(dot + 1),
                    .reason = "--expected " + text});
  }
  return list;
}

}  // namespace lanewise::cli
