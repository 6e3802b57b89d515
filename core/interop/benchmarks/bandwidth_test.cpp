// Reads bandwidthTest of the CUDA samples, its tables and its --csv lines. Its GB is 1e9 B; in versions that print MB,
// a MB is 2^20 B. Copies inside a device count bytes read and bytes written (bandwidthTest.cu).
#include <fmt/format.h>

#include "core/interop/benchmarks/benchmark_builder.hpp"

namespace lanewise {
namespace {

constexpr double kOldMegabyte = 1048576;

enum class Kind : std::uint8_t { HostToDevice, DeviceToHost, DeviceToDevice };

class BandwidthTestReader {
 public:
  BandwidthTestReader(SourceText const& source, BenchmarkBuilder& builder)
      : builder_(builder), lines_(lines_of(source)) {}

  void read() {
    for (auto const& line : lines_) {
      if (line.starts_with("bandwidthTest-"))
        read_csv(line);
      else if (line.has("Bandwidth, ") && line.has("Device(s)"))
        read_title(line);
      else if (line.starts_with("Device "))
        read_device(line);
      else if (line.has("Memory Transfers"))
        pageable_ = line.starts_with("PAGEABLE");
      else if (line.starts_with("Transfer Size (Bytes)"))
        scale_ = line.has("(GB/s)") ? 1e9 : line.has("(MB/s)") ? kOldMegabyte : 0;
      else if (kind_ && scale_ > 0 && line.words.size() == 2 && index_in(line.words[0].text))
        read_row(line);
      else if (!line.empty() && !index_in(line.words[0].text))
        scale_ = 0;
    }
  }

 private:
  void read_device(BenchmarkLine const& line) {
    if (line.words.size() < 2) return;
    auto const number = line.words[1].text;
    if (auto const index = index_in(number.substr(0, number.find(':')))) device_ = *index;
    if (auto const colon = line.text.find(": "); colon != std::string_view::npos)
      builder_.environment("gpu", line.text.substr(colon + 2));
  }

  void read_title(BenchmarkLine const& line) {
    kind_ = line.starts_with("Host to Device")     ? std::optional(Kind::HostToDevice)
            : line.starts_with("Device to Host")   ? std::optional(Kind::DeviceToHost)
            : line.starts_with("Device to Device") ? std::optional(Kind::DeviceToDevice)
                                                   : std::nullopt;
    if (!line.has(" 1 Device(s)"))
      builder_.fail(line.number, 1,
                    "the sum over several devices, one after the other, cannot be imported; run it with --device=N");
  }

  void read_row(BenchmarkLine const& line) {
    auto const bytes = index_in(line.words[0].text);
    auto const value = number_in(line.words[1].text);
    if (!bytes || !value)
      return builder_.fail(line.number, line.words[1].column,
                           fmt::format("'{}': expected a number", line.words[1].text));
    add(*kind_, Bytes(static_cast<std::int64_t>(*bytes)), *value * scale_, line, line.words[1].column);
  }

  // "bandwidthTest-H2D-Pinned, Bandwidth = 12.3 GB/s, Time = 0.0026 s, Size = 32000000 bytes, NumDevsUsed = 1"
  void read_csv(BenchmarkLine const& line) {
    auto const name = line.words[0].text;
    auto const after = [&](std::string_view key) -> Word const* {
      for (std::size_t i = 0; i + 2 < line.words.size(); ++i)
        if (line.words[i].text == key && line.words[i + 1].text == "=") return &line.words[i + 2];
      return nullptr;
    };
    auto const* bandwidth = after("Bandwidth");
    auto const* size = after("Size");
    auto const value = bandwidth != nullptr ? number_in(bandwidth->text) : std::nullopt;
    auto const bytes = size != nullptr ? index_in(size->text) : std::nullopt;
    auto const kind = name.find("-H2D-") != std::string_view::npos   ? std::optional(Kind::HostToDevice)
                      : name.find("-D2H-") != std::string_view::npos ? std::optional(Kind::DeviceToHost)
                      : name.find("-D2D") != std::string_view::npos  ? std::optional(Kind::DeviceToDevice)
                                                                     : std::nullopt;
    if (!kind || !value || !bytes)
      return builder_.fail(line.number, 1,
                           "expected 'bandwidthTest-H2D-Pinned, Bandwidth = X GB/s, Time = T s, Size = N bytes, ...'");
    pageable_ = name.find("Paged") != std::string_view::npos || name.find("Pageable") != std::string_view::npos;
    bool const in_gigabytes = bandwidth != &line.words.back() && (bandwidth + 1)->text.starts_with("GB/s");
    auto const scale = in_gigabytes ? 1e9 : kOldMegabyte;
    add(*kind, Bytes(static_cast<std::int64_t>(*bytes)), *value * scale, line, bandwidth->column);
  }

  void add(Kind kind, Bytes bytes, double value, BenchmarkLine const& line, int column) {
    if (bytes == Bytes(0)) return builder_.fail(line.number, column, "a transfer of 0 bytes cannot be measured");
    auto const gpu = builder_.gpu(device_, line.number, column);
    if (gpu.empty()) return;
    MeasuredSeries like;
    if (kind == Kind::DeviceToDevice) {
      like.name = "device-to-device";
      like.mechanism = Mechanism::Local;
      return builder_.add(like, {{gpu, gpu}}, bytes, value / 2, line.number, column);
    }
    like.pageable = pageable_;
    like.name = fmt::format("{}-{}", kind == Kind::HostToDevice ? "host-to-device" : "device-to-host",
                            pageable_ ? "pageable" : "pinned");
    auto const host = builder_.host(gpu);
    builder_.add(like, {kind == Kind::HostToDevice ? MeasuredFlow{host, gpu} : MeasuredFlow{gpu, host}}, bytes, value,
                 line.number, column);
  }

  BenchmarkBuilder& builder_;
  std::vector<BenchmarkLine> lines_;
  std::optional<Kind> kind_;
  bool pageable_ = false;
  double scale_ = 0;  // of the figures below a table's title; 0: no table
  std::size_t device_ = 0;
};

}  // namespace

Measurement read_bandwidth_test(SourceText const& source, Machine const& machine, BenchmarkOptions const& options) {
  BenchmarkBuilder builder(source, machine, options, Benchmark::BandwidthTest);
  builder.method("bandwidthTest (CUDA samples): copies back to back in one stream");
  BandwidthTestReader(source, builder).read();
  return builder.finish();
}

}  // namespace lanewise
