#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# used-memory.sh FILE: wait until KFD counts as much used system memory as FILE says. There is no event to wait for; it may take 10 s.

for _ in $(seq 100); do
    grep -i 'system mem used' /sys/kernel/debug/kfd/mem_limit >/tmp/used.now
    cmp -s "$1" /tmp/used.now && exit
    sleep 0.1
done
diff "$1" /tmp/used.now
