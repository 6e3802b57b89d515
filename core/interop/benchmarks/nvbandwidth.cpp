// nvbandwidth, text and JSON. What a test does is told by its name (testcase.h and testcases_*.cpp of
// NVIDIA/nvbandwidth 0.6): "read" tests are driven by the destination, host tests print one direction of several that
// run.
#include <fmt/format.h>

#include <algorithm>

#include "core/interop/benchmarks/benchmark_builder.hpp"

namespace lanewise {
namespace {

constexpr Bytes kDefaultBuffer{std::int64_t{512} << 20};  // of -b since version 0.2
constexpr Bytes kPointer{8};                              // what the latency tests load

struct PrintedCell {
  std::optional<double> value;  // absent: N/A
  int line = 0, column = 0;
};
struct Test {
  std::string name;
  std::vector<std::vector<PrintedCell>> rows;
  int line = 0;
};

enum class Pattern : std::uint8_t {
  HostToDevice,
  DeviceToHost,
  DeviceToDevice,
  AllToHost,
  HostToAll,
  AllToOne,
  OneToAll,
  Local,
  HostLatency,
  DeviceLatency
};
struct TestForm {
  std::string_view name;  // without _ce or _sm
  Pattern pattern;
  bool both_ways = false;
  bool pulled = false;
};
constexpr std::array<TestForm, 19> kForms{
    {{"host_to_device_memcpy", Pattern::HostToDevice},
     {"device_to_host_memcpy", Pattern::DeviceToHost},
     {"host_to_device_bidirectional_memcpy", Pattern::HostToDevice, true},
     {"device_to_host_bidirectional_memcpy", Pattern::DeviceToHost, true},
     {"device_to_device_memcpy_read", Pattern::DeviceToDevice, false, true},
     {"device_to_device_memcpy_write", Pattern::DeviceToDevice},
     {"device_to_device_bidirectional_memcpy_read", Pattern::DeviceToDevice, true, true},
     {"device_to_device_bidirectional_memcpy_write", Pattern::DeviceToDevice, true},
     {"all_to_host_memcpy", Pattern::AllToHost},
     {"all_to_host_bidirectional_memcpy", Pattern::AllToHost, true},
     {"host_to_all_memcpy", Pattern::HostToAll},
     {"host_to_all_bidirectional_memcpy", Pattern::HostToAll, true},
     {"all_to_one_write", Pattern::AllToOne},
     {"all_to_one_read", Pattern::OneToAll, false, true},
     {"one_to_all_write", Pattern::OneToAll},
     {"one_to_all_read", Pattern::AllToOne, false, true},
     {"device_local_copy", Pattern::Local},
     {"host_device_latency", Pattern::HostLatency},
     {"device_to_device_latency", Pattern::DeviceLatency}}};

// ---------------------------------------------------------------------------------------------------- what is printed

class TextReader {
 public:
  TextReader(SourceText const& source, BenchmarkBuilder& builder) : builder_(builder), lines_(lines_of(source)) {}

  std::vector<Test> read() {
    for (at_ = 0; at_ < lines_.size(); ++at_) {
      auto const& line = lines_[at_];
      if (auto const name = value_after(line, "Running "); !name.empty())
        tests_.push_back({std::string(name.substr(0, name.find('.'))), {}, line.number});
      else if (line.has("(row)") || line.has("GPU(column)"))
        read_matrix(line);
      else
        read_environment(line);
    }
    return std::move(tests_);
  }

 private:
  void read_environment(BenchmarkLine const& line) {
    builder_.environment("nvbandwidth", value_after(line, "nvbandwidth Version:"));
    builder_.environment("cuda runtime", value_after(line, "CUDA Runtime Version:"));
    builder_.environment("driver", value_after(line, "Driver Version:"));
    if (line.starts_with("Device 0:")) builder_.environment("gpu", value_after(line, "Device 0:"));
  }

  // A line of column numbers, then a row for each number.
  void read_matrix(BenchmarkLine const& title) {
    if (tests_.empty())
      return builder_.fail(title.number, 1, "a table before any 'Running NAME.' line: which test is it of?");
    auto const header = at_ + 1;
    if (header >= lines_.size() || lines_[header].empty() || !index_in(lines_[header].words[0].text))
      return builder_.fail(title.number, 1, "a line with the numbers of the columns must follow");
    auto const columns = lines_[header].words.size();
    std::vector<std::vector<PrintedCell>> rows;
    for (at_ = header + 1; at_ < lines_.size() && !lines_[at_].empty() && index_in(lines_[at_].words[0].text); ++at_) {
      auto const& line = lines_[at_];
      if (line.words.size() != columns + 1) {
        builder_.fail(line.number, line.words[0].column, fmt::format("expected a row of {} figures", columns));
        continue;
      }
      std::vector<PrintedCell> row;
      for (std::size_t i = 1; i < line.words.size(); ++i) row.push_back(cell(line, line.words[i]));
      rows.push_back(std::move(row));
    }
    --at_;
    // Tests of both directions print each, then the total: the last table counts.
    tests_.back().rows = std::move(rows);
  }

