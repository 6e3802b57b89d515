#pragma once
// Reads what `ibnetdiscover` prints: the switches and adapters of an InfiniBand fabric and the cables between them, in
// the full form and in the list of ports (-p).
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/interop/likeness.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise {

enum class IbKind : std::uint8_t { Switch, Adapter, Router };

struct IbNode {
  IbKind kind = IbKind::Adapter;
  std::string guid;         // without 0x, lower case
  std::string description;  // "a08-p1-dgx-04-c01 mlx5_5"
  int ports = 0;            // 0: the file does not say
};

// One cable, in the direction in which it was read first.
struct IbCable {
  std::size_t a = 0, b = 0;  // into IbFabric::nodes
  int port_a = 0, port_b = 0;
  std::string speed;                   // "4xNDR"; empty: the file does not say
  std::optional<BytesPerSecond> rate;  // of one direction
};

struct IbFabric {
  std::vector<IbNode> nodes;
  std::vector<IbCable> cables;
  std::vector<std::string> notes;  // lines that were left out
};

Likeness recognise_ibnetdiscover(std::string_view text);
// Throws InputError when no line names a switch or an adapter.
IbFabric read_ibnetdiscover(SourceText const& source);

// The rate of "4xNDR" or "4x 25.78125 Gbps": lanes times the rate of one after its encoding. Nullopt: not known.
std::optional<BytesPerSecond> infiniband_rate(std::string_view speed);

}  // namespace lanewise
