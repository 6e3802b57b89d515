#pragma once
// Results of evaluations, by keys that say everything they depend on. In a folder they outlive the program, and several
// processes share them.
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/io/handle.hpp"
#include "lanewise/io/file.hpp"

namespace lanewise {

struct OpenFile {
  using type = int;
  static int null() { return -1; }
  static void destroy(int file) noexcept;
};

// A folder holds a file for each process that wrote, `evaluations-HOST-PROCESS.jsonl`: the first line says
// `lanewise: evaluations/1` and the version of the program, each other one holds a result. Folders are merged by
// copying their files into one.
class ResultStore {
 public:
  // In memory only. `version`: of the program; results of another one are refused.
  explicit ResultStore(std::string version = {}) : version_(std::move(version)) {}
  // Makes the folder where it is not there, and reads what is in it. A last line that was cut off is left out, and is
  // evaluated again. Throws InputError naming the file and line of what is no result, and of another version's results.
  ResultStore(std::filesystem::path folder, std::string version);

  [[nodiscard]] nlohmann::ordered_json const* find(std::string const& key) const;  // nullptr: there is none
  [[nodiscard]] std::size_t size() const { return results_.size(); }
  [[nodiscard]] bool is_shared() const { return !folder_.empty(); }
  [[nodiscard]] std::filesystem::path const& folder() const { return folder_; }
  // `what`: for people who read the file. Throws InputError where nothing can be written.
  void add(std::string const& key, std::string const& what, nlohmann::ordered_json result);

  // Reads the results of another folder too. Throws as the constructor, and where there is no such folder.
  void merge(std::filesystem::path const& folder);

  // For several processes. Tells the others that this one evaluates the key now.
  void claim(std::string const& key);
  // Whether another process said so since this one began.
  [[nodiscard]] bool is_claimed(std::string const& key) const { return claimed_.contains(key); }
  // Reads what others wrote since.
  void refresh();
  // What a process gave up for.
  enum class GivenUpFor : std::uint8_t { OutOfMemory, Missing, Input, Defect };
  struct GivenUp {
    GivenUpFor kind = GivenUpFor::Defect;
    std::string why;
  };
  // Tells the others that this process gives up.
  void give_up(GivenUpFor kind, std::string const& why);
  // That another process did since this one began; nullopt: none did.
  [[nodiscard]] std::optional<GivenUp> const& given_up() const { return given_up_; }
  // After a fork: this process writes a file of its own.
  void begin_own_file();

 private:
  struct File {
    std::uintmax_t read = 0;  // bytes of whole lines
    int lines = 0;
  };
  void read(std::filesystem::path const& file, bool is_old);
  void read_folder(std::filesystem::path const& folder, bool is_old);
  void take(nlohmann::ordered_json line, SourcePos const& at, bool is_old);
  void append(nlohmann::ordered_json const& line);

  std::filesystem::path folder_;
  std::string version_;
  std::filesystem::path own_file_;  // empty: nothing is written yet
  Handle<OpenFile> output_;
  std::map<std::filesystem::path, File> files_;
  std::map<std::string, nlohmann::ordered_json> results_;
  std::set<std::string> claimed_;
  std::optional<GivenUp> given_up_;
};

}  // namespace lanewise
