#include "emulator/processor_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace lanewise::emulator {
namespace {

struct Identity {
  std::string vendor;  // "AuthenticAMD"
  std::string family;
  std::string model;  // empty: not known
};

// "GenuineIntel/6/85".
Identity identity_of(std::string const& cpuid) {
  auto const first = cpuid.find('/');
  auto const second = cpuid.find('/', first + 1);
  return {cpuid.substr(0, first), cpuid.substr(first + 1, second - first - 1), cpuid.substr(second + 1)};
}

// A part of one product names no CPUID, for imports know its whole generation by it. Its vendor is known; families are
// the least that Linux's p2pdma tells apart.
std::optional<Identity> identity_by_vendor(CpuFigures const& cpu) {
  if (cpu.vendor == "amd") return Identity{"AuthenticAMD", cpu.p2pdma == P2pdma::Yes ? "23" : "21", ""};
  if (cpu.vendor == "intel") return Identity{"GenuineIntel", "6", ""};
  return std::nullopt;
}

// CPUID has room for 47 characters; QEMU's options end at commas.
std::string name_of(Part const& part) {
  constexpr std::size_t kMaxName = 47;
  auto name = (part.title.empty() ? part.name : part.title).substr(0, kMaxName);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ',' || c < ' ' || c > '~'; }, ' ');
  return name;
}

}  // namespace

ProcessorModel processor_model(Machine const& machine, std::vector<SocketId> const& sockets, bool kvm) {
  ProcessorModel found{kvm ? "host" : "max", {}};
  auto const* part = sockets.empty() ? nullptr : machine.part_of(sockets.front());
  if (part == nullptr) {
    found.note = "CPU: unknown in the machine file; the guest's is QEMU's own";
    return found;
  }
  if (kvm) {
    found.note = fmt::format("CPU: with KVM the guest has this host's, not a {}", part->title);
    return found;
  }
  auto const identity =
      part->cpu.cpuid.empty() ? identity_by_vendor(part->cpu) : std::optional(identity_of(part->cpu.cpuid.front()));
  if (!identity) {
    found.note = fmt::format("CPU: '{}' is no x86 processor; the guest's is QEMU's own", part->name);
    return found;
  }
  found.argument += fmt::format(",vendor={},family={}", identity->vendor, identity->family);
  if (!identity->model.empty()) found.argument += fmt::format(",model={}", identity->model);
  found.argument += ",model-id=" + name_of(*part);
  if (identity->model.empty())
    found.note = fmt::format("CPU: '{}' names no CPUID; the guest's has its vendor, family {} and no model of it",
                             part->name, identity->family);
  return found;
}

}  // namespace lanewise::emulator
