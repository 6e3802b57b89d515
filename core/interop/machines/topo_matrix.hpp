#pragma once
// Reads the table of `nvidia-smi topo -m` into plain values: checks them and infers nothing.
#include <optional>
#include <string>
#include <vector>

#include "core/machine/path_class.hpp"
#include "lanewise/io/file.hpp"

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
    std::optional<int> memory_numa;  // of a GPU: the NUMA node of its own memory (GPU NUMA ID)
    int line = 0;                    // of its row; 0: its row is not in the text
  };
  struct Cell {
    bool shown = false;             // false: the text does not have it, in neither direction
    std::optional<PathClass> path;  // absent: the cell has NVLinks, or is not shown
    int nvlinks = 0;
    int line = 0;
    int column = 0;
  };
  std::vector<Device> devices;
  std::vector<std::vector<Cell>> cells;  // row, column
  std::vector<std::string> notes;        // what the author cut, and cells that say nothing known
  int last_line = 0;                     // of the table

  [[nodiscard]] Cell const& at(std::size_t a, std::size_t b) const { return cells[a][b]; }
};

// Whether a text is a cell of this table: X, PIX, ..., NV4.
bool is_topo_cell(std::string_view text);

// Whether the text has such a table.
bool has_topo_matrix(SourceText const& source);

// Skips text before the table; takes names of NICs from "NIC Legend". Of two directions one is enough; what is missing
// in both, and what is odd, stands in the notes. Throws InputError when there is no table, and for columns that stand
// twice or are too many.
TopoMatrix read_topo_matrix(SourceText const& source);

}  // namespace lanewise
