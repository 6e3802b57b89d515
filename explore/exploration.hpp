#pragma once
// What is tried on a machine: changes of its settings or of its file, and what they do to every pair, to one route and
// to jobs. Requests and answers are JSON, which a page sends and draws; nothing here knows how it is sent.
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/design/brief.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/setting.hpp"
#include "lanewise/model/model.hpp"

namespace lanewise {

// A machine that an exploration begins with. Its text is kept, because its file may be outside what is read later.
struct OpenedMachine {
  std::string name;
  std::string file;
  std::string text;
  std::vector<std::string> settings;
};
// By name or file. Throws InputError where it cannot be read.
OpenedMachine open_machine(Catalogue& catalogue, std::string const& name_or_file);

class Exploration {
 public:
  using Json = nlohmann::ordered_json;

  // `jobs`: timed at each change; empty: collectives of all GPUs, of the size that the request says. `folder`: whose
  // files can be opened, and where files are saved. The catalogue must outlive it.
  Exploration(Catalogue& catalogue, std::vector<OpenedMachine> opened, std::vector<DesignJob> jobs,
              std::filesystem::path folder);

  // `lanewise: explore/1`: what there is to choose from.
  [[nodiscard]] Json start();
  // {"name"}: a name of start(). Gives {"name", "file", "text", "settings"}. Throws InputError, as do the others for a
  // request that is not as described.
  [[nodiscard]] Json open(Json const& request);
  // {"file", "text", "settings": ["acs=on", ...], "bytes": "256 MiB", "op": "copy", "library": "best",
  //  "from": "gpu0", "to": "gpu1", "want": ["machine", "matrix", "route", "jobs", "faults", "yaml"]}
  // Gives `lanewise: exploration/1`: what is wanted, as far as the machine allows it, `errors` with their places, and
  // how long each took. A setting that cannot be made is left out. Throws Interrupted where newer work overtakes it.
  [[nodiscard]] Json evaluate(Json const& request);
  // {"file", "text", "replace"}: writes a machine or cluster file within the folder. Gives {"saved": file}, or
  // {"exists": file} where it is there and `replace` is false. Throws InputError for a text that is no machine, for a
  // file that is hidden or outside, and for one that is there and holds something else.
  [[nodiscard]] Json save(Json const& request);

 private:
  // A machine after its settings, kept until another one is asked for.
  struct Kept {
    std::string key;
    Json errors;
    std::unique_ptr<Model const> model;  // nullptr: the text is wrong
  };
  Kept const& prepared(std::string const& file, std::string const& text, std::vector<std::string> const& settings);
  [[nodiscard]] Json jobs(Model const& model, std::string const& bytes, std::string const& library);

  Catalogue& catalogue_;
  std::vector<OpenedMachine> opened_;
  std::vector<DesignJob> jobs_;
  std::filesystem::path folder_;
  Kept kept_;
};

}  // namespace lanewise
