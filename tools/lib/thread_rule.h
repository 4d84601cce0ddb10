// SPDX-License-Identifier: GPL-2.0
// Purpose: holds a class to the rule "one thread only" where assert() is compiled in; elsewhere it
// costs nothing. Thread: the one it stands for, which is the first that asks: an object may be made
// before the thread of its loop runs.
#pragma once

#include <cassert>
#include <thread>

namespace hp {

class ThreadRule {
public:
#ifdef NDEBUG
    void check() {}
#else
    /// Ends the process when the caller is another thread than the one before.
    void check() {
        if (thread_ == std::thread::id()) {
            thread_ = std::this_thread::get_id();
        }
        assert(thread_ == std::this_thread::get_id() && "called from another thread");
    }

private:
    std::thread::id thread_;
#endif
};

}  // namespace hp
