#pragma once
#include <cstddef>
#include <string>

#include "lanewise/io/file.hpp"

namespace lanewise {

// A diagnostic at a place that pugixml gives as an offset: an unknown one (negative) is the beginning of the text, one
// beyond the text its end.
Diagnostic xml_diagnostic(SourceText const& source, std::ptrdiff_t offset, std::string message);

// Throws it alone, as InputError.
[[noreturn]] void refuse_xml(SourceText const& source, std::ptrdiff_t offset, std::string message);

}  // namespace lanewise
