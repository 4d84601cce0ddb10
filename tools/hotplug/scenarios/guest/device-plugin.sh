#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# device-plugin.sh BDF: what a daemon does that offers GPUs to others: have /dev/kfd open and listen to the kernel's events. On a line of
# stdin, "removed" or "added", say whether the events tell of it within 10 s; end well at the end of stdin.

exec 7<>/dev/kfd || exit
: >/tmp/uevents
uevent sh -c 'echo "$ACTION $SUBSYSTEM $DEVPATH" >>/tmp/uevents' &
listener=$!
trap 'kill $listener; exit 0' TERM

told() {  # EVENT of the PCI device, and of its DRM devices
    for _ in $(seq 100); do
        grep -q "^$2 pci .*/$1\$" /tmp/uevents && grep -q "^$3 drm .*/$1/drm/renderD" /tmp/uevents && return
        usleep 100000
    done
    return 1
}

# The listener is there when it hears an event that is made for it.
until [ -s /tmp/uevents ]; do
    echo change >"/sys/bus/pci/devices/$1/uevent"
    usleep 100000
done
echo '{"state":"ready"}'
while read -r line; do
    case $line in
        removed) told "$1" remove remove ;;
        added) told "$1" bind add ;;
    esac
    echo "{\"state\":\"$line\",\"bad\":$?}"
done
kill $listener
