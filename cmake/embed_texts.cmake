# Writes a C++ file that holds texts: cmake -DOUTPUT=file.cpp -DNAMES=a;b -DFILES=a.js;b.js|c.js -P embed_texts.cmake
# Each is a function `std::string_view embedded_NAME()` in namespace lanewise: its files one after another. A file that is
# not there is an empty text.
set(code "#include <string_view>\n\nnamespace lanewise {\n")
list(LENGTH NAMES count)
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
  list(GET NAMES ${i} name)
  list(GET FILES ${i} files)
  string(REPLACE "|" ";" files "${files}")
  set(hex "")
  foreach(file IN LISTS files)
    if(EXISTS "${file}")
      file(READ "${file}" one HEX)
      string(APPEND hex "${one}")
    endif()
  endforeach()
  string(LENGTH "${hex}" length)
  math(EXPR bytes "${length} / 2")
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  string(APPEND code "std::string_view embedded_${name}();\nstd::string_view embedded_${name}() {\n"
    "  static constexpr unsigned char kText[] = {\n${hex}0x00};\n"
    "  return {reinterpret_cast<char const*>(kText), ${bytes}};\n}\n")
endforeach()
string(APPEND code "}  // namespace lanewise\n")
file(WRITE "${OUTPUT}" "${code}")
