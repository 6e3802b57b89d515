#pragma once
// What lspci prints, as plain values: checks nothing against anything and infers nothing.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/interop/host/facts.hpp"
#include "lanewise/io/file.hpp"

namespace lanewise {

struct LspciFunction {
  PciFacts facts;
  std::optional<int> secondary;      // the bus below a bridge
  std::vector<std::uint8_t> config;  // of -x, -xxx, -xxxx: from offset 0 on
  bool denied = false;               // its capabilities were hidden from this user
  bool lists_extended = false;       // capabilities from offset 0x100 on are listed
  bool has_acs = false;              // it has the capability, whether or not its control register is printed
  bool is_of_qemu = false;           // its subsystem is QEMU's
  bool in_tree = false;              // the drawing of -t shows it
  bool has_record = false;           // it has a record of its own, outside the drawing
};

struct LspciDocument {
  std::map<std::string, LspciFunction> functions;  // by full address, "0000:3b:00.0"
  std::vector<std::string> notes;
};

// Reads records of functions (plain, -v to -vvv, -n, -nn, -k, -x to -xxxx, -D), drawings (-t), and both after another.
// Other text between them is ignored, and so are marks of quoting ("> ") before every line. Throws InputError when
// there is no function in it, or more than 16,384.
LspciDocument read_lspci_document(SourceText const& source);

// A line of the drawing that `lspci -t` makes, and what is above it.
class LspciDrawing {
 public:
  explicit LspciDrawing(LspciDocument& document) : document_(document) {}
  static bool is_line(std::string_view line);
  void read(std::string_view line);

 private:
  struct Bus {
    std::size_t column = 0;
    std::string above;  // the bridge; empty: a root bus
    std::string name;   // "0000:3b"
  };
  void open_bus(std::string_view inside, std::size_t column, std::string const& bridge);
  LspciFunction* add(std::string_view device, std::size_t column);

  LspciDocument& document_;
  std::vector<Bus> open_;
};

}  // namespace lanewise
