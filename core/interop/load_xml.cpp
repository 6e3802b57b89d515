#include "core/interop/load_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/interop/xml_diagnostic.hpp"

namespace lanewise {
namespace {

[[noreturn]] void refuse(SourceText const& source, std::size_t offset, std::string message) {
  throw InputError(
      std::vector<Diagnostic>{xml_diagnostic(source, static_cast<std::ptrdiff_t>(offset), std::move(message))});
}

// XML 1.0, production 2.
bool is_character(std::uint32_t code) {
  bool const control = code < 0x20 && code != '\t' && code != '\n' && code != '\r';
  bool const surrogate = code >= 0xD800 && code <= 0xDFFF;
  return !control && !surrogate && code != 0xFFFE && code != 0xFFFF && code <= 0x10FFFF;
}

// pugixml takes any number for a character, and writes bytes that are no UTF-8.
void check_references(SourceText const& source, std::size_t start) {
  std::string_view const text = source.text();
  for (auto at = text.find("&#", start); at != std::string_view::npos; at = text.find("&#", at + 1)) {
    auto digits = text.substr(at + 2);
    bool const hexadecimal = digits.starts_with('x');
    if (hexadecimal) digits.remove_prefix(1);
    std::uint32_t code = 0;
    auto const [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, hexadecimal ? 16 : 10);
    if (error == std::errc::invalid_argument) continue;  // plain text to pugixml
    if (error != std::errc() || !is_character(code))
      refuse(source, at, "not valid XML: this reference names no character");
  }
}

}  // namespace

void load_xml(SourceText const& source, std::size_t start, unsigned options, pugi::xml_document& document) {
  auto const& text = source.text();
  auto const result = document.load_buffer(text.data() + start, text.size() - start, options, pugi::encoding_utf8);
  if (!result)
    refuse(source, start + static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, result.offset)),
           fmt::format("not valid XML: {}", result.description()));
  check_references(source, start);
}

}  // namespace lanewise
