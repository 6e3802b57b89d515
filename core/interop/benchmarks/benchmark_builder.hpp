#pragma once
// Shared by the readers of benchmarks: a text as lines of words, and a builder of measurements.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/interop/benchmarks/benchmark.hpp"
#include "core/interop/words.hpp"
#include "core/io/yaml.hpp"
#include "lanewise/model/model.hpp"

namespace lanewise {

struct BenchmarkLine {
  int number = 0;
  std::string_view text;  // without blanks at both ends
  std::vector<Word> words;
  [[nodiscard]] bool empty() const { return words.empty(); }
  [[nodiscard]] bool starts_with(std::string_view beginning) const { return text.starts_with(beginning); }
  [[nodiscard]] bool has(std::string_view part) const { return text.find(part) != std::string_view::npos; }
};
std::vector<BenchmarkLine> lines_of(SourceText const& source);
// The finite number that a whole word is; nullopt for anything else.
std::optional<double> number_in(std::string_view word);
// A whole number from 0: an index, a count, a size in bytes.
std::optional<std::size_t> index_in(std::string_view word);
// JSON whose nodes know their line and column: it is read as YAML, of which JSON is a subset.
YamlNode json_with_positions(SourceText const& source);
// The text after a label such as "Driver Version:", without blanks; empty when the line does not begin with it.
std::string_view value_after(BenchmarkLine const& line, std::string_view label);

class BenchmarkBuilder {
 public:
  BenchmarkBuilder(SourceText const& source, Machine const& machine, BenchmarkOptions const& options, Benchmark tool);

  // The name of the tool's GPU in the machine; reports an error and returns "" when there is none.
  std::string gpu(std::size_t index, int line, int column, std::optional<std::size_t> node = std::nullopt);
  // The GPU of an MPI rank, where each rank has one: in the order of nodes, unless --gpus says otherwise.
  std::string gpu_of_rank(std::size_t rank, int line, int column);
  // The host memory that the tool uses for a GPU: --numa, else the nearest.
  std::string host(std::string const& gpu);
  // --from and --to. Throws InputError when one is missing or no place.
  MeasuredFlow ends();
  // The direct mechanism between two places: nvlink where it joins them, else pcie_p2p or host_dma.
  Mechanism direct(std::string const& from, std::string const& to);
  // The size of each transfer: --bytes, else the tool's default, with a note.
  Bytes bytes_or(Bytes tools_default);

  // The series with the name of `like`; adds a copy of `like` when there is none.
  MeasuredSeries& series(MeasuredSeries const& like);
  void add(MeasuredSeries const& like, std::vector<MeasuredFlow> flows, Bytes bytes, double value, int line,
           int column);
  // A figure of a collective; `like` says which.
  void add_collective(MeasuredSeries const& like, Bytes bytes, double value, int line, int column);
  void add_fact(MeasuredFlow const& flow, Mechanism mechanism, bool legal, int line, int column);
  void note(std::string text);  // ignores a text that is there already
  void environment(std::string const& key, std::string_view value);
  void method(std::string text) { result_.method = std::move(text); }
  void fail(int line, int column, std::string message);
  // Throws InputError with the errors reported, or when no figure was found.
  Measurement finish();

 private:
  Mechanism chosen(Place const& from, Place const& to);

  SourceText const& source_;
  Machine const& machine_;
  BenchmarkOptions const& options_;
  Benchmark tool_;
  std::optional<Model> model_;  // made when a pair first asks for it
  std::map<std::pair<Place, Place>, Mechanism> direct_;
  Diagnostics diagnostics_;
  Measurement result_;
};

// Each reads the output of one tool, and throws InputError with every error.
Measurement read_nvbandwidth(SourceText const& source, Machine const& machine, BenchmarkOptions const& options);
Measurement read_p2p_test(SourceText const& source, Machine const& machine, BenchmarkOptions const& options);
Measurement read_bandwidth_test(SourceText const& source, Machine const& machine, BenchmarkOptions const& options);
Measurement read_nccl_tests(SourceText const& source, Machine const& machine, BenchmarkOptions const& options);
Measurement read_perftest(SourceText const& source, Machine const& machine, BenchmarkOptions const& options);
Measurement read_osu(SourceText const& source, Machine const& machine, BenchmarkOptions const& options);
Measurement read_transferbench(SourceText const& source, Machine const& machine, BenchmarkOptions const& options);

}  // namespace lanewise
