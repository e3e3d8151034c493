# The library: `cmake --install BUILD --component library --prefix PREFIX`, or
# `./dev library PREFIX`. What is installed may be moved as a whole.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(library_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tidegate)

# Installs the library `target` as `tidegate::<name>`, and the target file that
# the component `component` of the package is read from.
function(tidegate_install target name component)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS ${target} EXPORT tidegate-${component}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
endfunction()

tidegate_install(tidegate_core core actors)
tidegate_install(tidegate_actors actors actors)
tidegate_install(tidegate_storage storage storage)
tidegate_install(tidegate_testkit testkit testkit)
foreach(component actors storage testkit)
  install(EXPORT tidegate-${component} NAMESPACE tidegate::
    DESTINATION ${library_folder} COMPONENT library)
endforeach()

foreach(folder actors storage)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/include/tidegate
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tests/testkit/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tidegate/testkit COMPONENT library
  FILES_MATCHING PATTERN "*.hpp")

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/tidegate-config.cmake.in
  ${PROJECT_BINARY_DIR}/package/tidegate-config.cmake
  INSTALL_DESTINATION ${library_folder}
  NO_SET_AND_CHECK_MACRO)
# While the first number is 0, the second one says what fits together.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/package/tidegate-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/tidegate-config.cmake
  ${PROJECT_BINARY_DIR}/package/tidegate-config-version.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindCAF.cmake
  DESTINATION ${library_folder} COMPONENT library)

# What has to be built before the component is installed.
add_custom_target(tidegate_library
  DEPENDS tidegate_core tidegate_actors tidegate_storage tidegate_testkit)
