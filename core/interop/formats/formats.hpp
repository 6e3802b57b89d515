#pragma once
// The table of other people's formats that `lanewise import` reads: one row a format. The subcommands of `import` and
// its `auto` are made of it.
//
// To add a format: write its reader and a function that recognises it, and add a row to formats.cpp.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/interop/benchmarks/benchmark.hpp"
#include "core/interop/host/facts.hpp"
#include "core/interop/likeness.hpp"
#include "core/interop/machines/topo_comparison.hpp"
#include "core/interop/machines/topo_m.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// What a file of the format becomes. Comparison: nothing; it is only compared with a machine.
enum class FormatKind : std::uint8_t { Machine, Measurement, Cluster, Comparison };

struct Format {
  std::string_view name;   // the subcommand: "topo-m"
  std::string_view about;  // a line for people: what it makes, and which command printed the file
  FormatKind kind = FormatKind::Machine;
  // Cheap, also for 16 MiB of anything; absent for benchmarks, which have their own marks.
  Likeness (*recognise)(std::string_view text) = nullptr;
  // Of a machine, at least one of the two. Both throw InputError with every error.
  // What the text says about one host; facts of several files of one host can be merged.
  HostFacts (*read_facts)(SourceText const& source) = nullptr;
  // The machine itself, of a file alone: where that says more than its facts. `parts` names what the text does not say.
  Machine (*read)(SourceText const& source, TopoOptions const& parts, Catalogue& catalogue) = nullptr;
  bool takes_parts = false;  // the reader looks at `parts`
  // Where the text and a machine differ, for `import FORMAT FILE --against MACHINE`; nullptr: it cannot be compared.
  std::vector<TopoDifference> (*compare)(SourceText const& source, Machine const& machine) = nullptr;
  std::optional<Benchmark> benchmark = std::nullopt;  // of a measurement
};

// All formats, in the order in which --help lists them.
std::vector<Format> const& formats();

Likeness likeness(Format const& format, std::string_view text);
// The format that a text is most likely of; of equally likely ones the first. nullptr: none.
Format const* recognise_format(std::string_view text);
// The same. Throws InputError that names the file and lists the known formats when there is none.
Format const& recognised_format(SourceText const& source);

// A file's text as the readers expect it: terminal codes removed. "-" reads standard input. Throws InputError when it
// cannot be read or is no text.
SourceText load_foreign_text(std::string const& file);

}  // namespace lanewise
