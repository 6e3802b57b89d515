#pragma once
// Reads the table of `nvidia-smi topo -m` into plain values: checks them and infers nothing.
#include <optional>
#include <string>
#include <vector>

#include "core/io/file.hpp"
#include "core/machine/path_class.hpp"

namespace lanewise {

// Distances between GPUs and NICs. For two GPUs with NVLink the tool prints the number of links instead of the
// distance.
struct TopoMatrix {
  struct Device {
    std::string label;  // "GPU0", "NIC0", "mlx5_0"
    bool gpu = false;
    std::string device_name;  // of a NIC: "mlx5_0"; empty: not given
    std::string cores;        // "0-31,64-95"; empty: not given
    std::optional<int> numa;
    int line = 0;  // of its row
  };
  struct Cell {
    std::optional<PathClass> path;  // absent: the cell has NVLinks
    int nvlinks = 0;
    int line = 0;
    int column = 0;
  };
  std::vector<Device> devices;
  std::vector<std::vector<Cell>> cells;  // row, column

  [[nodiscard]] Cell const& at(std::size_t a, std::size_t b) const { return cells[a][b]; }
};

// Skips text before the table; takes names of NICs from "NIC Legend". Throws InputError with every unknown word, every
// missing or ragged row, and every pair whose two directions differ.
TopoMatrix read_topo_matrix(SourceText const& source);

}  // namespace lanewise
