#pragma once
// The reference pages that are made from the program's own tables, as Markdown.
#include <string>

#include "core/reference/file_kind.hpp"

namespace lanewise {

// Every key of a kind of file: type, whether it must be there, meaning.
std::string keys_text(FileKind kind);
// Every rule: what it says, what it does to which mechanisms, where it is from.
std::string rules_text();

}  // namespace lanewise
