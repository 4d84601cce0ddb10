// SPDX-License-Identifier: GPL-2.0
// Purpose: Acceptor on EPOLLIN, with a pause. Thread: the loop's.
#include "lib/acceptor.h"

#include <chrono>
#include <utility>

#include "lib/log.h"

namespace hp {
namespace {

using namespace std::chrono_literals;

constexpr auto pause_time = 500ms;
constexpr int connections_in_a_row = 16;  // then others have their turn

}  // namespace

Acceptor::Acceptor(EventLoop& loop, UnixListener listener, std::string what,
                   std::function<void(Fd)> on_connection)
    : loop_(loop),
      listener_(std::move(listener)),
      what_(std::move(what)),
      on_connection_(std::move(on_connection)),
      watch_(loop_.watch(listener_.fd(), EPOLLIN, [this](uint32_t) { accept_all(); })) {}

void Acceptor::accept_all() {
    for (int count = 0; count < connections_in_a_row; ++count) {
        auto socket = listener_.accept();
        if (!socket) {
            log::warning("no connection accepted for now",
                         {{"what", what_}, {"error", socket.error().message}});
            loop_.set_events(watch_, 0);
            pause_ = loop_.after(pause_time, [this] { loop_.set_events(watch_, EPOLLIN); });
            return;
        }
        if (!*socket) {
            return;
        }
        on_connection_(std::move(*socket));
    }
}

}  // namespace hp
