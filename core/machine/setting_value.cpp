#include "core/machine/setting_value.hpp"

#include <fmt/format.h>

#include <charconv>

namespace lanewise {

std::string text_of(Setting const& setting) { return setting.key + "=" + setting.value; }

void refuse(Setting const& setting, std::string_view why) {
  throw InputError(fmt::format("--set {}: {}", text_of(setting), why));
}

bool flag_of(Setting const& setting) {
  if (setting.value == "true" || setting.value == "on" || setting.value == "yes") return true;
  if (setting.value == "false" || setting.value == "off" || setting.value == "no") return false;
  refuse(setting, "a flag is true or false");
}

int count_of(Setting const& setting, int most, int least) {
  int count = -1;
  auto const* const end = setting.value.data() + setting.value.size();
  auto const [stopped, error] = std::from_chars(setting.value.data(), end, count);
  if (error != std::errc() || stopped != end || count < least || count > most)
    refuse(setting, fmt::format("write a whole number from {} to {}", least, most));
  return count;
}

}  // namespace lanewise
