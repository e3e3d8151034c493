# The Debian package: `cpack -G DEB` in a build tree, or `./dev package`.
include(GNUInstallDirs)

# Only what is installed has to be built.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

# Writes `from` of this folder to `to` in the build tree with one text replaced
# by another. A text that is not there is an error: somebody has to look.
function(tidegate_adapt from to)
  file(READ ${PROJECT_SOURCE_DIR}/config/${from} text)
  while(ARGN)
    list(POP_FRONT ARGN old new)
    string(FIND "${text}" "${old}" at)
    if(at EQUAL -1)
      message(FATAL_ERROR "config/${from} has no ${old}")
    endif()
    string(REPLACE "${old}" "${new}" text "${text}")
  endwhile()
  file(WRITE ${PROJECT_BINARY_DIR}/package/${to} "${text}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
               ${PROJECT_SOURCE_DIR}/config/${from})
endfunction()

tidegate_adapt(tidegate.service tidegate.service
  "/usr/local/bin/tidegate" "/usr/bin/tidegate"
  "# The binary in /usr/local/bin, the settings" "# The settings"
  "DynamicUser=yes" "User=tidegate\nGroup=tidegate")
tidegate_adapt(tidegate.example.toml tidegate.toml
  "data = \"./data\"" "data = \"/var/lib/tidegate\"")

add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/package/tidegate.1.gz
  COMMAND gzip -9nc ${PROJECT_SOURCE_DIR}/config/tidegate.1
          > ${PROJECT_BINARY_DIR}/package/tidegate.1.gz
  DEPENDS ${PROJECT_SOURCE_DIR}/config/tidegate.1)
add_custom_target(tidegate_manual ALL
  DEPENDS ${PROJECT_BINARY_DIR}/package/tidegate.1.gz)

install(TARGETS tidegate RUNTIME DESTINATION bin COMPONENT server)
install(FILES ${PROJECT_BINARY_DIR}/package/tidegate.service
  DESTINATION lib/systemd/system COMPONENT server)
install(FILES config/debian/sysusers.conf
  DESTINATION lib/sysusers.d RENAME tidegate.conf COMPONENT server)
install(FILES ${PROJECT_BINARY_DIR}/package/tidegate.toml
  DESTINATION /etc/tidegate COMPONENT server)
install(FILES ${PROJECT_BINARY_DIR}/package/tidegate.1.gz
  DESTINATION share/man/man1 COMPONENT server)
install(FILES config/tidegate.bash
  DESTINATION share/bash-completion/completions RENAME tidegate
  COMPONENT server)
install(FILES LICENSE
  DESTINATION share/doc/tidegate RENAME copyright COMPONENT server)
install(FILES README.md CHANGELOG.md SECURITY.md
  DESTINATION share/doc/tidegate COMPONENT server)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tidegate)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "durable job queue server with backpressure")
set(CPACK_PACKAGE_DESCRIPTION
  "Takes jobs over HTTP, stores them, and posts them to webhooks or hands them\nto workers. When a downstream says \"not now\", it holds the whole queue and\nlets one probe through before it goes on.")
set(CPACK_PACKAGE_CONTACT "The Tidegate authors <tidegate@localhost>")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "passwd")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ca-certificates, systemd")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/config/debian/conffiles
  ${PROJECT_SOURCE_DIR}/config/debian/postinst
  ${PROJECT_SOURCE_DIR}/config/debian/prerm
  ${PROJECT_SOURCE_DIR}/config/debian/postrm)
set(CPACK_STRIP_FILES ON)
# /etc is not below the prefix: everything goes into a folder of CPack's own.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
# The server alone: the library is for those who build.
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};tidegate;server;/")
include(CPack)
