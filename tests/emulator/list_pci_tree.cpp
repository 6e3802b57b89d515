// Prints what the kernel knows of every PCI function, as JSON: run inside a guest, where a shell would take minutes.
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace {

namespace fs = std::filesystem;

std::string text_of(fs::path const& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// The ACS control register (PCI Express Base Specification 7.7.11.3); -1 where there is none.
int acs_control(fs::path const& function) {
  auto const config = open((function / "config").c_str(), O_RDONLY);
  int found = -1;
  std::uint32_t header = 0;
  for (off_t at = 0x100; at != 0 && pread(config, &header, 4, at) == 4 && header != 0; at = header >> 20) {
    std::uint16_t control = 0;
    if ((header & 0xffff) == 0x0d && pread(config, &control, 2, at + 6) == 2) found = control;
  }
  close(config);
  return found;
}

nlohmann::json function(fs::path const& entry) {
  std::error_code none;
  return {{"path", fs::canonical(entry).string()},
          {"class", text_of(entry / "class")},
          {"numa", text_of(entry / "numa_node")},
          {"max_speed", text_of(entry / "max_link_speed")},
          {"max_width", text_of(entry / "max_link_width")},
          {"speed", text_of(entry / "current_link_speed")},
          {"group", fs::read_symlink(entry / "iommu_group", none).filename().string()},
          {"acs", acs_control(entry)}};
}

}  // namespace

int main() {
  nlohmann::json functions;
  for (auto const& entry : fs::directory_iterator("/sys/bus/pci/devices"))
    functions[entry.path().filename().string()] = function(entry.path());
  std::ifstream roles("/run/lanewise/roles.yaml");
  std::cout << nlohmann::json{{"functions", functions},
                              {"roles", std::string(std::istreambuf_iterator<char>(roles), {})}};
}
