// SPDX-License-Identifier: GPL-2.0
// Purpose: runs requests that may block in the kernel (sysfs `remove` can for a minute) away from
// the agent's loop. Thread: start(), take_answers() and so on from the loop; each piece of work has
// a thread of its own.
#include "hotplug/in_guest/agent/workers.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include "hotplug/in_guest/agent/request.h"

namespace hp::agent {

namespace {

using nlohmann::json;

constexpr std::size_t max_pending = 64;

/// Whatever goes wrong with one request, the agent goes on.
json carry_out(const Workers::Work& work) {
    try {
        return work();
    } catch (const std::exception& error) {
        return failure(error.what());
    }
}

}  // namespace

Workers::Workers() : shared_(std::make_shared<Shared>()) {
    shared_->ready.reset(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!shared_->ready) {
        throw std::system_error(errno, std::generic_category(), "eventfd");
    }
}

Result<void> Workers::start(json id, std::optional<std::chrono::milliseconds> timeout, Work work) {
    if (pending_.size() >= max_pending) {
        return fail(std::to_string(max_pending) + " requests are blocked in the kernel already");
    }
    const auto now = Clock::now();
    const std::uint64_t number = next_number_++;
    Pending pending{std::move(id), now, std::nullopt, false};
    if (timeout) {
        pending.deadline = now + *timeout;
    }
    try {
        std::thread([shared = shared_, number, work = std::move(work)] {
            json answer = carry_out(work);
            const std::lock_guard lock(shared->mutex);
            shared->finished.push_back({number, std::move(answer)});
            ::eventfd_write(shared->ready.get(), 1);
        }).detach();
    } catch (const std::system_error& error) {
        return fail(std::string("cannot start a thread: ") + error.what());
    }
    pending_.emplace(number, std::move(pending));
    return {};
}

std::vector<json> Workers::take_answers() {
    std::vector<Finished> finished;
    {
        const std::lock_guard lock(shared_->mutex);
        eventfd_t count = 0;
        ::eventfd_read(shared_->ready.get(), &count);
        finished.swap(shared_->finished);
    }
    std::vector<json> answers;
    for (Finished& result : finished) {
        const auto pending = pending_.extract(result.number);
        const Pending& request = pending.mapped();
        if (!request.overdue) {
            answers.push_back(with_id(request.id, std::move(result.answer)));
            continue;
        }
        json& late = result.answer;
        late["event"] = "late";
        late["of"] = request.id;
        late["waited_us"] = to_us(Clock::now() - request.started);
        answers.push_back(std::move(late));
    }
    return answers;
}

std::vector<json> Workers::take_overdue() {
    const auto now = Clock::now();
    std::vector<json> answers;
    for (auto& [number, request] : pending_) {
        if (!request.overdue && request.deadline && now >= *request.deadline) {
            request.overdue = true;
            json answer = failure("has not returned from the kernel within its time-out");
            answer["timed_out"] = true;
            answers.push_back(with_id(request.id, std::move(answer)));
        }
    }
    return answers;
}

std::optional<Clock::time_point> Workers::next_deadline() const {
    std::optional<Clock::time_point> next;
    for (const auto& [number, request] : pending_) {
        if (!request.overdue && request.deadline && (!next || *request.deadline < *next)) {
            next = request.deadline;
        }
    }
    return next;
}

}  // namespace hp::agent
