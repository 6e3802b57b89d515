#pragma once
// What a published figure rests on.
#include <cstdint>
#include <string>
#include <string_view>

namespace lanewise {

// A document of the product's maker, a standard or source code; a reading of the device; or another product, custom, or
// an assumption.
enum class SourceKind : std::uint8_t { Datasheet, Measured, Estimated };
std::string_view to_string(SourceKind kind);

struct FigureSource {
  std::string figure;  // the key in the file
  SourceKind kind = SourceKind::Datasheet;
  std::string text;  // where it is said
  friend bool operator==(FigureSource const&, FigureSource const&) = default;
};

}  // namespace lanewise
