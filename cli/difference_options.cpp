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

std::vector<ExpectedDifference> differences_unsaid(bool nvml_found, bool cuda_found) {
  std::vector<ExpectedDifference> list;
  for (auto const& kind : difference_kind_names())
    list.push_back(
        {.kind = argument(parse_difference_kind(kind)), .reason = "the system does not say it", .second_silent = true});
  for (auto const* key : {"mpi_messages", "cuda_aware_mpi"})
    list.push_back({.kind = DifferenceKind::Software, .key = key, .reason = "plans choose it, no system says it"});
  list.push_back({.kind = DifferenceKind::SocketLink, .reason = "no source says how sockets are linked"});
  if (!nvml_found) list.push_back({.kind = DifferenceKind::Nvlink, .reason = "NVML, which says it, was not there"});
  if (!cuda_found)
    for (auto const* key : {"dma_buf", "gpudirect_async", "fabric_manager", "geforce_peer"})
      list.push_back({.kind = DifferenceKind::Software, .key = key, .reason = "CUDA, which says it, was not there"});
  return list;
}

}  // namespace lanewise::cli
