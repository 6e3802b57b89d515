#pragma once
// The table of `nvidia-smi topo -m` as plain values: read and checked, nothing inferred.
#include <optional>
#include <string>
#include <vector>

#include "core/io/file.hpp"
#include "core/machine/path_class.hpp"

namespace lanewise {

// The distances between GPUs and NICs. Between two GPUs with NVLink the tool prints the links instead of the distance.
struct TopoMatrix {
  struct Device {
    std::string label;  // "GPU0", "NIC0", "mlx5_0"
    bool gpu = false;
    std::string device_name;  // of a NIC: "mlx5_0"; empty: not said
    std::string cores;        // "0-31,64-95"; empty: not said
    std::optional<int> numa;
    int line = 0;  // of its row
  };
  struct Cell {
    std::optional<PathClass> path;  // absent: NVLink stands in its place
    int nvlinks = 0;
    int line = 0;
    int column = 0;
  };
  std::vector<Device> devices;
  std::vector<std::vector<Cell>> cells;  // row, column

  [[nodiscard]] Cell const& at(std::size_t a, std::size_t b) const { return cells[a][b]; }
};

// Text before the table and the legend are skipped; "NIC Legend" gives NICs their names. Throws InputError with every
// unknown word, missing or ragged row, and pair that differs in its two directions.
TopoMatrix read_topo_matrix(SourceText const& source);

}  // namespace lanewise
