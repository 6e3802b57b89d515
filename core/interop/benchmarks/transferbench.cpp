// Reads AMD's TransferBench: its presets p2p and a2a, and lists of transfers. Formats and units are from its source
// (ROCm/TransferBench 788840d): a GPU's kernel (GFX) or its copy engine (DMA) at the source copies, or with
// USE_REMOTE_READ at the destination; the rates of transfers that ran at once are each transfer's own.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/interop/benchmarks/benchmark_builder.hpp"

namespace lanewise {
namespace {

// What copies: the tool calls it the executor.
struct Copier {
  bool engine = false;          // DMA; false: a kernel
  bool at_destination = false;  // it reads from the source
  friend bool operator==(Copier const&, Copier const&) = default;
};

class TransferBenchReader {
 public:
  TransferBenchReader(SourceText const& source, Machine const& machine, BenchmarkBuilder& builder)
      : machine_(machine), builder_(builder), lines_(lines_of(source)) {}

  void read() {
    for (at_ = 0; at_ < lines_.size(); ++at_) {
      auto const& line = lines_[at_];
      if (line.starts_with("TransferBench v")) builder_.environment("TransferBench", line.words[1].text.substr(1));
      if (line.starts_with("Bytes Per Direction")) read_bytes(line);
      if (line.has("directional copy peak bandwidth")) read_pairs(line);
      if (line.has("All-To-All benchmark")) in_all_to_all_ = true;
      if (in_all_to_all_ && line.starts_with("- Copying ") && line.words.size() > 2) bytes_ = size_of(line.words[2]);
      if (in_all_to_all_ && line.starts_with("SRC\\DST"))
        gpus_ = static_cast<std::size_t>(
            std::count_if(line.words.begin(), line.words.end(), [](Word const& word) { return word.text == "GPU"; }));
      if (line.starts_with("Aggregate bandwidth (GPU Timed)")) read_all_to_all(line);
      if (line.starts_with("Test ")) finish_test();
      if (line.starts_with("Transfer ") && line.has("->") && !in_all_to_all_) read_transfer(line);
      if (in_all_to_all_ && line.starts_with("Transfer ") && line.has("->")) note_engine(line);
    }
    finish_test();
  }

 private:
  std::optional<Bytes> size_of(Word const& word) {
    auto const bytes = index_in(word.text);
    return bytes && *bytes > 0 ? std::optional(Bytes(static_cast<std::int64_t>(*bytes))) : std::nullopt;
  }

  // Of each transfer of the presets: what the tool printed, else its default.
  Bytes bytes() { return bytes_ ? *bytes_ : builder_.bytes_or(Bytes(std::int64_t{256} << 20)); }

  void read_bytes(BenchmarkLine const& line) {
    bytes_ = size_of(line.words.back());
    if (!bytes_)
      builder_.fail(line.number, line.words.back().column, "'Bytes Per Direction': expected a number of bytes");
  }

  // "GPU", "03" as a place of the machine: GPUs by number, host memory by its NUMA node's number.
  std::string place(std::string_view kind, std::string_view number, BenchmarkLine const& line, int column) {
    auto const index = index_in(number);
    if (!index) {
      builder_.fail(line.number, column, fmt::format("'{}': expected the number of a CPU or GPU", number));
      return {};
    }
    if (kind == "GPU") return builder_.gpu(*index, line.number, column);
    if (*index < machine_.numa_nodes.size()) return machine_.numa_nodes[*index].name;
    builder_.fail(line.number, column, fmt::format("'{}' has no NUMA node {}", machine_.name, *index));
    return {};
  }
  static bool is_host(std::string_view place) { return place.find("numa") != std::string_view::npos; }

  MeasuredSeries series_of(std::string const& name, Copier const& copier, std::string const& from,
                           std::string const& to) {
    MeasuredSeries like;
    like.op = copier.engine ? Op::Copy : copier.at_destination ? Op::Read : Op::LoadStore;
    like.pulled = copier.engine && copier.at_destination;
    like.mechanism = builder_.direct(from, to);
    like.name = fmt::format("{}-{}{}", name, copier.engine ? "by-engines" : "by-kernels",
                            copier.at_destination ? "-reading" : "");
    if (*like.mechanism == Mechanism::PcieP2p) like.name += "-pcie";
    if (is_host(from) || is_host(to)) like.name = "host-" + like.name;
    return like;
  }

