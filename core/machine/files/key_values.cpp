#include "core/machine/files/key_values.hpp"

#include <fmt/format.h>

#include <utility>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

std::optional<int> positive_count(MapReader& reader, std::string_view key) {
  auto const given = reader.count(key);
  if (given && *given == 0) reader.fail(*reader.node(key), fmt::format("'{}' must be at least 1", key));
  return given;
}

std::vector<std::string> expanded_names(MapReader& reader, std::string_view key) {
  std::vector<std::string> names;
  for (auto const& text : reader.texts(key)) {
    try {
      for (auto& name : expand_range(text)) names.push_back(std::move(name));
    } catch (InputError const& error) {
      reader.fail(*reader.node(key), error.what());
    }
  }
  return names;
}

}  // namespace lanewise
