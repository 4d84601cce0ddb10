// SPDX-License-Identifier: GPL-2.0
// Purpose: what each fuzz target does before its first input: turn the log off.
// Thread: single-threaded.
#include <spdlog/spdlog.h>

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    spdlog::set_level(spdlog::level::off);
    return 0;
}
