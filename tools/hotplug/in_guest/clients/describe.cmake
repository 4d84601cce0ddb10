# SPDX-License-Identifier: GPL-2.0
# Writes what each of PROGRAMS says of itself (--describe) as a JSON list into the C++ source OUT.
set(all)
foreach(program ${PROGRAMS})
    execute_process(COMMAND ${program} --describe OUTPUT_VARIABLE said RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${program} --describe: ${status}")
    endif()
    string(APPEND all "${separator}R\"json(${said})json\"")
    set(separator "\n    \",\\n\"\n    ")
endforeach()
file(WRITE ${OUT} "// Made by describe.cmake.
namespace hotplug {
extern const char* const client_descriptions;
const char* const client_descriptions = \"[\"
    ${all}
    \"]\";
}  // namespace hotplug
")