  // The table below a title of the preset p2p: rows "GPU 00  ->" and a figure for each column of the header; both ways
  // the row "<->" has the sum.
  void read_pairs(BenchmarkLine const& title) {
    bool const both_ways = title.starts_with("Bidirectional");
    Copier const copier{title.has("(GPU-Executor: DMA)"), title.has("[Remote read")};
    auto const columns = read_header(title);
    for (++at_; at_ < lines_.size() && !ends_table(lines_[at_]); ++at_) {
      auto const& line = lines_[at_];
      if (line.words.size() < 3 || (line.words[0].text != "GPU" && line.words[0].text != "CPU")) continue;
      if (line.words[2].text != (both_ways ? "<->" : "->")) continue;
      if (line.words.size() != columns.size() + 3) {
        builder_.fail(line.number, line.words[0].column,
                      fmt::format("expected {} figures, found {}", columns.size(), line.words.size() - 3));
        continue;
      }
      if (line.words[0].text == "CPU") continue;  // threads of a CPU copy
      auto const from = place("GPU", line.words[1].text, line, line.words[1].column);
      for (std::size_t k = 0; k < columns.size(); ++k) {
        auto const& cell = line.words[k + 3];
        bool const by_cpu = is_host(columns[k]) && (both_ways || copier.at_destination);
        if (cell.text == "N/A" || from.empty() || columns[k].empty() || columns[k] == from || by_cpu) continue;
        auto const value = number_in(cell.text);
        if (!value) {
          builder_.fail(line.number, cell.column, fmt::format("'{}': expected a number", cell.text));
          continue;
        }
        std::vector<MeasuredFlow> flows{{from, columns[k]}};
        if (both_ways) flows.push_back({columns[k], from});
        builder_.add(series_of(both_ways ? "pairs-both-ways" : "pairs", copier, from, columns[k]), std::move(flows),
                     bytes(), *value * 1e9, line.number, cell.column);
      }
    }
    --at_;
    builder_.note("Copies by threads of a CPU, and within a GPU, are left out.");
  }

  // The line below a title: "SRC+EXE\DST", then "CPU 00 CPU 01 GPU 00 ..." as places.
  std::vector<std::string> read_header(BenchmarkLine const& title) {
    std::vector<std::string> columns;
    for (++at_; at_ < lines_.size() && lines_[at_].empty();) ++at_;
    if (at_ == lines_.size() || !lines_[at_].starts_with("SRC")) {
      builder_.fail(title.number, 1, "a line with the names of the columns must follow, SRC+EXE\\DST and so on");
      return columns;
    }
    auto const& header = lines_[at_];
    for (std::size_t i = 1; i + 1 < header.words.size(); i += 2)
      columns.push_back(place(header.words[i].text, header.words[i + 1].text, header, header.words[i + 1].column));
    return columns;
  }
  static bool ends_table(BenchmarkLine const& line) {
    return line.has("directional copy peak bandwidth") || line.has("Averages (During") || line.starts_with("Test ") ||
           line.has("benchmark:");
  }

  // All pairs at once, by the sum of their own rates.
  void read_all_to_all(BenchmarkLine const& line) {
    if (!in_all_to_all_) return;
    auto const& word = line.words[line.words.size() - 2];
    auto const value = number_in(word.text);
    if (!value || line.words.back().text != "GB/s")
      return builder_.fail(line.number, word.column, "expected the aggregate rate in GB/s");
    if (gpus_ == 0) return builder_.fail(line.number, 1, "the line 'SRC\\DST GPU 00 ...' above it is missing");
    std::vector<MeasuredFlow> flows;
    for (std::size_t i = 0; i < gpus_; ++i)
      for (std::size_t k = 0; k < gpus_; ++k) {
        auto const from = builder_.gpu(i, line.number, 1);
        auto const to = builder_.gpu(k, line.number, 1);
        if (from.empty() || to.empty()) return;
        if (i != k && joined(from, to)) flows.push_back({from, to});
      }
    if (flows.empty()) return;
    auto like = series_of("all-to-all", copier_, flows.front().from, flows.front().to);
    like.program = MeasuredProgram{.timed = TimedBy::Mean};
    builder_.add(like, std::move(flows), bytes(), *value * 1e9, line.number, word.column);
    in_all_to_all_ = false;
  }
  // Whether links of the GPUs' own join them: the preset leaves the others out.
  bool joined(std::string const& from, std::string const& to) { return builder_.direct(from, to) == Mechanism::Nvlink; }

  // Of the lines of single transfers below the preset a2a, only what copies counts.
  void note_engine(BenchmarkLine const& line) {
    if (line.has("-> D")) copier_.engine = true;
  }

