# Run at every build: writes the files of the dashboard into a C++ file, which
# changes only when they do.
#   cmake -DSOURCE=<http/dashboard> -DOUTPUT=<file> -P dashboard.cmake
# Where its npm packages are not installed, a page that says so stands there.
cmake_minimum_required(VERSION 3.25)
set(modules "${SOURCE}/node_modules")
set(files "")
set(texts "")

function(c_array name hex out)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
  set(${out} "constexpr char ${name}[] = {\n${bytes}'\\0'};\n\n" PARENT_SCOPE)
endfunction()

# Adds bytes, given in hexadecimal, as a file of the dashboard.
function(add_bytes name type hex)
  list(LENGTH files count)
  string(SHA256 digest "${hex}")
  string(SUBSTRING "${digest}" 0 32 tag)
  c_array(bytes_${count} "${hex}" array)
  string(APPEND texts "${array}")
  list(APPEND files "  dashboard_file{\"${name}\", \"${type}\", \"\\\"${tag}\\\"\", {bytes_${count}, sizeof(bytes_${count}) - 1}},")
  set(files "${files}" PARENT_SCOPE)
  set(texts "${texts}" PARENT_SCOPE)
endfunction()

# The semicolon, which would cut a list, comes last.
set(html "text/html charset=utf-8")
set(js "text/javascript charset=utf-8")
set(css "text/css charset=utf-8")
set(txt "text/plain charset=utf-8")

macro(add_file path name type)
  file(READ "${path}" content HEX)
  add_bytes(${name} "${type}" "${content}")
endmacro()

# The packages import one another by name, which a browser does not know.
string(HEX "from\"preact\"" by_name)
string(HEX "from\"./preact.js\"" by_path)
macro(add_module path name)
  file(READ "${path}" content HEX)
  string(REPLACE "${by_name}" "${by_path}" content "${content}")
  add_bytes(${name} "${js}" "${content}")
endmacro()

if(EXISTS "${modules}/preact" AND EXISTS "${modules}/htm" AND EXISTS "${modules}/uplot")
  add_file("${SOURCE}/index.html" index.html "${html}")
  file(GLOB own RELATIVE "${SOURCE}" "${SOURCE}/*.js")
  list(SORT own)
  foreach(name ${own})
    add_file("${SOURCE}/${name}" ${name} "${js}")
  endforeach()
  add_file("${SOURCE}/style.css" style.css "${css}")
  add_module("${modules}/preact/dist/preact.module.js" preact.js)
  add_module("${modules}/preact/hooks/dist/hooks.module.js" hooks.js)
  add_module("${modules}/htm/dist/htm.module.js" htm.js)
  add_file("${modules}/uplot/dist/uPlot.iife.min.js" uplot.js "${js}")
  add_file("${modules}/uplot/dist/uPlot.min.css" uplot.css "${css}")
  # Their notices go where they go.
  set(notices "")
  foreach(package preact htm uplot)
    string(HEX "\n== ${package}\n\n" title)
    file(READ "${modules}/${package}/LICENSE" notice HEX)
    string(APPEND notices "${title}${notice}")
  endforeach()
  add_bytes(licenses.txt "${txt}" "${notices}")
else()
  add_file("${SOURCE}/absent.html" index.html "${html}")
endif()

list(LENGTH files count)
string(REPLACE ";" "\n" rows "${files}")
string(REPLACE " charset" "; charset" rows "${rows}")
set(made "// Made by dashboard.cmake.
#include <array>

#include \"http/dashboard.hpp\"

namespace tidegate::http {

namespace {

${texts}constexpr std::array table = {
${rows}
};

} // namespace

std::span<const dashboard_file> dashboard_files() {
  return table;
}

} // namespace tidegate::http
")
set(old "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" old)
endif()
if(NOT made STREQUAL old)
  file(WRITE "${OUTPUT}" "${made}")
endif()
