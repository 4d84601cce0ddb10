#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# interrupts.sh BDF [more]: note how many interrupts the GPU has raised; with `more`, wait up to 10 s until the kernel has handled another
# one since then.

count() {
    for irq in "/sys/bus/pci/devices/$1/msi_irqs"/*; do
        sed -n "s/^ *${irq##*/}: *//p" /proc/interrupts
    done | awk '{ for (i = 1; i <= NF && $i ~ /^[0-9]+$/; i++) sum += $i } END { print sum + 0 }'
}

if [ "$2" != more ]; then
    count "$1" >/tmp/interrupts
    exit
fi
for _ in $(seq 100); do
    [ "$(count "$1")" -gt "$(cat /tmp/interrupts)" ] && exit
    sleep 0.1
done
echo "no interrupt in 10 s, after $(cat /tmp/interrupts)"
exit 1
