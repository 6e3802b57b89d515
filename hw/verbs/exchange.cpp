#include "hw/verbs/exchange.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "core/io/error.hpp"
#include "core/io/interrupt.hpp"

namespace lanewise::hw {
namespace {

enum class Kind : std::uint8_t { Fine, Missing, Device, Interrupted, Plan };

struct Said {
  Kind kind = Kind::Fine;
  int code = 0;
  std::string text;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Said, kind, code, text)

// DeviceError puts its code behind its text each time it is made.
std::string without_code(DeviceError const& error) {
  std::string text = error.what();
  auto const code = fmt::format(" (error {})", error.code());
  if (text.ends_with(code)) text.resize(text.size() - code.size());
  return text;
}

Said said_by(std::function<std::string()> const& part) {
  try {
    throw_if_interrupted();
    return {Kind::Fine, 0, part()};
  } catch (MissingError const& error) {
    return {Kind::Missing, 0, error.what()};
  } catch (DeviceError const& error) {
    return {Kind::Device, error.code(), without_code(error)};
  } catch (Interrupted const& error) {
    return {Kind::Interrupted, 0, error.what()};
  } catch (Error const& error) {
    return {Kind::Plan, 0, error.what()};
  }
}

[[noreturn]] void raise(Said const& said, std::string const& where) {
  auto const text = where + ": " + said.text;
  switch (said.kind) {
    case Kind::Missing: throw MissingError(text);
    case Kind::Interrupted: throw Interrupted(said.text);
    case Kind::Device: throw DeviceError(where, said.code, said.text);
    default: throw PlanError(text);
  }
}

}  // namespace

std::vector<std::string> exchange(Group& group, std::function<std::string()> const& part) {
  auto const mine = said_by(part);
  if (mine.kind != Kind::Fine && mine.code != ECANCELED) group.announce_failure();
  std::vector<Said> all;
  for (auto const& text : group.all_gather(nlohmann::json(mine).dump()))
    all.push_back(nlohmann::json::parse(text).get<Said>());
  // Who stopped because of another is not the cause.
  for (auto const because : {false, true})
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      if (all[rank].kind != Kind::Fine && (all[rank].code == ECANCELED) == because)
        raise(all[rank], group.hosts()[rank]);
  std::vector<std::string> texts;
  for (auto& said : all) texts.push_back(std::move(said.text));
  return texts;
}

}  // namespace lanewise::hw
