#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# rebind.sh BDF TIMES: bind the driver so many times; unbind it and reset the function in between. It stays bound if the last time succeeds. Fail
# unless one does.

cd /sys/bus/pci/drivers/amdgpu || exit
status=1
for time in $(seq "$2"); do
    [ ! -e "$1" ] || echo "$1" >unbind
    [ "$time" = 1 ] || echo 1 >"/sys/bus/pci/devices/$1/reset"
    echo "$1" >bind && status=0
done
exit $status
