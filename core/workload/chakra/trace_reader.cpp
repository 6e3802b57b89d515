#include "core/workload/chakra/trace_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <unordered_map>

#include "core/io/file_fence.hpp"
#include "core/workload/chakra/wire_format.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxTraceNodes = std::size_t{1} << 22;
constexpr std::uint64_t kMaxNodeMicroseconds = 1'000'000'000'000;
constexpr std::size_t kMaxNodeName = 120;  // what is shown of a name
constexpr std::int64_t kMaxTracedMessage = std::int64_t{1} << 50;

constexpr std::array<std::string_view, 10> kTraceCollectives{
    "all_reduce", "reduce",         "all_gather",           "gather", "scatter", "broadcast",
    "all_to_all", "reduce_scatter", "reduce_scatter_block", "barrier"};

// The value of an attribute: a number of whichever type, a flag, or a text.
struct TraceAttribute {
  std::string_view name;
  std::optional<std::int64_t> number;
  std::string_view text;
};

std::int64_t unfold_zigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

// AttributeProto: the name is field 1; the others are values, of which lists and floating point are not needed.
TraceAttribute attribute_of(std::string_view message) {
  TraceAttribute attribute;
  WireReader reader(message);
  while (auto const field = reader.next()) {
    bool const is_number = field->type != WireType::Delimited;
    switch (field->number) {
      case 1: attribute.name = field->bytes; break;
      case 29: attribute.text = field->bytes; break;  // string_val
      case 7:                                         // int32_val, int64_val, uint32_val, uint64_val, bool_val
      case 9:
      case 11:
      case 13:
      case 27:
      case 19:  // fixed32_val, fixed64_val, sfixed64_val
      case 21:
      case 25:
        if (is_number) attribute.number = static_cast<std::int64_t>(field->value);
        break;
      case 23:  // sfixed32_val
        if (is_number) attribute.number = static_cast<std::int32_t>(static_cast<std::uint32_t>(field->value));
        break;
      case 15:  // sint32_val, sint64_val
      case 17:
        if (is_number) attribute.number = unfold_zigzag(field->value);
        break;
      default: break;
    }
  }
  return attribute;
}

// A node as it stands in the file.
struct RawNode {
  TraceNode node;
  std::vector<std::uint64_t> waits_for;
  std::uint64_t type = 0;
  std::uint64_t microseconds = 0;
  std::int64_t operations = 0;
  std::optional<std::int64_t> runtime, size, collective, source, destination;
  bool on_cpu = false;
};

void take_attribute(RawNode& raw, TraceAttribute const& attribute) {
  auto const& name = attribute.name;
  if (name == "is_cpu_op") raw.on_cpu = attribute.number.value_or(0) != 0;
  if (name == "num_ops") raw.operations = attribute.number.value_or(0);
  if (name == "runtime") raw.runtime = attribute.number;
  if (name == "comm_type") raw.collective = attribute.number;
  if (name == "comm_size") raw.size = attribute.number;
  if (name == "comm_src") raw.source = attribute.number;
  if (name == "comm_dst") raw.destination = attribute.number;
  if (name == "pg_name" || name == "comm_group")
    raw.node.group = attribute.number ? std::to_string(*attribute.number) : std::string(attribute.text);
}

RawNode raw_node(std::string_view message) {
  RawNode raw;
  WireReader reader(message);
  while (auto const field = reader.next()) {
    switch (field->number) {
      case 1: raw.node.id = field->value; break;
      case 2: raw.node.name = std::string(field->bytes.substr(0, kMaxNodeName)); break;
      case 3: raw.type = field->value; break;
      case 4:  // ctrl_deps, data_deps: one by one, or packed
      case 5:
        if (field->type != WireType::Delimited) {
          raw.waits_for.push_back(field->value);
        } else {
          WireReader packed(field->bytes);
          while (auto const id = packed.next_varint()) raw.waits_for.push_back(*id);
        }
        break;
      case 7: raw.microseconds = field->value; break;
      case 10: take_attribute(raw, attribute_of(field->bytes)); break;
      default: break;
    }
  }
  return raw;
}

