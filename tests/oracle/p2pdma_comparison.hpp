#pragma once
// Holds our rules of peer access to what Linux decides for the same pairs.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/machine/machine.hpp"
#include "tests/oracle/linux_stand_ins.h"

namespace lanewise::oracle {

// Where our answer is meant to be another than the kernel's, for a reason that holds for the pair.
enum class Difference : std::uint8_t { NotPci, OneChip, SameAddress, OtherRules, Blocked };
inline constexpr std::size_t kDifferences = 5;
std::string_view reason_of(Difference difference);

class P2pdmaComparison {
 public:
  explicit P2pdmaComparison(linux_map_type_function decide) : decide_(decide) {}

  // Compares every ordered pair of endpoints of a machine of one host. `machine_name` is for messages.
  void compare(Machine const& machine, std::string const& machine_name);

  [[nodiscard]] std::int64_t pairs() const { return pairs_; }
  [[nodiscard]] std::int64_t count(Difference difference) const {
    return counts_.at(static_cast<std::size_t>(difference));
  }
  [[nodiscard]] std::int64_t contradictions() const { return contradictions_; }
  [[nodiscard]] std::vector<std::string> const& first_contradictions() const { return messages_; }

 private:
  struct Pair {
    Machine const& machine;
    std::string const& machine_name;
    PciId provider, client;
    pci_p2pdma_map_type kernel;
  };
  void compare_mapping(Pair const& pair);
  void compare_legality(Pair const& pair);
  void compare_route(Pair const& pair);
  void note(Difference difference) { ++counts_.at(static_cast<std::size_t>(difference)); }
  void contradict(Pair const& pair, std::string_view ours);

  linux_map_type_function decide_;
  std::int64_t pairs_ = 0, contradictions_ = 0;
  std::array<std::int64_t, kDifferences> counts_{};
  std::vector<std::string> messages_;
};

}  // namespace lanewise::oracle
