#pragma once
// A part's figures as texts, with what they rest on.
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/machine/part.hpp"

namespace lanewise {

struct PartFigure {
  std::string key;
  std::string value;           // as its file says it
  FigureSource const* source;  // nullptr: none is given
  std::string meaning;         // of the key
};
// Every figure that the part gives, in the order of its file. They point into the part.
std::vector<PartFigure> figures_of(Part const& part);

// The one of this key, or nullptr.
PartFigure const* figure_named(std::string_view key, std::vector<PartFigure> const& figures);

// "400 Gb/s": rates of networks are said in bits.
std::string in_gigabits(BytesPerSecond rate);

// The keys that people choose this kind of part by, most telling first: memory and its rate of a GPU, ports and their
// rate of a network switch.
std::vector<std::string> const& key_figures(PartKind kind);
// Those of them that the part gives, in one line: "180 GiB, 7672 GB/s, gen5 x16, NVLink 5 x18, 1000 W".
std::string key_figures_words(Part const& part);

}  // namespace lanewise
