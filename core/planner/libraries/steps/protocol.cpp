#include "core/planner/libraries/steps/protocol.hpp"

#include <array>

namespace lanewise {

std::string_view to_string(Protocol protocol) {
  constexpr std::array<std::string_view, 3> kNames{"LL", "LL128", "Simple"};
  return kNames.at(static_cast<std::size_t>(protocol));
}

double bytes_on_link(Protocol protocol) {
  return protocol == Protocol::LL ? 2 : protocol == Protocol::LL128 ? 128.0 / 120 : 1;
}

}  // namespace lanewise
