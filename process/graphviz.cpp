#include "process/graphviz.hpp"

#include <fmt/format.h>

#include "lanewise/io/error.hpp"
#include "process/file_content.hpp"
#include "process/process.hpp"

namespace lanewise {
namespace {

// The largest bundled clusters take seconds.
constexpr std::chrono::minutes kTimeLimit{10};

}  // namespace

std::string svg_of(std::string const& graph) {
  if (!find_program("dot"))
    throw MissingError("drawing SVG needs the program 'dot', which is not installed; the package graphviz provides it");
  auto const input = memory_file(graph);
  auto const output = memory_file({});
  constexpr int kInput = 3;
  constexpr int kOutput = 4;
  auto const outcome =
      run_program({"dot", "-Tsvg", "-o", fmt::format("/dev/fd/{}", kOutput), fmt::format("/dev/fd/{}", kInput)},
                  kTimeLimit, {{input.get(), kInput}, {output.get(), kOutput}});
  // dot warns about its own layout; that is shown only when it fails.
  if (outcome.code != 0) throw Error(fmt::format("the program 'dot' could not draw the machine: {}", outcome.output));
  return content_of(fmt::format("/dev/fd/{}", output.get()));
}

}  // namespace lanewise
