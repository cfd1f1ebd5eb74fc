#!/usr/bin/env bash
# The image is what its format asks for, and its command serves: skopeo reads it as a runtime would,
# umoci unpacks it, and nvcached answers under the user that the image names.
#
# usage: image_test.sh LAYOUT:TAG    (tools/package_lane.sh calls it, as root)
set -euo pipefail
image=$1
cd "$(dirname "$0")/../.."
. tests/packages/scratch.sh

# Words of its configuration, a line each.
config() { python3 -c 'import json, sys
for name in sys.argv[2:]:
    value = json.load(open(sys.argv[1]))["config"][name]
    print(value if isinstance(value, str) else "\n".join(value))' "$work/config" "$@"; }
skopeo inspect "oci:$image" > "$work/inspect"
skopeo inspect --config "oci:$image" > "$work/config"
# Each blob is read, and compared with its digest.
skopeo copy --quiet "oci:$image" "dir:$work/copy"
cp -r "${image%:*}" "$work/damaged"
layer=$(find "$work/damaged/blobs" -type f -size +1M | head -n 1)
printf 'x' | dd of="$layer" bs=1 seek=100000 conv=notrunc status=none
if skopeo copy --quiet "oci:$work/damaged:${image##*:}" "dir:$work/other" 2> /dev/null; then
  fail "a damaged layer was let pass"
fi

umoci unpack --image "$image" "$work/bundle" > "$work/log" 2>&1 || fail "$(cat "$work/log")"
root=$work/bundle/rootfs
user=$(config User)
mapfile -t command < <(config Entrypoint Cmd)
port=$(python3 -c 'import socket
print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
tools/debian_root.sh run "$root" setpriv --reuid "${user%:*}" --regid "${user#*:}" --clear-groups \
  "${command[@]/#0.0.0.0/127.0.0.1}" -p "$port" 2> "$work/log" &
server=$!
python3 - "$port" "$server" << 'PYTHON' || fail "nvcached does not serve: $(cat "$work/log")"
import os, socket, sys, time
port, server = map(int, sys.argv[1:])
while True:
    os.kill(server, 0)  # it is an error when it has ended
    try:
        client = socket.create_connection(("127.0.0.1", port), timeout=60)
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
client.sendall(b"set a 0 0 1\r\nx\r\nget a\r\n")
with client.makefile("rb") as stream:
    assert stream.readline() == b"STORED\r\n"
    assert stream.readline() == b"VALUE a 0 1\r\n"
PYTHON
pkill -TERM -P "$server"  # unshare itself lets signals pass
wait "$server" || true
[[ -s $root/var/lib/nvcached/data ]] || fail "no item lies where the image's volume is"
echo "the image serves as user $user"
