#include "core/design/result_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr char kSchema[] = "evaluations/1";
constexpr char kExtension[] = ".jsonl";

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data() : "host";
}

// What stands behind `from` in a file, up to the end of its last whole line.
std::string whole_lines(fs::path const& file, std::uintmax_t from) {
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(from));
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  text.resize(text.rfind('\n') + 1);  // npos + 1: there is none
  return text;
}

[[noreturn]] void refuse_folder(fs::path const& folder, std::string const& why) {
  throw InputError(fmt::format("folder of results {}: {}", folder.string(), why));
}

}  // namespace

void OpenFile::destroy(int file) noexcept { close(file); }

ResultStore::ResultStore(fs::path folder, std::string version)
    : folder_(std::move(folder)), version_(std::move(version)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) refuse_folder(folder_, error.message());
  read_folder(folder_, true);
}

Json const* ResultStore::find(std::string const& key) const {
  auto const found = results_.find(key);
  return found == results_.end() ? nullptr : &found->second;
}

void ResultStore::add(std::string const& key, std::string const& what, Json result) {
  if (is_shared()) append({{"key", key}, {"what", what}, {"result", result}});
  results_[key] = std::move(result);
}

void ResultStore::merge(fs::path const& folder) {
  if (!fs::is_directory(folder)) refuse_folder(folder, "there is no such folder");
  read_folder(folder, true);
}

void ResultStore::claim(std::string const& key) {
  if (is_shared()) append({{"key", key}, {"begun", true}});
}

void ResultStore::give_up(GivenUpFor kind, std::string const& why) {
  if (is_shared()) append({{"given_up", why}, {"kind", static_cast<int>(kind)}});
}

void ResultStore::refresh() {
  if (is_shared()) read_folder(folder_, false);
}

void ResultStore::begin_own_file() {
  output_.reset();
  own_file_.clear();
}

void ResultStore::read_folder(fs::path const& folder, bool is_old) {
  std::error_code error;
  for (auto const& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == kExtension && entry.path() != own_file_) read(entry.path(), is_old);
  if (error) refuse_folder(folder, error.message());
}

void ResultStore::read(fs::path const& file, bool is_old) {
  auto& known = files_[file];
  std::error_code error;
  if (fs::file_size(file, error) <= known.read || error) return;
  auto const text = whole_lines(file, known.read);
  std::size_t at = 0;
  while (at < text.size()) {
    auto const end = text.find('\n', at);
    SourcePos const here{file.string(), known.lines + 1, 1};
    auto line = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                            text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!line.is_object()) refuse_at(here, "this is no line of results; move the file out of the folder");
    take(std::move(line), here, is_old);
    at = end + 1;
    ++known.lines;
  }
  known.read += text.size();
}

void ResultStore::take(Json line, SourcePos const& at, bool is_old) {
  auto const text = [&](char const* name) {
    auto const found = line.find(name);
    return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (at.line == 1) {
    if (text("lanewise") != kSchema) refuse_at(at, fmt::format("its first line does not say lanewise: {}", kSchema));
    if (text("version") != version_)
      refuse_at(at, fmt::format("these results are of lanewise {}, and this is {}: name another folder, so that both "
                                "are kept",
                                text("version"), version_));
    return;
  }
  auto const key = text("key");
  if (auto const result = line.find("result"); result != line.end() && !key.empty())
    results_[key] = std::move(*result);
  else if (line.contains("begun") && !is_old)
    claimed_.insert(key);
  else if (line.contains("given_up") && !is_old)
    given_up_ = {static_cast<GivenUpFor>(line.value("kind", 0)), text("given_up")};
}

void ResultStore::append(Json const& line) {
  auto text = line.dump() + "\n";
  if (!output_) {
    // Of an earlier process with the same number the last line may be cut off: its file is left alone.
    for (int again = 0; !output_ && (again == 0 || errno == EEXIST); ++again) {
      auto const number = again == 0 ? "" : fmt::format("-{}", again);
      own_file_ = folder_ / fmt::format("evaluations-{}-{}{}{}", host_name(), getpid(), number, kExtension);
      output_ = Handle<OpenFile>(open(own_file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
    }
    if (!output_) refuse_folder(folder_, fmt::format("{}: {}", own_file_.string(), std::strerror(errno)));
    text.insert(0, Json{{"lanewise", kSchema}, {"version", version_}}.dump() + "\n");
  }
  for (std::string_view rest = text; !rest.empty();) {
    auto const written = write(output_.get(), rest.data(), rest.size());
    if (written < 0) refuse_folder(folder_, fmt::format("{}: {}", own_file_.string(), std::strerror(errno)));
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace lanewise
