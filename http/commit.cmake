# Run at every build: writes the commit that is being built into a header, which
# changes only when the commit does.
#   cmake -DSOURCE=<source tree> -DHEADER=<file> -P commit.cmake
execute_process(
  COMMAND git -C ${SOURCE} describe --always --abbrev=12 --dirty
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
  set(commit "unknown")
endif()
file(CONFIGURE OUTPUT ${HEADER}
  CONTENT "#pragma once\n\n#define TIDEGATE_COMMIT \"${commit}\"\n")
