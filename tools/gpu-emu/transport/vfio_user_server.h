// SPDX-License-Identifier: GPL-2.0
// Purpose: offers a PCI function on a UNIX socket as a vfio-user device, to one client at a time,
// one after the other: QEMU connects when the device is plugged and closes when it is unplugged.
// Thread: device loop only.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <string>

#include "gpu-emu/pci/pci_function.h"
#include "gpu-emu/transport/vfio_user_connection.h"
#include "gpu-emu/transport/vfio_user_session.h"
#include "lib/acceptor.h"
#include "lib/event_loop.h"
#include "lib/fd.h"

namespace gpuemu {

class VfioUserServer {
public:
    /// Listens at once. Throws std::runtime_error with one clear line when it cannot (start-up).
    /// `loop` and `function` outlive the server.
    VfioUserServer(hp::EventLoop& loop, PciFunction& function, const std::string& socket_path,
                   VfioUserConnection::Options options = {});

    bool attached() const { return session_.attached(); }

private:
    /// A client that came while another is served; it is told so when it says hello.
    struct Refused {
        hp::Fd socket;
        hp::EventLoop::Handle watch;
        hp::EventLoop::Handle deadline;
    };

    void accept(hp::Fd socket);
    void serve(hp::Fd socket);
    void refuse(hp::Fd socket);
    void drop_refused(std::list<Refused>::iterator client);

    hp::EventLoop& loop_;
    VfioUserConnection::Options options_;
    VfioUserSession session_;
    std::unique_ptr<VfioUserConnection> connection_;
    std::list<Refused> refused_;
    hp::Acceptor acceptor_;
};

}  // namespace gpuemu
