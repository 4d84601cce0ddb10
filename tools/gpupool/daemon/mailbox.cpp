// SPDX-License-Identifier: GPL-2.0
// Purpose: see mailbox.h.
// Thread: see mailbox.h.
#include "gpupool/daemon/mailbox.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace gpupool {

Mailbox::Mailbox(hp::EventLoop& loop) : bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!bell_) {
        throw std::system_error(errno, std::generic_category(), "eventfd");
    }
    watch_ = loop.watch(bell_.get(), EPOLLIN, [this](uint32_t) { open_all(); });
}

Mailbox::~Mailbox() {
    wait();
}

void Mailbox::wait() {
    threads_.clear();
}

void Mailbox::post(std::function<void()> letter) {
    {
        const std::lock_guard lock(mutex_);
        letters_.push_back(std::move(letter));
    }
    const uint64_t one = 1;
    // Cannot fail but for a counter that is full, and then the bell rings already.
    [[maybe_unused]] const ssize_t rung = ::write(bell_.get(), &one, sizeof one);
}

void Mailbox::run(std::function<void()> work) {
    threads_.emplace_back();
    const auto self = std::prev(threads_.end());
    *self = std::jthread([this, self, work = std::move(work)] {
        work();
        // The thread's end is a moment away: whoever takes the letter waits that long.
        post([this, self] { threads_.erase(self); });
    });
}

void Mailbox::open_all() {
    uint64_t rung;
    [[maybe_unused]] const ssize_t size = ::read(bell_.get(), &rung, sizeof rung);
    std::vector<std::function<void()>> letters;
    {
        const std::lock_guard lock(mutex_);
        letters.swap(letters_);
    }
    for (const auto& letter : letters) {
        letter();
    }
}

}  // namespace gpupool