// Reads one file, and names it and the node in every error.
class TraceReader {
 public:
  explicit TraceReader(std::string const& file) : file_(file) { trace_.file = file; }

  ExecutionTrace read(std::istream& stream) {
    for (std::size_t number = 0;; ++number) {
      try {
        auto const message = next_message(stream);
        if (!message) break;
        if (number == 0) continue;  // GlobalMetadata
        raw_.push_back(raw_node(*message));
      } catch (WireError const& error) {
        refuse(fmt::format("message {}{}: {}", number + 1, after_words(), error.what()));
      }
      if (raw_.size() > kMaxTraceNodes) refuse(fmt::format("more than {} nodes", kMaxTraceNodes));
    }
    if (raw_.empty()) refuse("no nodes; an execution trace of Chakra (.et) has metadata, and then its nodes");
    for (auto& raw : raw_) finish(raw);
    connect();
    refuse_circles();
    return std::move(trace_);
  }

 private:
  [[noreturn]] void refuse(std::string const& message) const { refuse_at({file_, 0, 0}, message); }
  [[noreturn]] void refuse(TraceNode const& node, std::string const& message) const {
    refuse(fmt::format("node {} ('{}'): {}", node.id, std::string_view(node.name).substr(0, 80), message));
  }
  [[nodiscard]] std::string after_words() const {
    return raw_.empty() ? std::string() : fmt::format(" (after node {})", raw_.back().node.id);
  }

  void finish(RawNode& raw) {
    auto& node = raw.node;
    constexpr std::array<TraceNodeKind, 8> kKinds{
        TraceNodeKind::Other,   TraceNodeKind::Other, TraceNodeKind::Memory,  TraceNodeKind::Memory,
        TraceNodeKind::Compute, TraceNodeKind::Send,  TraceNodeKind::Receive, TraceNodeKind::Collective};
    if (raw.type >= kKinds.size())
      refuse(node, fmt::format("the type {} is not known; there is 0 to {}", raw.type, kKinds.size() - 1));
    node.kind = kKinds[raw.type];
    // PyTorch's traces have the CPU's call of a collective as a node of the same type, without its size.
    if (node.kind >= TraceNodeKind::Collective && raw.on_cpu && !raw.size) node.kind = TraceNodeKind::Compute;
    if (node.kind == TraceNodeKind::Compute) finish_computing(raw);
    if (node.kind == TraceNodeKind::Collective) finish_collective(raw);
    if (node.kind == TraceNodeKind::Send) node.peer = rank_in(raw.destination, node);
    if (node.kind == TraceNodeKind::Receive) node.peer = rank_in(raw.source, node);
    if (node.kind >= TraceNodeKind::Collective) {
      bool const is_barrier = node.kind == TraceNodeKind::Collective && node.collective == TraceCollective::Barrier;
      if (!raw.size && !is_barrier) refuse(node, "how much it sends is missing: the attribute 'comm_size', in bytes");
      node.bytes = raw.size.value_or(0);
      if (node.bytes < 0 || node.bytes > kMaxTracedMessage)
        refuse(node, fmt::format("{} bytes are no size of a message; 0 to {}", node.bytes, kMaxTracedMessage));
    }
  }

  void finish_computing(RawNode& raw) {
    auto& node = raw.node;
    if (raw.on_cpu) node.kind = TraceNodeKind::Cpu;
    auto time = raw.microseconds;
    if (time == 0 && raw.runtime) time = static_cast<std::uint64_t>(*raw.runtime);
    if (time == 0 && raw.operations > 0)
      refuse(node, fmt::format("{} operations, and no time that they take; give 'duration_micros' or the attribute "
                               "'runtime'",
                               raw.operations));
    if (time > kMaxNodeMicroseconds) refuse(node, fmt::format("{} us is no time that computing takes", time));
    node.duration = Seconds(static_cast<double>(time) * 1e-6);
  }

