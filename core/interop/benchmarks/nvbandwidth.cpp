// Reads nvbandwidth, text and JSON. The name of a test says what it does (testcase.h and testcases_*.cpp of
// NVIDIA/nvbandwidth 0.6): in "read" tests the destination drives the copies; host tests print one direction of several
// that run.
#include <fmt/format.h>

#include <algorithm>

#include "core/interop/benchmarks/benchmark_builder.hpp"
#include "core/interop/benchmarks/nvbandwidth_output.hpp"

namespace lanewise {
namespace {

constexpr Bytes kDefaultBuffer{std::int64_t{512} << 20};  // of -b since version 0.2
constexpr Bytes kPointer{8};                              // what the latency tests load

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
  DeviceLatency,
  Bisection
};
struct TestForm {
  std::string_view name;  // without _ce or _sm
  Pattern pattern;
  bool both_ways = false;
  bool pulled = false;
};
constexpr std::array<TestForm, 22> kForms{
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
     {"device_to_device_all_to_one_write", Pattern::AllToOne},
     {"device_to_device_all_from_one_read", Pattern::OneToAll, false, true},
     {"bisect_write", Pattern::Bisection},
     {"device_local_copy", Pattern::Local},
     {"host_device_latency", Pattern::HostLatency},
     {"device_to_device_latency", Pattern::DeviceLatency}}};

class Interpreter {
 public:
  explicit Interpreter(BenchmarkBuilder& builder) : builder_(builder), bytes_(builder.bytes_or(kDefaultBuffer)) {}

  void add_test(NvbandwidthTest const& test) {
    bool const kernel = test.name.ends_with("_sm");
    constexpr std::string_view kOverNodes = "multinode_";
    is_over_nodes_ = test.name.starts_with(kOverNodes);
    auto base = kernel || test.name.ends_with("_ce") ? test.name.substr(0, test.name.size() - 3) : test.name;
    if (is_over_nodes_) base.erase(0, kOverNodes.size());
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
  // The GPU of a row or column: over nodes they are MPI ranks.
  std::string gpu(std::size_t index, NvbandwidthCell const& cell) {
    return is_over_nodes_ ? builder_.gpu_of_rank(index, cell.line, cell.column)
                          : builder_.gpu(index, cell.line, cell.column);
  }

  void read(NvbandwidthTest const& test, bool kernel) {
    switch (form_->pattern) {
      case Pattern::Bisection: return read_bisection(test);
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

  // Adds the figure of one GPU from a row of all GPUs.
  void read_device(std::vector<NvbandwidthCell> const& row, std::size_t i) {
    auto const& cell = row[i];
    auto const gpu = this->gpu(i, cell);
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
    like_.of_first = true;  // the other copies are twice as long, so that they outlast the measured one
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
  void read_star(std::size_t gpus, std::size_t centre, NvbandwidthCell const& cell) {
    std::vector<MeasuredFlow> flows;
    auto const gpu = this->gpu(centre, cell);
    for (std::size_t k = 0; k < gpus; ++k) {
      auto const other = this->gpu(k, cell);
      if (k != centre)
        flows.push_back(form_->pattern == Pattern::AllToOne ? MeasuredFlow{other, gpu} : MeasuredFlow{gpu, other});
    }
    if (flows.empty()) return;
    like_.mechanism = builder_.direct(flows.front().from, flows.front().to);
    add(std::move(flows), bytes_, cell);
  }

  // Rows and columns of GPUs. The row's GPU writes to the column's, or reads from it. N/A off the diagonal: the driver
  // gave no peer access.
  void read_pairs(NvbandwidthTest const& test) {
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
        auto const row = gpu(i, cell);
        auto const column = gpu(k, cell);
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

  // Each GPU copies to the one half of all GPUs further on, all at once; a row has the rate of one of the copies.
  void read_bisection(NvbandwidthTest const& test) {
    auto const count = test.rows.size();
    if (count % 2 != 0 || test.rows.front().size() != 1)
      return builder_.fail(test.line, 1, fmt::format("{}: expected a row of one figure for each GPU", test.name));
    std::vector<MeasuredFlow> flows;
    auto sum = test.rows.front().front();
    sum.value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      auto const& cell = test.rows[i].front();
      if (!cell.value) return;
      *sum.value += *cell.value;
      flows.push_back({gpu(i, cell), gpu((i + count / 2) % count, cell)});
    }
    like_.mechanism = builder_.direct(flows.front().from, flows.front().to);
    like_.program = MeasuredProgram{.timed = TimedBy::Mean};
    add(std::move(flows), bytes_, sum);
  }

  // Adds a figure to the series of its test and mechanism.
  void add(std::vector<MeasuredFlow> flows, Bytes bytes, NvbandwidthCell const& cell, double scale = 1e9) {
    auto like = like_;
    if (like.mechanism == Mechanism::PcieP2p) like.name += "-pcie";
    builder_.add(like, std::move(flows), bytes, *cell.value * scale, cell.line, cell.column);
  }

  BenchmarkBuilder& builder_;
  Bytes bytes_;
  TestForm const* form_ = nullptr;
  bool is_over_nodes_ = false;
  MeasuredSeries like_;
};

}  // namespace

Measurement read_nvbandwidth(SourceText const& source, Machine const& machine, BenchmarkOptions const& options) {
  BenchmarkBuilder builder(source, machine, options, Benchmark::Nvbandwidth);
  builder.method("nvbandwidth: copies started together behind a spinning kernel; _ce by copy engines, _sm by kernels");
  auto const tests = read_nvbandwidth_tests(source, builder);
  Interpreter interpreter(builder);
  for (auto const& test : tests) interpreter.add_test(test);
  return builder.finish();
}

}  // namespace lanewise