  PrintedCell cell(BenchmarkLine const& line, BenchmarkWord const& word) {
    auto const value = number_in(word.text);
    if (!value && word.text != "N/A")
      builder_.fail(line.number, word.column, fmt::format("'{}': expected a number or N/A", word.text));
    return {value, line.number, word.column};
  }

  BenchmarkBuilder& builder_;
  std::vector<BenchmarkLine> lines_;
  std::size_t at_ = 0;
  std::vector<Test> tests_;
};

std::vector<Test> read_json(SourceText const& source, BenchmarkBuilder& builder) {
  auto text = source.text();
  std::replace(text.begin(), text.end(), '\t', ' ');
  auto const root = parse_yaml(SourceText::from_memory(source.name(), text));  // JSON is YAML, and this one has places
  auto const* top = root.find("nvbandwidth");
  auto const* list = top != nullptr ? top->find("testcases") : nullptr;
  if (list == nullptr || list->kind != YamlKind::Sequence) {
    builder.fail(root.line, root.column, "expected {\"nvbandwidth\": {\"testcases\": [...]}}");
    return {};
  }
  for (auto const& [key, name] :
       {std::pair{"version", "nvbandwidth"}, std::pair{"CUDA Runtime Version", "cuda runtime"},
        std::pair{"Driver Version", "driver"}})
    if (auto const* node = top->find(key); node != nullptr && node->kind == YamlKind::Scalar)
      builder.environment(name, node->text);
  if (auto const* devices = top->find("GPU Device list"); devices != nullptr && !devices->items.empty())
    builder.environment("gpu", devices->items.front().text);
  std::vector<Test> tests;
  for (auto const& item : list->items) {
    auto const* name = item.find("name");
    if (name == nullptr || name->kind != YamlKind::Scalar) {
      builder.fail(item.line, item.column, "a testcase without a name");
      continue;
    }
    Test test{name->text, {}, name->line};
    if (auto const* matrix = item.find("bandwidth_matrix"); matrix != nullptr) {
      for (auto const& row : matrix->items) {
        std::vector<PrintedCell> cells;
        for (auto const& value : row.items) {
          cells.push_back({number_in(value.text), value.line, value.column});
          if (!cells.back().value && value.text != "N/A" && value.kind != YamlKind::Null)
            builder.fail(value.line, value.column, fmt::format("'{}': expected a number or N/A", value.text));
        }
        test.rows.push_back(std::move(cells));
      }
    }
    tests.push_back(std::move(test));
  }
  return tests;
}

// ------------------------------------------------------------------------------------------------------ what it means

class Interpreter {
 public:
  explicit Interpreter(BenchmarkBuilder& builder) : builder_(builder), bytes_(builder.bytes_or(kDefaultBuffer)) {}

  void take(Test const& test) {
    bool const kernel = test.name.ends_with("_sm");
    auto const base = kernel || test.name.ends_with("_ce") ? test.name.substr(0, test.name.size() - 3) : test.name;
    auto const found =
        std::find_if(kForms.begin(), kForms.end(), [&](TestForm const& form) { return form.name == base; });
    if (test.rows.empty()) return builder_.note(fmt::format("{} has no figures: it was waived or failed.", test.name));
    if (found == kForms.end())
      return builder_.note(fmt::format("{} is left out: a measurement cannot say what it does.", test.name));
    form_ = &*found;
    like_ = {};
    like_.name = test.name;
    like_.pulled = form_->pulled && !kernel;
    read(test, kernel);
  }

 private:
  void read(Test const& test, bool kernel) {
    switch (form_->pattern) {
      case Pattern::DeviceToDevice:
        if (kernel) like_.op = form_->pulled ? Op::Read : Op::Write;
        return read_pairs(test);
      case Pattern::DeviceLatency:
        like_.quantity = MeasuredQuantity::Latency;
        like_.op = Op::Read;
        return read_pairs(test);
      case Pattern::HostLatency:
        like_.quantity = MeasuredQuantity::Latency;
        like_.op = Op::Read;
        break;
      default:
        if (kernel) like_.op = Op::LoadStore;
    }
    if (test.rows.size() != 1)
      return builder_.fail(test.line, 1, fmt::format("{}: expected one row of figures", test.name));
    auto const& row = test.rows.front();
    for (std::size_t i = 0; i < row.size(); ++i)
      if (row[i].value) read_device(row, i);
  }

