#pragma once
// Writes the reference pages that are made from the program's own tables, as Markdown.
#include <string>

#include "core/reference/file_kind.hpp"

namespace lanewise {

// Every key of a kind of file: type, whether it is required, meaning.
std::string keys_text(FileKind kind);
// Every rule: its sentence, its effect, its mechanisms, its source.
std::string rules_text();

}  // namespace lanewise
