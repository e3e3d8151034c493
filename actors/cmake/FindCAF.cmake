# Finds the C++ Actor Framework, whose Debian packages have no CMake file.
# Defines CAF_VERSION, the imported target CAF::core, and CAF::io and CAF::openssl
# where these modules are installed.

find_path(CAF_INCLUDE_DIR caf/actor_system.hpp)
find_library(CAF_CORE_LIBRARY caf_core)
find_library(CAF_IO_LIBRARY caf_io)
find_library(CAF_OPENSSL_LIBRARY caf_openssl)
mark_as_advanced(CAF_INCLUDE_DIR CAF_CORE_LIBRARY CAF_IO_LIBRARY
                 CAF_OPENSSL_LIBRARY)
if(CAF_INCLUDE_DIR)
  # Version 0.17.6 is spelt 1706 there.
  file(STRINGS ${CAF_INCLUDE_DIR}/caf/config.hpp version_line
       REGEX "^#define CAF_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" version_number "${version_line}")
  math(EXPR major "${version_number} / 10000")
  math(EXPR minor "${version_number} / 100 % 100")
  math(EXPR patch "${version_number} % 100")
  set(CAF_VERSION ${major}.${minor}.${patch})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CAF
  REQUIRED_VARS CAF_CORE_LIBRARY CAF_INCLUDE_DIR
  VERSION_VAR CAF_VERSION
  HANDLE_VERSION_RANGE)

# Adds the target of a module that stands upon others.
function(caf_add_module name library)
  if(NOT EXISTS "${library}" OR TARGET CAF::${name})
    return()
  endif()
  add_library(CAF::${name} UNKNOWN IMPORTED)
  set_target_properties(CAF::${name} PROPERTIES
    IMPORTED_LOCATION "${library}"
    INTERFACE_INCLUDE_DIRECTORIES "${CAF_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${ARGN}")
endfunction()

if(CAF_FOUND)
  find_package(Threads REQUIRED)
  caf_add_module(core "${CAF_CORE_LIBRARY}" Threads::Threads)
  caf_add_module(io "${CAF_IO_LIBRARY}" CAF::core)
  caf_add_module(openssl "${CAF_OPENSSL_LIBRARY}" CAF::io)
endif()