  // A figure of one GPU, in a row over all.
  void read_device(std::vector<PrintedCell> const& row, std::size_t i) {
    auto const& cell = row[i];
    auto const gpu = builder_.gpu(i, cell.line, cell.column);
    if (gpu.empty()) return;
    auto const host = builder_.host(gpu);
    switch (form_->pattern) {
      case Pattern::Local: like_.mechanism = Mechanism::Local; return add({{gpu, gpu}}, bytes_, cell);
      case Pattern::HostLatency:
        like_.mechanism = builder_.direct(host, gpu);
        return add({{host, gpu}}, kPointer, cell, 1e-9);
      case Pattern::AllToOne:
      case Pattern::OneToAll: return read_star(row.size(), i, cell);
      default: break;
    }
    bool const down = form_->pattern == Pattern::HostToDevice || form_->pattern == Pattern::HostToAll;
    std::vector<MeasuredFlow> flows{down ? MeasuredFlow{host, gpu, bytes_} : MeasuredFlow{gpu, host, bytes_}};
    if (form_->both_ways)
      flows.push_back(down ? MeasuredFlow{gpu, host, bytes_ * 2} : MeasuredFlow{host, gpu, bytes_ * 2});
    if (form_->pattern == Pattern::AllToHost || form_->pattern == Pattern::HostToAll)
      add_others(row.size(), i, down, flows);
    if (flows.size() == 1) return add({{flows[0].from, flows[0].to}}, bytes_, cell);
    like_.of_first = true;  // the copies beside it are twice as long, so that they outlast it
    add(std::move(flows), Bytes(0), cell);
  }

  void add_others(std::size_t gpus, std::size_t measured, bool down, std::vector<MeasuredFlow>& flows) {
    for (std::size_t k = 0; k < gpus; ++k) {
      if (k == measured) continue;
      auto const other = builder_.gpu(k, 0, 0);
      auto const its_host = builder_.host(other);
      if (down || form_->both_ways) flows.push_back({its_host, other, bytes_ * 2});
      if (!down || form_->both_ways) flows.push_back({other, its_host, bytes_ * 2});
    }
  }

  // The total of one GPU with all others. GPUs without peer access are not among them.
  void read_star(std::size_t gpus, std::size_t centre, PrintedCell const& cell) {
    std::vector<MeasuredFlow> flows;
    auto const gpu = builder_.gpu(centre, cell.line, cell.column);
    for (std::size_t k = 0; k < gpus; ++k) {
      auto const other = builder_.gpu(k, cell.line, cell.column);
      if (k != centre)
        flows.push_back(form_->pattern == Pattern::AllToOne ? MeasuredFlow{other, gpu} : MeasuredFlow{gpu, other});
    }
    if (flows.empty()) return;
    like_.mechanism = builder_.direct(flows.front().from, flows.front().to);
    add(std::move(flows), bytes_, cell);
  }

  // Rows and columns of GPUs. The row's GPU writes to the column's, or reads from it. N/A off the diagonal: the driver
  // gave no peer access.
  void read_pairs(Test const& test) {
    auto rows = test.rows;
    auto const columns = rows.front().size();
    if (form_->both_ways && rows.size() == 3 * columns)
      rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(columns));
    if (rows.size() != columns)
      return builder_.fail(test.line, 1, fmt::format("{}: expected {} rows, one for each GPU", test.name, columns));
    bool const reads = form_->pulled || form_->pattern == Pattern::DeviceLatency;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t k = 0; k < std::min(columns, rows[i].size()); ++k) {
        auto const& cell = rows[i][k];
        auto const row = builder_.gpu(i, cell.line, cell.column);
        auto const column = builder_.gpu(k, cell.line, cell.column);
        if (i == k || row.empty() || column.empty()) continue;
        auto const flow = reads ? MeasuredFlow{column, row} : MeasuredFlow{row, column};
        like_.mechanism = builder_.direct(flow.from, flow.to);
        builder_.add_fact(flow, *like_.mechanism, cell.value.has_value(), cell.line, cell.column);
        if (!cell.value) continue;
        if (form_->pattern == Pattern::DeviceLatency)
          add({flow}, kPointer, cell, 1e-9);
        else
          add(form_->both_ways ? std::vector<MeasuredFlow>{flow, {flow.to, flow.from}}
                               : std::vector<MeasuredFlow>{flow},
              bytes_, cell);
      }
    }
  }

  // One series for each mechanism that a test's pairs take.
  void add(std::vector<MeasuredFlow> flows, Bytes bytes, PrintedCell const& cell, double scale = 1e9) {
    auto like = like_;
    if (like.mechanism == Mechanism::PcieP2p) like.name += "-pcie";
    builder_.add(like, std::move(flows), bytes, *cell.value * scale, cell.line, cell.column);
  }

  BenchmarkBuilder& builder_;
  Bytes bytes_;
  TestForm const* form_ = nullptr;
  MeasuredSeries like_;
};

}  // namespace

Measurement read_nvbandwidth(SourceText const& source, Machine const& machine, BenchmarkOptions const& options) {
  BenchmarkBuilder builder(source, machine, options, Benchmark::Nvbandwidth);
  builder.method("nvbandwidth: copies started together behind a spinning kernel; _ce by copy engines, _sm by kernels");
  auto const first = source.text().find_first_not_of(" \t\r\n");
  bool const json = first != std::string::npos && source.text()[first] == '{';
  auto const tests = json ? read_json(source, builder) : TextReader(source, builder).read();
  Interpreter interpreter(builder);
  for (auto const& test : tests) interpreter.take(test);
  return builder.finish();
}

}  // namespace lanewise
