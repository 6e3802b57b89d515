#pragma once
// Self-contained pages: one file that opens offline and draws the JSON that it holds.
#include <nlohmann/json.hpp>
#include <string>

namespace lanewise {

struct PageContent {
  std::string title;
  std::string made_by;                       // the command line
  nlohmann::ordered_json result;             // as --json prints it; its key "lanewise" decides how it is drawn
  nlohmann::ordered_json machine = nullptr;  // as `show --json` prints it; null: there is none
  bool may_ask = false;                      // the page may ask the server that it came from; nobody else
};

// UTF-8. Throws MissingError naming the package where the program was built without d3.
std::string html_page(PageContent const& content);

}  // namespace lanewise
