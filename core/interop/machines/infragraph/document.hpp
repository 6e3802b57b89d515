#pragma once
// Reads an Infrastructure of InfraGraph (API 2.x) into plain values.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/io/file.hpp"

namespace lanewise {

constexpr int kMaxInfraCount = 65'536;  // of one component or instance

enum class InfraKind : std::uint8_t { Cpu, Xpu, Nic, Memory, Port, Switch, Custom, Device };

struct InfraComponent {
  std::string name, description;
  std::string custom_type;  // of Custom
  InfraKind kind = InfraKind::Custom;
  int count = 1;
};

struct InfraLink {
  std::string name, description;
  std::optional<double> gigabytes_per_second;
  std::optional<double> gigatransfers_per_second;
};

struct InfraEdge {
  std::string device_a, component_a;  // "cx5[0:2]", "xpu[0:4]"; the device may be empty
  std::string device_b, component_b;
  std::string scheme = "one2one";
  std::string link;
  int line = 0, column = 0;
};

struct InfraDevice {
  std::string name, description;
  std::vector<InfraComponent> components;
  std::map<std::string, InfraLink> links;
  std::vector<InfraEdge> edges;
  [[nodiscard]] InfraComponent const* find(std::string_view component) const;
};

struct Infrastructure {
  std::string name, description;
  std::vector<InfraDevice> devices;
  std::map<std::string, int> instances;  // how many of each device there are
  std::size_t network_edges = 0;
  [[nodiscard]] InfraDevice const* find(std::string_view device) const;
};

// Throws InputError with every error; of the older schema (`connections`, `type` of a component) with its name.
Infrastructure read_infrastructure(SourceText const& source);

}  // namespace lanewise
