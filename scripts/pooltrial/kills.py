# SPDX-License-Identifier: GPL-2.0
"""PL-05: the daemon is killed before or after a commit, or a step, or at any moment, while something is always under way; after each restart
it goes on, and in the end no GPU is lost or in two leases, and none was given away twice without a scrub."""

import random
import signal
import time

from pooltrial.lines import Gone, Refused, Trouble
from pooltrial.pool import POOL

PUT_RIGHT_EVERY = 10  # kills: until then what is drawn adds up


def anything(pool, draw):
    """One operation, which may be refused, or not answered: the daemon is about to die."""
    gpus = [f"gpu{n}" for n in range(len(pool.serials))]
    vms = ("train", "other")
    lease = draw.randrange(1, pool.last_lease + 2)
    operations = [
        lambda: pool.ask("lease", 5, pool=POOL, vm=draw.choice(vms), request=f"{draw.random()}"),
        lambda: pool.ask("lease", 5, pool=POOL, vm=draw.choice(vms), count=2, queue=False),
        lambda: pool.ask("return", 5, lease=lease),
        lambda: pool.ask("return", 5, lease=max(lease, pool.last_lease)),
        lambda: pool.ask("fail", 5, gpu=draw.choice(gpus), reason="drawn"),
        lambda: pool.ask("replace", 5, gpu=draw.choice(gpus)),
        lambda: pool.ask("online", 5, gpu=draw.choice(gpus)),
    ]
    try:
        answer = draw.choice(operations)()
        pool.last_lease = max([pool.last_lease, *[made["lease"] for made in answer.get("leases", [])]])
    except (Gone, Refused):
        pass


def put_right(pool):
    """What the draw has broken works again, and who waits for nothing goes."""
    for name, gpu in pool.gpus().items():
        if gpu["state"] == "quarantined":
            pool.ask("online", gpu=name)
    for lease, row in pool.leases().items():
        if row["state"] in ("queued", "degraded"):
            pool.ask("return", lease=lease)


def row(pool, tell, count, seed):
    seed = seed if seed is not None else random.randrange(1 << 32)
    draw = random.Random(seed)
    pool.last_lease = 0
    by_fate, begin = 0, time.monotonic()
    fake = pool.driver == "fake"
    pool.settle()
    pool.stop()
    for n in range(1, count + 1):
        try:
            # Mostly at a commit or step; else in the middle of one.
            fated = draw.random() < 0.8
            pool.start(die_at=draw.randrange(1, 25) if fated else None)
            deadline = time.monotonic() + (5 if fake else 20)
            moment = time.monotonic() + draw.random() * (0.2 if fake else 4)
            pool.patience = 0.05
            while not pool.died(0) and time.monotonic() < (deadline if fated else moment):
                anything(pool, draw)
            by_fate += pool.died(0)
            pool.stop(signal.SIGKILL)
            pool.patience = 10
            pool.start()
            pool.up()
            if n % PUT_RIGHT_EVERY == 0 or n == count:
                put_right(pool)
                pool.settle()
                put_right(pool)
                pool.settle()
                states = [gpu["state"] for gpu in pool.gpus().values()]
                if len(states) != len(pool.serials) or not set(states) <= {"free", "leased"}:
                    raise Trouble(f"a GPU is lost: {states}")
            pool.settle()
            pool.stop()
            pool.check_hardware()
        except Trouble as trouble:
            raise Trouble(f"seed {seed}, kill {n}: {trouble}") from trouble
    pool.start()
    pool.up()
    for lease in pool.leases():
        pool.give_back(lease)
    tell(f"seed {seed}: {count} kills, {by_fate} of them at a commit or a step, in {time.monotonic() - begin:.0f} s")
