#include "pages/page.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

#include "core/text/markup.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {

// Written at build time (pages/CMakeLists.txt).
std::string_view embedded_page();
std::string_view embedded_style();
std::string_view embedded_scripts();
std::string_view embedded_d3();
std::string_view embedded_d3_licence();

namespace {

// JSON within a script element: nothing in it may end the element or begin a comment.
std::string for_script(nlohmann::ordered_json const& json) {
  if (json.is_null()) return "";
  std::string safe;
  for (char const c : json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace)) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

// d3 with its licence, as that demands. The text is a comment, so nothing in it may end one.
std::string d3_with_licence() {
  std::string licence(embedded_d3_licence());
  for (auto at = licence.find("*/"); at != std::string::npos; at = licence.find("*/")) licence.replace(at, 2, "* /");
  return fmt::format("/* d3\n{}*/\n{}", licence, embedded_d3());
}

std::string text_of(std::string_view name, PageContent const& content) {
  if (name == "title") return markup_escaped(content.title);
  if (name == "made_by") return markup_escaped(content.made_by);
  if (name == "connections") return content.may_ask ? " connect-src 'self';" : "";
  if (name == "style") return std::string(embedded_style());
  if (name == "scripts") return std::string(embedded_scripts());
  if (name == "d3") return d3_with_licence();
  if (name == "result") return for_script(content.result);
  if (name == "machine") return for_script(content.machine);
  throw std::logic_error(fmt::format("page.html asks for '{}'", name));
}

}  // namespace

std::string html_page(PageContent const& content) {
  if (embedded_d3().empty())
    throw MissingError(
        "this program was built without d3, which draws pages; install the package node-d3 and build again "
        "(`./setup.sh install page`)");
  constexpr std::string_view kOpen = "{{";
  constexpr std::string_view kClose = "}}";
  auto rest = embedded_page();
  std::string page;
  for (auto open = rest.find(kOpen); open != std::string_view::npos; open = rest.find(kOpen)) {
    auto const close = rest.find(kClose, open);
    page += rest.substr(0, open);
    page += text_of(rest.substr(open + kOpen.size(), close - open - kOpen.size()), content);
    rest.remove_prefix(close + kClose.size());
  }
  page += rest;
  return page;
}

}  // namespace lanewise
