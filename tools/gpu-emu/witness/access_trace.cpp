// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/witness/access_trace.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <limits>
#include <system_error>

#include "lib/clock.h"
#include "lib/log.h"

namespace gpuemu {
namespace {

/// A record is in the file at the latest after that long, whatever the load.
constexpr auto flush_interval = std::chrono::milliseconds(50);

/// 0 or errno.
int write_all(int fd, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) {
            return errno;
        }
        bytes = bytes.subspan(written > 0 ? static_cast<size_t>(written) : 0);
    }
    return 0;
}

/// All from `offset` on; 0 or errno.
int copy_from(int from, size_t offset, int to) {
    auto at = static_cast<off_t>(offset);
    while (true) {
        const ssize_t copied = ::sendfile(to, from, &at, std::numeric_limits<int>::max());
        if (copied == 0) {
            return 0;
        }
        if (copied < 0 && errno != EINTR) {
            return errno;
        }
    }
}

TraceHeader make_header(std::string_view profile) {
    TraceHeader header{};
    header.magic = trace_magic;
    header.version = trace_version;
    header.record_size = sizeof(TraceRecord);
    header.start_monotonic_ns = hp::monotonic_ns();
    header.start_realtime_ns =
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                  std::chrono::system_clock::now().time_since_epoch())
                                  .count());
    std::copy_n(profile.begin(), std::min(profile.size(), header.profile.size() - 1),
                header.profile.begin());
    return header;
}

}  // namespace

AccessTrace::AccessTrace(const std::string& path, std::string_view profile, size_t capacity,
                         size_t limit)
    : path_(path),
      header_(make_header(profile)),
      file_(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)),
      capacity_(capacity),
      limit_(limit) {
    struct stat status {};
    if (!file_ || ::fstat(file_.get(), &status) != 0) {
        throw std::system_error(errno, std::generic_category(), "cannot write trace " + path);
    }
    if (!S_ISREG(status.st_mode)) {
        limit_ = std::numeric_limits<size_t>::max();  // a pipe or a device keeps nothing
    } else if (capacity_ * sizeof(TraceRecord) > limit_ / 4) {
        throw std::system_error(EINVAL, std::generic_category(), "too small a limit of " + path);
    }
    if (const int error = write_all(file_.get(), std::as_bytes(std::span(&header_, 1)))) {
        throw std::system_error(error, std::generic_category(), "cannot write trace " + path);
    }
    size_ = sizeof header_;
    filling_.reserve(capacity_);
    writer_ = std::thread([this] { write_loop(); });
}

AccessTrace::~AccessTrace() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
    writer_.join();
    if (dropped_ != 0) {
        hp::log::warning("trace is incomplete", {{"records_lost", dropped_}});
    }
}

void AccessTrace::record(const TraceRecord& record) {
    const std::lock_guard lock(mutex_);
    put(record);
}

void AccessTrace::mark(std::string_view label) {
    const std::lock_guard lock(mutex_);
    do {
        const std::string_view part = label.substr(0, mark_bytes);
        label.remove_prefix(part.size());
        TraceRecord record{};
        record.time_ns = hp::monotonic_ns();
        std::array<char, mark_bytes> text{};
        std::copy(part.begin(), part.end(), text.begin());
        std::memcpy(&record.offset, text.data(), sizeof record.offset);
        std::memcpy(&record.value, text.data() + sizeof record.offset, sizeof record.value);
        record.size = static_cast<uint32_t>(part.size());
        record.kind = TraceKind::mark;
        record.region = no_region;
        record.flags = label.empty() ? 0 : mark_continues;
        put(record);
    } while (!label.empty());
}

uint64_t AccessTrace::dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
}

void AccessTrace::put(const TraceRecord& record) {
    const uint64_t untold = dropped_ - dropped_told_;
    if (filling_.size() + (untold != 0 ? 2 : 1) > capacity_) {
        ++dropped_;
        return;
    }
    if (untold != 0) {
        filling_.push_back({.time_ns = record.time_ns,
                            .offset = 0,
                            .value = untold,
                            .size = 0,
                            .kind = TraceKind::dropped,
                            .region = no_region,
                            .flags = 0});
        dropped_told_ = dropped_;
    }
    filling_.push_back(record);
    if (writer_sleeps_ || filling_.size() == capacity_ / 2) {
        writer_sleeps_ = false;
        wake_.notify_one();
    }
}

int AccessTrace::append(std::span<const TraceRecord> records) {
    const auto bytes = std::as_bytes(records);
    if (size_ + bytes.size() > limit_) {
        if (const int error = forget()) {
            return error;
        }
    }
    if (const int error = write_all(file_.get(), bytes)) {
        // What follows has to begin where a record may. A pipe has no such place.
        const bool whole = ::ftruncate(file_.get(), static_cast<off_t>(size_)) == 0 &&
                           ::lseek(file_.get(), static_cast<off_t>(size_), SEEK_SET) >= 0;
        return whole || errno == EINVAL || errno == ESPIPE ? error : errno;
    }
    size_ += bytes.size();
    return 0;
}

/// Keeps the later half. Readers, and a killed emulator, have either the old file or the new one.
int AccessTrace::forget() {
    const size_t kept = limit_ / 2 / sizeof(TraceRecord) * sizeof(TraceRecord);
    const size_t begin = size_ - kept;
    TraceRecord first{};
    if (::pread(file_.get(), &first, sizeof first, static_cast<off_t>(begin)) != sizeof first) {
        return EIO;
    }
    const size_t before = (begin - sizeof header_) / sizeof(TraceRecord);
    const uint64_t forgotten = forgotten_ + before - (forgotten_ != 0 ? 1 : 0);  // itself one
    const TraceRecord note = {.time_ns = first.time_ns,
                              .offset = 0,
                              .value = forgotten,
                              .size = 0,
                              .kind = TraceKind::forgotten,
                              .region = no_region,
                              .flags = 0};
    const std::string path = path_ + ".shorter";
    hp::Fd shorter(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!shorter) {
        return errno;
    }
    int error = write_all(shorter.get(), std::as_bytes(std::span(&header_, 1)));
    error = error != 0 ? error : write_all(shorter.get(), std::as_bytes(std::span(&note, 1)));
    error = error != 0 ? error : copy_from(file_.get(), begin, shorter.get());
    if (error == 0 && std::rename(path.c_str(), path_.c_str()) != 0) {
        error = errno;
    }
    if (error != 0) {
        ::unlink(path.c_str());
        return error;
    }
    file_ = std::move(shorter);
    size_ = sizeof header_ + sizeof note + kept;
    forgotten_ = forgotten;
    return 0;
}

void AccessTrace::write_loop() {
    // Signals are the loop's business (signalfd in another thread would not see one delivered
    // here).
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);

    std::vector<TraceRecord> writing;
    writing.reserve(capacity_);
    std::unique_lock lock(mutex_);
    while (true) {
        writer_sleeps_ = true;
        wake_.wait(lock, [this] { return stopping_ || !filling_.empty(); });
        writer_sleeps_ = false;
        wake_.wait_for(lock, flush_interval,
                       [this] { return stopping_ || filling_.size() >= capacity_ / 2; });
        if (filling_.empty()) {
            return;  // it stops
        }
        std::swap(filling_, writing);
        lock.unlock();
        const int error = append(writing);
        lock.lock();
        if (error != 0) {
            dropped_ += writing.size();
            hp::log::error("cannot write the trace, records are lost",
                           {{"error", std::strerror(error)}, {"records", writing.size()}});
        }
        writing.clear();
    }
}

}  // namespace gpuemu
