# Finds the C++ Actor Framework, whose Debian package has no CMake file.
# Defines CAF_VERSION and the imported target CAF::core.

find_path(CAF_INCLUDE_DIR caf/actor_system.hpp)
find_library(CAF_CORE_LIBRARY caf_core)
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
  VERSION_VAR CAF_VERSION)

if(CAF_FOUND AND NOT TARGET CAF::core)
  find_package(Threads REQUIRED)
  add_library(CAF::core UNKNOWN IMPORTED)
  set_target_properties(CAF::core PROPERTIES
    IMPORTED_LOCATION ${CAF_CORE_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${CAF_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
