// SPDX-License-Identifier: GPL-2.0
// Purpose: the project's error value. A fallible call that is not start-up returns Result<T>;
// start-up may throw. Thread: values, no state.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace hp {

/// What went wrong, as one line a user can act on.
struct Error {
    std::string message;
};

template <typename T>
using Result = tl::expected<T, Error>;

/// Returned as `return fail("...")` from any function that returns a Result.
inline tl::unexpected<Error> fail(std::string message) {
    return tl::unexpected<Error>(Error{std::move(message)});
}

}  // namespace hp
