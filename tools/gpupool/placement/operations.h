// SPDX-License-Identifier: GPL-2.0
// Purpose: what can be done to the books: by people, by the driver, by the hardware. Each changes
// the books or refuses and leaves them as they were; each ends with settle(), so that books that
// were written down have nothing left that only waits for somebody to look.
// Thread: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpupool/placement/books.h"
#include "gpupool/placement/refusal.h"
#include "gpupool/placement/rules.h"
#include "gpupool/placement/step.h"

namespace gpupool {

Outcome<void> create_pool(Books& books, const Caller& caller, Pool pool);
/// The new GPU's name. `profile`: of the board; empty: the pool's.
Outcome<std::string> add_gpu(Books& books, const Caller& caller, const std::string& pool,
                             uint64_t serial, const std::string& profile);
/// Whether there could be such a VM.
Outcome<void> check_vm(const Vm& vm);
/// `owner` may start it and lease for it. Only an admin says what a VM is: QEMU reads what the
/// definition names with the daemon's rights.
Outcome<void> declare_vm(Books& books, const Caller& caller, Vm vm);
Outcome<void> start_vm(Books& books, const Caller& caller, const std::string& name);
Outcome<void> stop_vm(Books& books, const Caller& caller, const std::string& name);

struct LeaseOptions {
    unsigned count = 1;
    bool queue = true;  // when not all of them are free; false: refused as exhausted
};
/// One lease for each GPU, all or none.
Outcome<std::vector<LeaseId>> lease(Books& books, const Caller& caller, const std::string& pool,
                                    const std::string& vm, const LeaseOptions& options);
Outcome<void> give_back(Books& books, const Caller& caller, LeaseId id);
/// A GPU that somebody found broken. `epoch`: of which tenancy; nothing: of the present one.
Outcome<void> fail_gpu(Books& books, const Caller& caller, const std::string& name,
                       std::optional<uint64_t> epoch, const std::string& reason);
/// Another GPU for the lease that has this one: `with`, or any that is free. A degraded lease is
/// named by the GPU that it lost no more: it is served by itself.
Outcome<std::string> replace_gpu(Books& books, const Caller& caller, const std::string& name,
                                 const std::string& with);
Outcome<void> take_offline(Books& books, const Caller& caller, const std::string& name);
/// Takes the flag back, or tests a GPU that is in quarantine: it is scrubbed, and free if that
/// works.
Outcome<void> bring_online(Books& books, const Caller& caller, const std::string& name);
/// One that is in quarantine, for good.
Outcome<void> retire_gpu(Books& books, const Caller& caller, const std::string& name);

// What the driver says. What is not due (any more) changes nothing: false.
bool step_done(Books& books, const Step& step, const std::string& detail);
/// What made a step fail: a VM that ended in the middle of it says nothing of the board.
enum class Blame { board, vm };
/// A scrub, attach or detach that fails is the board's failure, a start the VM's end. What a VM is
/// to blame for stays due until vm_ended(), and so does a pull or stop that fails: there is nothing
/// to do but to try it again.
bool step_failed(Books& books, const Step& step, Blame blame, const std::string& reason);
bool board_failed(Books& books, const std::string& gpu, uint64_t epoch, const std::string& reason);
bool vm_ended(Books& books, const std::string& vm, uint64_t incarnation, const std::string& reason);
/// The machine restarted: no VM runs, no board has power, whatever the books say.
void machine_restarted(Books& books, const std::string& boot_id);

/// Something that happened outside the pool, for who reads its events: "cluster-fencing".
Outcome<void> note(Books& books, const Caller& caller, const std::string& what,
                   const std::string& detail);

/// All that follows by itself: a new GPU is scrubbed, a lease that waits gets a free one, a
/// reserved one a slot, and what has waited too long is given up.
void settle(Books& books);

}  // namespace gpupool
