# SPDX-License-Identifier: GPL-2.0
# What `cmake --install` puts where, and `make install` and `make deb` with it. hpctl finds the rest from where it is itself
# (hotplug/base/parts.h), so an installed tree can be moved as a whole:
#   bin/                       what people call
#   libexec/amdgpu-hotplug/    what was built for guests, in the folders that it has in a build folder (scripts/guest/image)
#   share/amdgpu-hotplug/      what is text, in the folders that it has in the source tree
#   lib/ocf/                   agents for Pacemaker
#   share/{man,bash-completion,doc}/
# Nothing is ever written there: what is made in use goes to the user's cache and results.
set(built libexec/amdgpu-hotplug)
set(text share/amdgpu-hotplug)
get_filename_component(top ${CMAKE_SOURCE_DIR} DIRECTORY)
# Not those that the umask gave, of who installs or of who made the checkout.
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(executable ${CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})
# Clang's, which cmake takes for clang, leaves static programs as they are (LLVM 14).
find_program(strip_program strip)
if(strip_program)
    set(CMAKE_STRIP ${strip_program} CACHE FILEPATH "What strips installed programs" FORCE)
endif()

install(TARGETS hpctl amdgpu-emu amdgpu-emu-trace gpupool gpupoold DESTINATION bin)
install(PROGRAMS gpupool/cluster/gpupool-cluster DESTINATION bin)
get_directory_property(clients DIRECTORY hotplug/in_guest/clients DEFINITION hp_client_programs)
foreach(target amdgpu-emu-firmware hp-agent ${clients})
    get_target_property(folder ${target} RUNTIME_OUTPUT_DIRECTORY)
    if(NOT folder)
        get_target_property(folder ${target} BINARY_DIR)
    endif()
    file(RELATIVE_PATH folder ${CMAKE_BINARY_DIR} ${folder})
    install(TARGETS ${target} DESTINATION ${built}/${folder})
endforeach()

install(FILES ${top}/scripts/lib.sh DESTINATION ${text}/scripts)
install(PROGRAMS ${top}/scripts/bisect-run ${top}/scripts/series DESTINATION ${text}/scripts)
install(DIRECTORY ${top}/scripts/patchseries DESTINATION ${text}/scripts FILES_MATCHING PATTERN *.py)
install(DIRECTORY ${top}/scripts/pooltrial DESTINATION ${text}/scripts FILES_MATCHING PATTERN *.py)
install(DIRECTORY ${top}/scripts/poolcluster DESTINATION ${text}/scripts FILES_MATCHING PATTERN *.py PATTERN *.xml PATTERN *.conf)
foreach(program break.sh fence_outlet init.sh node.sh tenant)
    install(PROGRAMS ${top}/scripts/poolcluster/${program} DESTINATION ${text}/scripts/poolcluster)
endforeach()
# For Pacemaker, which looks for agents in /usr/lib/ocf, and for the testbed.
install(PROGRAMS gpupool/cluster/vm gpupool/cluster/node DESTINATION lib/ocf/resource.d/gpupool)
install(DIRECTORY gpupool/cluster DESTINATION ${text}/tools/gpupool FILE_PERMISSIONS ${executable})
install(DIRECTORY ${top}/scripts/guestdump DESTINATION ${text}/scripts FILES_MATCHING PATTERN *.py PATTERN *.c)
install(DIRECTORY ${top}/scripts/guest DESTINATION ${text}/scripts FILE_PERMISSIONS ${executable}
    PATTERN kconfig.d EXCLUDE
    PATTERN environment EXCLUDE)
install(FILES ${top}/scripts/guest/environment DESTINATION ${text}/scripts/guest)
install(DIRECTORY ${top}/scripts/guest/kconfig.d DESTINATION ${text}/scripts/guest)
install(DIRECTORY hotplug/scenarios DESTINATION ${text}/tools/hotplug PATTERN *.sh PERMISSIONS ${executable})
install(DIRECTORY hotplug/in_guest/detectors DESTINATION ${text}/tools/hotplug/in_guest)
# By name: who builds modules here leaves objects beside them.
install(DIRECTORY testing/selftests DESTINATION ${text}/tools/testing FILES_MATCHING
    PATTERN *.[ch] PATTERN *.sh PATTERN Makefile PATTERN Kbuild PATTERN config PATTERN settings)
install(DIRECTORY ${top}/patches DESTINATION ${text})

install(FILES ${top}/README.md DESTINATION share/doc/amdgpu-hotplug)
install(DIRECTORY ${top}/Documentation DESTINATION share/doc/amdgpu-hotplug)

# Made by the programs that are installed, so they are never those of others.
install(CODE "execute_process(COMMAND \"${top}/scripts/pages\" \"${CMAKE_BINARY_DIR}\" \"${CMAKE_BINARY_DIR}/pages\" COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY ${CMAKE_BINARY_DIR}/pages/ DESTINATION share)
install(CODE "file(REMOVE_RECURSE \"${CMAKE_BINARY_DIR}/pages\")")
