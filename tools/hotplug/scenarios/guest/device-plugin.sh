#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# device-plugin.sh BDF: what a daemon does that offers GPUs to others: have /dev/kfd open and listen to the kernel's events. On a line of
# stdin, "removed" or "added", say whether the events tell of it within 10 s; end well at the end of stdin.
# shellcheck disable=SC3045  # busybox's read has a timeout

rm -f /tmp/uevents
mkfifo /tmp/uevents && exec 8<>/tmp/uevents || exit
uevent sh -c 'echo "$ACTION $SUBSYSTEM $DEVPATH" >&8' &
listener=$!
trap 'kill $listener' EXIT
trap 'exit 0' TERM
# Only now, so that the listener does not have it, too.
exec 7<>/dev/kfd || exit

told() {  # EVENT of the PCI device, and of its DRM device
    pci='' drm=''
    until [ "$pci$drm" = yesyes ]; do
        read -r -t 10 action subsystem path <&8 || return
        case "$action $subsystem $path" in
            "$2 pci "*"/$1") pci=yes ;;
            "$3 drm "*"/$1/drm/renderD"*) drm=yes ;;
        esac
    done
}

# The listener is there when it hears an event that is made for it.
until echo change >"/sys/bus/pci/devices/$1/uevent" && read -r -t 1 _ <&8; do :; done
echo '{"state":"ready"}'
while read -r line; do
    case $line in
        removed) told "$1" remove remove ;;
        added) told "$1" bind add ;;
    esac
    echo "{\"state\":\"$line\",\"bad\":$?}"
done
