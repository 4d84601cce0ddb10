#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# close-race.sh NODE: run IGT's close race on NODE and end it after 90 s. IGT hard-codes the name renderD128. Ready when IGT has NODE open.

unshare -m sh -c 'mount --bind "$1" /dev/dri/renderD128 && exec timeout -s KILL 90 \
    /usr/libexec/igt-gpu-tools/amdgpu/amd_close_race --run-subtest close-race-medium' sh "$1" &
igt=$!
until readlink /proc/[0-9]*/fd/* | grep -qx /dev/dri/renderD128; do
    kill -0 $igt || exit
    sleep 0.1
done
echo '{"state":"ready"}'
wait $igt
case $? in
    0 | 137) ;;
    *) exit 1 ;;
esac
