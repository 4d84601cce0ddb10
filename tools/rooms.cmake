# SPDX-License-Identifier: GPL-2.0
# A folder is a room: a library of all its .cpp files, and a test program of all its *_test.cpp files.

# add_room(TARGET [FOLDERS folder...] [LINK library...] [TEST_LINK library...] [PRECOMPILED])
# FOLDERS: the room and those below it that belong to the same library, relative to the current one (default: the current one).
# PRECOMPILED: for rooms that speak JSON, whose headers are most of what is compiled.
function(add_room target)
    cmake_parse_arguments(ROOM "PRECOMPILED" "" "FOLDERS;LINK;TEST_LINK" ${ARGN})
    if(NOT ROOM_FOLDERS)
        set(ROOM_FOLDERS .)
    endif()
    list(TRANSFORM ROOM_FOLDERS APPEND "/*.cpp" OUTPUT_VARIABLE patterns)
    file(GLOB files CONFIGURE_DEPENDS ${patterns})
    set(sources ${files})
    list(FILTER sources EXCLUDE REGEX "(_test|/[a-z_]*main)\\.cpp$")
    set(tests ${files})
    list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PUBLIC ${ROOM_LINK})
    if(ROOM_PRECOMPILED)
        target_precompile_headers(${target} REUSE_FROM hp_precompiled)
    elseif(CMAKE_BUILD_TYPE STREQUAL Release)
        # Not with the precompiled header, which is made at -O0: GCC 12 crashes at the mixture.
        target_compile_options(${target} PRIVATE -O2)
    endif()
    if(TESTS AND tests)
        add_executable(${target}_test ${tests})
        target_link_libraries(${target}_test PRIVATE ${target} ${ROOM_TEST_LINK} GTest::gtest_main)
        if(ROOM_PRECOMPILED)
            target_precompile_headers(${target}_test REUSE_FROM hp_precompiled)
        endif()
        gtest_discover_tests(${target}_test DISCOVERY_TIMEOUT 60)
    endif()
endfunction()

# compile_together(TARGET): a folder as one file, where no tests are built. Headers are then read once for each folder, and the templates of
# JSON made once: most of what a compiler does here. Names in an anonymous namespace have to differ within a folder.
function(compile_together target)
    if(NOT TESTS)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
        get_target_property(sources ${target} SOURCES)
        foreach(source IN LISTS sources)
            get_filename_component(folder ${source} ABSOLUTE)
            get_filename_component(folder ${folder} DIRECTORY)
            get_filename_component(folder ${folder} NAME)
            set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${folder})
        endforeach()
    endif()
endfunction()

# never_sanitize(TARGET): for what runs in the guest. That is static, since the image need not have a library, and a sanitizer's runtime
# cannot be linked so.
function(never_sanitize target)
    if(SANITIZE OR FUZZ)
        target_compile_options(${target} PUBLIC -fno-sanitize=all)
        target_link_options(${target} PUBLIC -fno-sanitize=all)
    endif()
endfunction()

# guest_precompiled(TARGET): the precompiled header for what runs in the guest, where that is compiled with the host's options.
function(guest_precompiled target)
    if(NOT SANITIZE AND NOT FUZZ AND NOT RACES)
        if(CMAKE_BUILD_TYPE STREQUAL Release)
            # In a guest under TCG -O0 is felt: svm/large takes twice as long.
            target_precompile_headers(${target} REUSE_FROM hp_precompiled_guest)
            target_compile_options(${target} PRIVATE -O1)
        else()
            target_precompile_headers(${target} REUSE_FROM hp_precompiled)
        endif()
        # GCC refuses a header that was made with other definitions.
        foreach(library spdlog::spdlog fmt::fmt)
            target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:${library},INTERFACE_COMPILE_DEFINITIONS>)
        endforeach()
    endif()
endfunction()
