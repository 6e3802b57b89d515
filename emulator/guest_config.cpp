#include "emulator/guest_config.hpp"

#include <nlohmann/json.hpp>

namespace lanewise::emulator {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GuestNic, path, interface, address, rdma)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GuestShare, tag, folder, writable)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GuestHost, name, address)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GuestFile, path, text, mode)

// Written by hand because of the optional member.
void to_json(nlohmann::json& json, GuestFunction const& function) {
  json = {{"path", function.path}, {"name", function.name}};
  if (function.acs) json["acs"] = *function.acs;
}
void from_json(nlohmann::json const& json, GuestFunction& function) {
  json.at("path").get_to(function.path);
  json.at("name").get_to(function.name);
  if (json.contains("acs")) function.acs = json.at("acs").get<std::uint16_t>();
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GuestConfig, host_name, hosts, modules, functions, nics, shares, files, services,
                                   command, environment, working_folder, input, rows, columns)

// Arguments and environment may hold any bytes; invalid UTF-8 is replaced, not refused.
std::string to_text(GuestConfig const& config) {
  return nlohmann::json(config).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

GuestConfig guest_config_from(std::string const& text) { return nlohmann::json::parse(text).get<GuestConfig>(); }

}  // namespace lanewise::emulator
