#include "core/interop/benchmarks/benchmark_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/interop/words.hpp"
#include "core/io/spelling.hpp"
#include "core/units/limits.hpp"
#include "lanewise/planner/planner.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {}  // namespace

std::vector<BenchmarkLine> lines_of(SourceText const& source) {
  std::vector<BenchmarkLine> lines;
  for (int number = 1; number <= source.line_count(); ++number) {
    auto const line = source.line(number);
    lines.push_back({number, trimmed(line, kBlanks), words_of(line)});
  }
  return lines;
}

std::optional<double> number_in(std::string_view word) {
  double value = 0;
  auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::size_t> index_in(std::string_view word) {
  constexpr std::uint64_t kMaxExactInteger = std::uint64_t{1} << 53;  // a double holds every integer up to here
  std::uint64_t value = 0;
  auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value > kMaxExactInteger) return std::nullopt;
  return value;
}

YamlNode json_with_positions(SourceText const& source) {
  auto text = source.text();
  std::replace(text.begin(), text.end(), '\t', ' ');  // YAML does not allow tabs as indentation
  return parse_yaml(SourceText::from_memory(source.name(), text));
}

std::string_view value_after(BenchmarkLine const& line, std::string_view label) {
  return line.starts_with(label) ? trimmed(line.text.substr(label.size()), kBlanks) : std::string_view();
}

BenchmarkBuilder::BenchmarkBuilder(SourceText const& source, Machine const& machine, BenchmarkOptions const& options,
                                   Benchmark tool)
    : source_(source), machine_(machine), options_(options), tool_(tool) {
  result_.name = to_string(tool);
  result_.title = fmt::format("{} on {}", to_string(tool), machine.name);
  result_.machine = options.machine.empty() ? machine.name : options.machine;
  result_.source = fmt::format("imported from {}", source.name());
  result_.method = describe(tool);
}

std::string BenchmarkBuilder::gpu(std::size_t index, int line, int column, std::optional<std::size_t> node) {
  if (!options_.gpus.empty() && !node) {
    if (index < options_.gpus.size()) {
      if (std::holds_alternative<PciId>(machine_.place(options_.gpus[index]))) return options_.gpus[index];
      fail(line, column, fmt::format("--gpus: '{}' is not a GPU", options_.gpus[index]));
    } else {
      fail(line, column, fmt::format("the tool's GPU {} is not among the {} of --gpus", index, options_.gpus.size()));
    }
    return {};
  }
  for (auto const& prefix : {std::string(node ? "" : "gpu"), fmt::format("node{}/gpu", node.value_or(0))})
    if (auto name = fmt::format("{}{}", prefix, index); !prefix.empty() && machine_.find_function(name)) return name;
  if (node) {
    fail(line, column, fmt::format("'{}' has no node{}/gpu{}", machine_.name, *node, index));
    return {};
  }
  fail(line, column,
       fmt::format("'{}' has no gpu{}, which the tool's GPU {} would be; --gpus says which GPUs it saw", machine_.name,
                   index, index));
  return {};
}

std::string BenchmarkBuilder::gpu_of_rank(std::size_t rank, int line, int column) {
  auto const gpus = machine_.all(PciKind::Gpu);
  if (!options_.gpus.empty() || rank >= gpus.size()) return gpu(rank, line, column);
  return machine_.at(gpus[rank]).name;
}

std::string BenchmarkBuilder::host(std::string const& gpu) {
  if (!options_.numa.empty()) {
    if (!std::holds_alternative<NumaId>(machine_.place(options_.numa)))
      throw InputError(fmt::format("--numa {}: host memory is a NUMA node, such as numa0", options_.numa));
    return options_.numa;
  }
  auto const id = machine_.find_function(gpu);
  return id ? machine_.at(machine_.numa_of(*id)).name : std::string();
}

MeasuredFlow BenchmarkBuilder::ends() {
  if (options_.from.empty() || options_.to.empty())
    throw InputError(
        fmt::format("{} does not print between which places it ran; say --from PLACE and --to PLACE, such "
                    "as --from node0/numa0 --to node1/numa0",
                    to_string(tool_)));
  static_cast<void>(machine_.place(options_.from));
  static_cast<void>(machine_.place(options_.to));
  return {options_.from, options_.to};
}

Mechanism BenchmarkBuilder::direct(std::string const& from, std::string const& to) {
  auto const a = machine_.find_place(from);
  auto const b = machine_.find_place(to);
  if (!a || !b) return Mechanism::PcieP2p;  // reported already
  if (*a == *b) return Mechanism::Local;
  auto const known = direct_.find({*a, *b});
  return known != direct_.end() ? known->second : direct_.emplace(std::pair(*a, *b), chosen(*a, *b)).first->second;
}