  // "Transfer 00 | 47.056 GB/s | 1.426 ms | 67108864 bytes | G0 -> G000:008 -> G1".
  void read_transfer(BenchmarkLine const& line) {
    auto const arrow = std::find_if(line.words.begin(), line.words.end(), [](Word const& w) { return w.text == "->"; });
    auto const unit =
        std::find_if(line.words.begin(), line.words.end(), [](Word const& w) { return w.text == "GB/s"; });
    auto const size =
        std::find_if(line.words.begin(), line.words.end(), [](Word const& w) { return w.text == "bytes"; });
    auto const column = line.words.front().column;
    if (unit - line.words.begin() < 1 || unit == line.words.end() || size == line.words.end() ||
        arrow == line.words.begin() || line.words.end() - arrow < 4 || (arrow + 2)->text != "->")
      return builder_.fail(
          line.number, column,
          "expected 'Transfer N | RATE GB/s | TIME ms | SIZE bytes | SOURCE -> EXECUTOR -> DESTINATION'");
    auto const rate = number_in((unit - 1)->text);
    auto const bytes = size_of(*(size - 1));
    if (!rate || !bytes) return builder_.fail(line.number, column, "expected a rate in GB/s and a size in bytes");
    auto const from = memory(*(arrow - 1), line);
    auto const to = memory(*(arrow + 3), line);
    auto const copier = copier_in((arrow + 1)->text, (arrow - 1)->text, (arrow + 3)->text);
    if (!copier || from.empty() || to.empty() || from == to)
      return builder_.note(
          fmt::format("Transfers by a CPU or a NIC, with several memories or none, and within one "
                      "memory are left out, such as that of line {}.",
                      line.number));
    if (test_.flows.empty()) test_ = {{}, 0, *copier, line.number, (unit - 1)->column};
    test_.is_mixed = test_.is_mixed || *copier != test_.copier;
    test_.flows.push_back({from, to, *bytes});
    test_.total += *rate;
  }

  static bool is_of_gpu(char memory) { return std::string_view("GFUM").find(memory) != std::string_view::npos; }
  static bool is_of_cpu(char memory) { return std::string_view("CBKH").find(memory) != std::string_view::npos; }

  // "G0", "F3" (fine-grained memory of a GPU), "C1": a place; empty for what is none.
  std::string memory(Word const& word, BenchmarkLine const& line) {
    if (word.text.size() < 2) return {};
    bool const all_digits =
        std::all_of(word.text.begin() + 1, word.text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (!all_digits) return {};
    if (is_of_gpu(word.text[0])) return place("GPU", word.text.substr(1), line, word.column);
    if (is_of_cpu(word.text[0])) return place("CPU", word.text.substr(1), line, word.column);
    return {};
  }

  // "G000:008": the kernel of GPU 0 with 8 compute units; "D0.1:001": a copy engine. Absent: something else.
  static std::optional<Copier> copier_in(std::string_view text, std::string_view from, std::string_view to) {
    if (text.size() < 2 || (text[0] != 'G' && text[0] != 'D')) return std::nullopt;
    auto const index = number_at_start<int>(text.substr(1));
    if (!index || from.size() < 2 || to.size() < 2) return std::nullopt;
    auto const is_its = [&](std::string_view memory) {
      return is_of_gpu(memory[0]) && number_at_start<int>(memory.substr(1)) == index;
    };
    bool const at_source = is_its(from);
    bool const at_destination = is_its(to);
    if (!at_source && !at_destination) return std::nullopt;
    return Copier{text[0] == 'D', !at_source};
  }

  // The transfers of one test ran at once: one figure, the sum of their rates.
  void finish_test() {
    if (test_.flows.empty()) return;
    auto test = std::exchange(test_, {});
    auto& flows = test.flows;
    if (test.is_mixed)
      return builder_.note(fmt::format("The test of line {} mixes kernels and engines; it is left out.", test.line));
    auto like = series_of(flows.size() > 1 ? "together" : "single", test.copier, flows[0].from, flows[0].to);
    for (auto const& flow : flows)
      if (builder_.direct(flow.from, flow.to) != *like.mechanism) like.mechanism.reset();
    if (flows.size() > 1) like.program = MeasuredProgram{.timed = TimedBy::Mean};
    auto const bytes = flows[0].bytes;
    bool const same = std::all_of(flows.begin(), flows.end(), [&](auto const& flow) { return flow.bytes == bytes; });
    if (same)
      for (auto& flow : flows) flow.bytes = Bytes(0);
    builder_.add(like, std::move(flows), same ? bytes : Bytes(0), test.total * 1e9, test.line, test.column);
  }

  // What the lines of one test say.
  struct Test {
    std::vector<MeasuredFlow> flows;
    double total = 0;  // of their rates, GB/s
    Copier copier;     // of the first
    int line = 0;
    int column = 0;
    bool is_mixed = false;  // others copy otherwise
  };

  Machine const& machine_;
  BenchmarkBuilder& builder_;
  std::vector<BenchmarkLine> lines_;
  std::size_t at_ = 0;
  std::optional<Bytes> bytes_;
  bool in_all_to_all_ = false;
  std::size_t gpus_ = 0;  // of its table
  Copier copier_;
  Test test_;
};

}  // namespace

Measurement read_transferbench(SourceText const& source, Machine const& machine, BenchmarkOptions const& options) {
  BenchmarkBuilder builder(source, machine, options, Benchmark::TransferBench);
  builder.method("TransferBench: copies by kernels of a GPU or by its copy engines, timed by the GPUs");
  TransferBenchReader(source, machine, builder).read();
  return builder.finish();
}

}  // namespace lanewise
