#include "lanewise/io/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "core/io/file_fence.hpp"
#include "core/io/utf8.hpp"

namespace lanewise {
namespace fs = std::filesystem;
namespace {

// Whether the byte after a lead byte spells no overlong form, no surrogate and nothing beyond U+10FFFF.
bool follows(unsigned char lead, unsigned char next) {
  auto const least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  auto const most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  return next >= least && next <= most;
}

// The offset of the first byte that is no text: not UTF-8, or a control character that is neither a line end nor a tab.
std::size_t first_non_text(std::string_view text) {
  auto const control = std::find_if(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
  });
  auto const before = static_cast<std::size_t>(control - text.begin());
  auto const bad = first_non_utf8(text.substr(0, before));
  return bad != std::string_view::npos || control == text.end() ? bad : before;
}

[[noreturn]] void fail(std::string const& name, std::string message) { refuse_at({name, 0, 0}, std::move(message)); }

}  // namespace

std::size_t first_non_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    auto const lead = static_cast<unsigned char>(text[i]);
    std::size_t const length = lead < 0x80                   ? 1
                               : lead >= 0xC2 && lead < 0xE0 ? 2
                               : (lead & 0xF0) == 0xE0       ? 3
                               : lead >= 0xF0 && lead < 0xF5 ? 4
                                                             : 0;
    if (length == 0 || i + length > text.size()) return i;
    if (length > 1 && !follows(lead, static_cast<unsigned char>(text[i + 1]))) return i;
    for (std::size_t k = 2; k < length; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::string read_file(fs::path const& path) {
  check_fence(path);
  auto const name = path.string();
  std::error_code error;
  auto const status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) fail(name, "no such file");
  if (status.type() == fs::file_type::directory) fail(name, "is a folder; a file is needed");
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(name, fmt::format("cannot be read: {}", std::strerror(errno)));
  std::string text;
  std::array<char, 1 << 16> chunk{};
  while (in.read(chunk.data(), chunk.size()) || in.gcount() > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > SourceText::kMaxBytes) break;
  }
  if (in.bad()) fail(path.string(), fmt::format("cannot be read: {}", std::strerror(errno)));
  return text;
}

std::string without_terminal_codes(std::string_view printed) {
  std::string text;
  for (std::size_t i = 0; i < printed.size(); ++i) {
    if (printed[i] != '\x1b' || i + 1 == printed.size() || printed[i + 1] != '[') {
      text += printed[i];
      continue;
    }
    // A control sequence: "ESC [", parameters, and one final letter (ECMA-48, 5.4).
    i += 2;
    while (i < printed.size() && (printed[i] < 0x40 || printed[i] > 0x7e)) ++i;
  }
  return text;
}

SourceText SourceText::load(fs::path const& path) { return from_memory(path.string(), read_file(path)); }

SourceText SourceText::from_memory(std::string name, std::string text) {
  if (text.size() > kMaxBytes) fail(name, fmt::format("is larger than {} MiB, the most that is read", kMaxBytes >> 20));
  SourceText source;
  source.name_ = std::move(name);
  source.text_ = std::move(text);
  if (source.text_.starts_with("\xEF\xBB\xBF")) source.text_.erase(0, 3);
  source.line_starts_.push_back(0);
  for (std::size_t i = 0; i < source.text_.size(); ++i)
    if (source.text_[i] == '\n') source.line_starts_.push_back(i + 1);
  if (auto const bad = first_non_text(source.text_); bad != std::string_view::npos) {
    auto const byte = static_cast<unsigned char>(source.text_[bad]);
    throw InputError(std::vector<Diagnostic>{
        {source.position(bad),
         fmt::format("is not a text file: byte 0x{:02x} is neither UTF-8 nor a printable character", byte),
         {}}});
  }
  if (source.line_starts_.size() > kMaxLines + 1)
    fail(source.name_, fmt::format("has {} lines; at most {} are read", source.line_starts_.size(), kMaxLines));
  return source;
}

std::string_view SourceText::line(int number) const {
  if (number < 1 || number > line_count()) return {};
  auto const start = line_starts_[static_cast<std::size_t>(number) - 1];
  auto text = std::string_view(text_).substr(start);
  text = text.substr(0, text.find('\n'));
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

SourcePos SourceText::position(std::size_t offset) const {
  auto const after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  auto const line = static_cast<int>(after - line_starts_.begin());
  return {name_, line, static_cast<int>(offset - *(after - 1)) + 1};
}

namespace {

void write_to(fs::path const& file, fs::path const& shown, std::string_view content) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  if (!out) fail(shown.string(), fmt::format("cannot be written: {}", std::strerror(errno)));
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) fail(shown.string(), "cannot be written completely");
}

// An empty file beside `target` that was not there before: what is there may be a link to anywhere.
fs::path new_file_beside(fs::path const& target, fs::path const& shown) {
  static std::atomic<unsigned> counter{0};
  constexpr int kMaxTries = 100;
  for (int i = 0; i < kMaxTries; ++i) {
    auto path = fs::path(target).concat(fmt::format(".{}.partial", counter++));
    if (auto* const made = std::fopen(path.c_str(), "wbx")) {
      std::fclose(made);
      return path;
    }
    if (errno != EEXIST) break;
  }
  fail(shown.string(), fmt::format("cannot be written: {}", std::strerror(errno)));
}

}  // namespace

void write_file(fs::path const& path, std::string_view content) {
  check_fence(path);
  std::error_code error;
  auto const status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
    return write_to(path, path, content);
  auto const target =
      fs::is_symlink(fs::symlink_status(path, error)) && fs::exists(status) ? fs::canonical(path, error) : path;
  auto const temporary = new_file_beside(target, path);
  try {
    write_to(temporary, path, content);
  } catch (InputError const&) {
    std::remove(temporary.c_str());
    throw;
  }
  fs::rename(temporary, target, error);
  if (error) {
    std::remove(temporary.c_str());
    fail(path.string(), fmt::format("cannot be written: {}", error.message()));
  }
}

}  // namespace lanewise