Mechanism BenchmarkBuilder::chosen(Place const& from, Place const& to) {
  if (!model_) model_.emplace(machine_);
  bool const host = std::holds_alternative<NumaId>(from) || std::holds_alternative<NumaId>(to);
  Request const by_nvlink{.from = from, .to = to, .bytes = Bytes(1), .only = Mechanism::Nvlink};
  if (!possible_ways(machine_, by_nvlink).empty() && Planner(*model_).choose(by_nvlink).chosen)
    return Mechanism::Nvlink;
  return host ? Mechanism::HostDma : Mechanism::PcieP2p;
}

Bytes BenchmarkBuilder::bytes_or(Bytes tools_default) {
  if (options_.bytes) return *options_.bytes;
  note(fmt::format("{} does not print the size of its transfers; {}, its default, is taken (--bytes says another).",
                   to_string(tool_), exact_text(tools_default)));
  return tools_default;
}

MeasuredSeries& BenchmarkBuilder::series(MeasuredSeries const& like) {
  for (auto& known : result_.series)
    if (known.name == like.name) return known;
  result_.series.push_back(like);
  return result_.series.back();
}

void BenchmarkBuilder::add(MeasuredSeries const& like, std::vector<MeasuredFlow> flows, Bytes bytes, double value,
                           int line, int column) {
  if (!(value > 0) || !std::isfinite(value)) return fail(line, column, "a figure is more than nothing");
  // What the measurement's own reader accepts; not at its very ends, which the decimal text of a figure may miss.
  constexpr double kMargin = 1.001;
  bool const is_rate = like.quantity == MeasuredQuantity::Bandwidth;
  if (value > (is_rate ? kMaxBytesPerSecond : kMaxSeconds) / kMargin)
    return fail(line, column, is_rate ? "no transfer is as fast as 1000000 TB/s" : "no transfer takes 31 years");
  if (is_rate && value < kMinBytesPerSecond * kMargin) return fail(line, column, "no transfer is below 1 B/s");
  auto const too_large = [](Bytes size) { return static_cast<double>(size.value()) > kMaxBytes; };
  if (too_large(bytes) ||
      std::any_of(flows.begin(), flows.end(), [&](auto const& flow) { return too_large(flow.bytes); }))
    return fail(line, column, "no transfer has more than 1024 TiB");
  for (auto const& flow : flows)
    if (flow.from.empty() || flow.to.empty()) return;  // reported already
  series(like).points.push_back({std::move(flows), bytes, like.access, value, {}, {source_.name(), line, column}});
}

void BenchmarkBuilder::add_collective(MeasuredSeries const& like, Bytes bytes, double value, int line, int column) {
  auto const& among = like.collective->among;
  if (std::find(among.begin(), among.end(), std::string()) != among.end()) return;  // reported already
  add(like, {}, bytes, value, line, column);
}

void BenchmarkBuilder::add_fact(MeasuredFlow const& flow, Mechanism mechanism, bool legal, int line, int column) {
  if (flow.from.empty() || flow.to.empty()) return;
  MeasuredFact fact;
  fact.flow = flow;
  fact.bytes = Bytes(256 << 20);
  fact.mechanism = mechanism;
  fact.legal = legal;
  fact.pos = {source_.name(), line, column};
  for (auto const& known : result_.facts)
    if (known.flow == fact.flow && known.mechanism == fact.mechanism && known.legal == fact.legal) return;
  result_.facts.push_back(std::move(fact));
}

void BenchmarkBuilder::note(std::string text) {
  auto& notes = result_.notes;
  if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(std::move(text));
}

void BenchmarkBuilder::environment(std::string const& key, std::string_view value) {
  if (!value.empty()) result_.environment.emplace(key, value);
}

void BenchmarkBuilder::fail(int line, int column, std::string message) {
  diagnostics_.add({source_.name(), line, column}, std::move(message), source_.line(line));
}

Measurement BenchmarkBuilder::finish() {
  std::erase_if(result_.series, [](MeasuredSeries const& series) { return series.points.empty(); });
  diagnostics_.throw_if_any();
  if (result_.series.empty() && result_.facts.empty())
    throw InputError(std::vector<Diagnostic>{
        {source_.whole(), fmt::format("no figure of {} ({}) was found", to_string(tool_), describe(tool_)), {}}});
  return std::move(result_);
}

}  // namespace lanewise
