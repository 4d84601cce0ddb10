#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# hold-other-nodes.sh GPU_ID: hold a file open of each GPU's node of KFD's topology but that one's, until a line comes.

cd /sys/class/kfd/kfd/topology/nodes || exit
for node in *; do
    case $(cat "$node/gpu_id") in
        0 | "$1") ;;
        *) exec 7<"$node/properties" ;;
    esac
done
echo $$ >/tmp/holder
echo '{"state":"ready"}'
read -r _