  void finish_collective(RawNode& raw) {
    auto const number = raw.collective.value_or(-1);
    if (number < 0 || number >= static_cast<std::int64_t>(kTraceCollectives.size()))
      refuse(raw.node, fmt::format("the attribute 'comm_type' is {}; it is a number from 0 to {}",
                                   raw.collective ? std::to_string(number) : "missing", kTraceCollectives.size() - 1));
    raw.node.collective = static_cast<TraceCollective>(number);
  }

  [[nodiscard]] std::optional<int> rank_in(std::optional<std::int64_t> rank, TraceNode const& node) const {
    if (!rank) return std::nullopt;
    if (*rank < 0 || *rank > std::numeric_limits<int>::max()) refuse(node, fmt::format("{} is no rank", *rank));
    return static_cast<int>(*rank);
  }

  // Names become positions.
  void connect() {
    std::unordered_map<std::uint64_t, std::uint32_t> at;
    for (std::size_t i = 0; i < raw_.size(); ++i)
      if (!at.emplace(raw_[i].node.id, static_cast<std::uint32_t>(i)).second)
        refuse(raw_[i].node, "its id is there twice");
    for (auto& raw : raw_) {
      auto& after = raw.node.after;
      for (auto const id : raw.waits_for) {
        auto const found = at.find(id);
        if (found == at.end()) refuse(raw.node, fmt::format("it waits for node {}, which is not there", id));
        after.push_back(found->second);
      }
      std::sort(after.begin(), after.end());
      after.erase(std::unique(after.begin(), after.end()), after.end());
      trace_.nodes.push_back(std::move(raw.node));
    }
    raw_.clear();
  }

  // Takes out what waits for nothing, again and again (Kahn's algorithm): what is left waits for itself.
  void refuse_circles() const {
    auto const& nodes = trace_.nodes;
    std::vector<std::uint32_t> waiting(nodes.size());
    std::vector<std::vector<std::uint32_t>> next(nodes.size());
    std::vector<std::uint32_t> ready;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      waiting[i] = static_cast<std::uint32_t>(nodes[i].after.size());
      for (auto const before : nodes[i].after) next[before].push_back(i);
      if (waiting[i] == 0) ready.push_back(i);
    }
    for (std::size_t done = 0; done < ready.size(); ++done)
      for (auto const later : next[ready[done]])
        if (--waiting[later] == 0) ready.push_back(later);
    if (ready.size() < nodes.size()) refuse_circle(waiting);
  }

  // Each of the nodes that are left waits for one that is left too: going back from any leads into a circle.
  [[noreturn]] void refuse_circle(std::vector<std::uint32_t> const& waiting) const {
    auto const& nodes = trace_.nodes;
    std::vector<bool> seen(nodes.size());
    auto at = static_cast<std::size_t>(
        std::find_if(waiting.begin(), waiting.end(), [](auto left) { return left > 0; }) - waiting.begin());
    for (; !seen[at];) {
      seen[at] = true;
      auto const& after = nodes[at].after;
      at = *std::find_if(after.begin(), after.end(), [&](auto before) { return waiting[before] > 0; });
    }
    refuse(nodes[at], "it waits for itself, by way of the nodes that it waits for");
  }

  std::string file_;
  std::vector<RawNode> raw_;
  ExecutionTrace trace_;
};

}  // namespace

std::string_view to_string(TraceCollective collective) {
  return kTraceCollectives.at(static_cast<std::size_t>(collective));
}

ExecutionTrace read_execution_trace(std::istream& stream, std::string const& file) {
  return TraceReader(file).read(stream);
}

ExecutionTrace read_execution_trace(std::filesystem::path const& file) {
  check_fence(file);
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse_at({file.string(), 0, 0}, "the file cannot be read");
  constexpr int kGzip = 0x1f;  // as a length: a message of 31 bytes, which no metadata is in practice
  if (stream.peek() == kGzip) {
    std::array<char, 2> magic{};
    stream.read(magic.data(), magic.size());
    if (static_cast<unsigned char>(magic[1]) == 0x8b)
      refuse_at({file.string(), 0, 0}, "the file is compressed; gunzip it first");
    stream.seekg(0);
  }
  return read_execution_trace(stream, file.string());
}

}  // namespace lanewise
