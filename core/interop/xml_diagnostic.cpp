#include "core/interop/xml_diagnostic.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace lanewise {

Diagnostic xml_diagnostic(SourceText const& source, std::ptrdiff_t offset, std::string message) {
  auto const end = static_cast<std::ptrdiff_t>(source.text().size());
  auto pos = source.position(static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(offset, 0, end)));
  std::string line(source.line(pos.line));
  return {std::move(pos), std::move(message), std::move(line)};
}

void refuse_xml(SourceText const& source, std::ptrdiff_t offset, std::string message) {
  throw InputError(std::vector<Diagnostic>{xml_diagnostic(source, offset, std::move(message))});
}

}  // namespace lanewise
