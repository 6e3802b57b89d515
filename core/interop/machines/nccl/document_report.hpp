#pragma once
// What is wrong in a topology file of NCCL: errors, and notes of odd values, which cost only themselves.
#include <pugixml.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lanewise/io/error.hpp"
#include "lanewise/io/file.hpp"

namespace lanewise {

class NcclReport {
 public:
  explicit NcclReport(SourceText const& source) : source_(source) {}

  void fail_at(std::size_t offset, std::string message);
  void fail(pugi::xml_node node, std::string message) { fail_at(offset_of(node), std::move(message)); }
  [[nodiscard]] bool has_no_errors() const { return diagnostics_.empty(); }
  void throw_if_any() { diagnostics_.throw_if_any(); }

  void note(std::string text) { notes_.push_back(std::move(text)); }
  // An odd value: it is left out, and a note says where it stands.
  void odd(pugi::xml_node node, std::string const& message);
  void unknown_element(pugi::xml_node node);
  std::vector<std::string> take_notes() { return std::move(notes_); }

  // A whole number from `min` to `max`. Returns `absent` when there is no such attribute, and after noting an odd one.
  int number(pugi::xml_node node, char const* name, int absent, int min, int max);

  static std::size_t offset_of(pugi::xml_node node);

 private:
  SourceText const& source_;
  Diagnostics diagnostics_;
  std::vector<std::string> notes_;
  std::set<std::string> unknown_;
  std::size_t odd_ = 0;
};

}  // namespace lanewise
