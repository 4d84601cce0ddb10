// SPDX-License-Identifier: GPL-2.0
// Purpose: the other end of a unix socket in unit tests: takes clients, one after the other, hands
// what they send to a function, sends what that returns. Thread: serves on its own thread, which
// the destructor ends; say(), hang_up() and close() from the test's.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hotplug/base/deadline.h"
#include "hotplug/base/temporary_directory.h"
#include "lib/fd.h"
#include "lib/json_line.h"
#include "lib/line_buffer.h"

namespace hotplug {

class FakeServer {
public:
    /// Gets a line, returns what to send back (nothing, or lines with their newlines).
    using Answer = std::function<std::string(const std::string& line)>;

    /// What a client hears first.
    using Greeting = std::function<std::string()>;

    explicit FakeServer(
        Answer answer, Greeting greeting = [] { return std::string(); })
        : directory_(TemporaryDirectory::make().value()),
          answer_(std::move(answer)),
          greeting_(std::move(greeting)),
          listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path().copy(address.sun_path, sizeof(address.sun_path) - 1);
        if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) !=
                0 ||
            ::listen(listener_.get(), 1) != 0) {
            throw std::runtime_error("cannot listen on " + path());
        }
        thread_ = std::thread([this] { serve(); });
    }
    ~FakeServer() {
        close();
        thread_.join();
    }
    FakeServer(const FakeServer&) = delete;
    FakeServer& operator=(const FakeServer&) = delete;

    std::string path() const { return directory_.path() / "socket"; }

    /// Sends as it is, once a client is there.
    void say(const std::string& text) {
        std::unique_lock lock(mutex_);
        Deadline::after(std::chrono::seconds(10)).wait(changed_, lock, [&] {
            return static_cast<bool>(client_);
        });
        send(text);
    }
    /// Takes no client any more.
    void close() {
        ::shutdown(listener_.get(), SHUT_RDWR);
        hang_up();
    }
    int connections() const {
        std::lock_guard lock(mutex_);
        return connections_;
    }
    void hang_up() {
        std::lock_guard lock(mutex_);
        ::shutdown(client_.get(), SHUT_RDWR);
    }
    /// What came with each recv(2), so that tests see what was sent at once.
    std::vector<std::string> packets() const {
        std::lock_guard lock(mutex_);
        return packets_;
    }

private:
    void serve() {
        while (hp::Fd client{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)}) {
            serve(std::move(client));
        }
    }
    void serve(hp::Fd client) {
        const int fd = client.get();
        {
            std::lock_guard lock(mutex_);
            client_ = std::move(client);
            ++connections_;
            send(greeting_());
            changed_.notify_all();
        }
        hp::LineBuffer lines(hp::json_line_limit, hp::LineBuffer::Overlong::cut);
        std::array<char, 65536> buffer;
        ssize_t size;
        while ((size = ::recv(fd, buffer.data(), buffer.size(), 0)) > 0) {
            std::string packet(buffer.data(), static_cast<size_t>(size));
            lines.append(packet);
            std::lock_guard lock(mutex_);
            packets_.push_back(std::move(packet));
            while (const auto line = lines.next()) {
                send(answer_(*line));
            }
        }
    }
    // A client that is gone is the test's doing.
    void send(const std::string& text) {
        if (!text.empty()) {
            (void)::send(client_.get(), text.data(), text.size(), MSG_NOSIGNAL);
        }
    }

    TemporaryDirectory directory_;
    Answer answer_;
    Greeting greeting_;
    hp::Fd listener_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    hp::Fd client_;
    int connections_ = 0;
    std::vector<std::string> packets_;
    std::thread thread_;
};

}  // namespace hotplug
