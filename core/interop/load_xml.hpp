#pragma once
#include <cstddef>
#include <pugixml.hpp>

#include "lanewise/io/file.hpp"

namespace lanewise {

// Parses the text from `start` on as XML. Throws InputError, with the place, where it is none, or where a reference
// such as "&#xD800;" names no character.
void load_xml(SourceText const& source, std::size_t start, unsigned options, pugi::xml_document& document);

}  // namespace lanewise
