#!/usr/bin/env bash
# Try podium run on a real Debian with systemd and control groups of version 2, in a virtual machine.
#
#     tests/running/virtual_machine.sh [FOLDER [ARGUMENTS OF PYTEST]]
#
# It makes the machine's disk in FOLDER (once; 5 minutes and 4 GB), starts the machine, runs podium in every context
# in which somebody may call it, then this folder's tests as root and as a user, and prints what it has found.  The
# exit code is 1 if a limit or a test fails.  Run it as root on Debian or Ubuntu with the packages mmdebstrap,
# qemu-system-x86, e2fsprogs and openssh-client; packages come from where this machine's apt and pip get them.
# Where the processor cannot be virtualized, it is emulated.  Then it takes an hour or two: two minutes for each
# context, and the tests.
set -euo pipefail
project=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(realpath -m "${1:-/var/tmp/podium-virtual-machine}")
shift $(($# > 0))
seconds_with_kvm=60 seconds_without=1800 # until the machine has started; with KVM, it may also hang
port=$((20000 + RANDOM % 20000))
packages=systemd-sysv,dbus-user-session,libpam-systemd,udev,linux-image-amd64,initramfs-tools,python3-venv
packages+=,bubblewrap,libseccomp2,procps,git,openssh-server,policykit-1,uidmap

make_disk() {
    local root=$folder/root sources=() file home
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
        [ ! -s "$file" ] || sources+=("$file")
    done
    if [ ! -e "$root/opt" ]; then
        apt-config dump | grep '^Acquire::[^I]' >"$folder/apt.conf"
        (. /etc/os-release && mmdebstrap --variant=minbase --dpkgopt=force-unsafe-io --include="$packages" \
            --aptopt="$folder/apt.conf" "$VERSION_CODENAME" "$root" "${sources[@]}")
    fi
    (cd "$project" && python3 -m pip download -qq --only-binary=:all: -d "$root/opt/wheels" \
        --python-version "$(chroot "$root" python3 -c 'import platform; print(platform.python_version())')" \
        '.[host,notebooks,dask]' hypothesis pytest-xdist)
    chroot "$root" sh -ec 'rm -f /opt/wheels/podium-*; python3 -m venv /opt/v
        /opt/v/bin/pip install -q --no-index /opt/wheels/*.whl; rm -r /opt/wheels
        echo /opt/podium > "$(echo /opt/v/lib/python3.*/site-packages)"/podium.pth
        printf "#!/opt/v/bin/python\nfrom podium.cli import process\nprocess()\n" > /opt/v/bin/podium
        chmod +x /opt/v/bin/podium
        chmod 600 /etc/ssh/ssh_host_*_key
        useradd -m -s /bin/bash alice; passwd -qd root; passwd -qd alice; systemctl -q enable systemd-networkd
        printf "[Match]\nName=en*\n[Network]\nDHCP=yes\n" > /etc/systemd/network/20.network
        echo "/dev/vda / ext4 defaults 0 1" > /etc/fstab'
    [ -e "$folder/key" ] || ssh-keygen -q -t ed25519 -N '' -f "$folder/key"
    for home in root home/alice; do
        install -D -m 600 "$folder/key.pub" "$root/$home/.ssh/authorized_keys"
    done
    chroot "$root" chown -R alice:alice /home/alice
    truncate -s 6G "$folder/disk.part"
    mkfs.ext4 -q -F -d "$root" "$folder/disk.part"
    cp "$root"/boot/vmlinuz-* "$folder/kernel"
    cp "$root"/boot/initrd.img-* "$folder/initrd"
    mv "$folder/disk.part" "$folder/disk.img"
    rm -r "$root"
}

as() { # USER COMMAND…
    ssh -i "$folder/key" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR \
        -o ConnectTimeout=10 -o ControlMaster=auto -o ControlPersist=600 -o "ControlPath=$folder/%r" -p "$port" "$1@127.0.0.1" "${@:2}"
}

stop() { kill "$(cat "$folder/qemu.pid" 2>/dev/null)" 2>/dev/null || true; }

start() { # ACCELERATOR SECONDS
    local end=$((SECONDS + $2)) cpu=max
    # The emulator's AVX2 crashes numpy's argsort.
    [ "$1" = kvm ] || cpu+=,-avx2
    qemu-system-x86_64 -accel "$1" -cpu "$cpu" -smp 2 -m 4G -snapshot -drive "file=$folder/disk.img,format=raw,if=virtio" \
        -kernel "$folder/kernel" -initrd "$folder/initrd" -append 'root=/dev/vda rw console=ttyS0' \
        -nic "user,restrict=on,hostfwd=tcp:127.0.0.1:$port-:22,model=virtio-net-pci" -device virtio-rng-pci \
        -display none -serial "file:$folder/serial.log" -pidfile "$folder/qemu.pid" -daemonize || return 1
    until as root true 2>/dev/null; do
        [ "$SECONDS" -lt "$end" ] || { stop; return 1; }
        sleep 2
    done
}

mkdir -p "$folder"
[ -e "$folder/disk.img" ] || make_disk
trap stop EXIT
{ [ -w /dev/kvm ] && start kvm "$seconds_with_kvm"; } || start tcg,thread=multi "$seconds_without"
echo "the machine runs after ${SECONDS}s: $(as root 'uname -sr; systemctl --version | head -n 1' | paste -sd' ')"
(cd "$project" && git ls-files -z | tar c --null -T -) | as root 'mkdir -p /opt/podium && tar x -C /opt/podium
    chown -R root:root /opt/podium; chmod -R a+rX /opt/podium; mkdir -m 1777 /probe'

# A model that asks how many cores it has, and takes 600 MB in ten processes, which only a group sees.
as root 'mkdir -p /opt/probe /opt/data; cat > /opt/probe/run.py' <<'PYTHON'
import os, time
try:
    os.sched_setaffinity(0, range(os.cpu_count()))
except OSError:
    pass
print("cores:", len(os.sched_getaffinity(0)), flush=True)
for _ in range(10):
    if os.fork() == 0:
        block = b"x" * 60_000_000
        time.sleep(10)
        os._exit(0)
codes = [os.wait()[1] for _ in range(10)]
assert not any(codes)
open("submission.csv", "w").write("a\n1\n")
PYTHON

failures=0 skipped=0
try() { # USER EXPECTED LABEL COMMAND…: run the model in a context; EXPECTED is "limits" or "warning"
    local user=$1 expected=$2 label=$3 found
    if ! as "$user" "${*:4} true" >&2; then
        printf '%-62s %-9s %s\n' "$label" "$expected" "skipped: this machine has no such context"
        skipped=$((skipped + 1))
        return
    fi
    found=$(as "$user" "${*:4} /opt/v/bin/podium run --one /opt/probe --data /opt/data" \
        "--out /probe/$RANDOM-$$-out --cores 1 --memory-limit 300M --disk-limit 50M > /probe/$user.log 2>&1; code=\$?" \
        'out=$(ls -td /probe/*-out | head -n 1); cores=$(sed -n "s/^cores: //p" $out/logs/probe/run.1.txt)
        memory=no; grep -q "^probe,.*memory limit" $out/failed.csv && memory=yes
        warning=no; grep -q "^warning: no control group" /probe/'"$user"'.log && warning=yes
        echo "$code $cores $memory $warning"') || true
    local wanted="3 1 yes no" # the exit code of a model that has failed
    [ "$expected" = limits ] || wanted="0 1 no yes"
    local verdict="as expected"
    [ "$found" = "$wanted" ] || { verdict=FAILED; failures=$((failures + 1)); as "$user" "tail -n 5 /probe/$user.log" >&2; }
    printf '%-62s %-9s %-13s %s\n' "$label" "$expected" "$found" "$verdict"
}
printf '%-62s %-9s %s\n' context expected "found (exit code, cores, limit of memory, warning)"
scope='systemd-run -q --scope'
user_scope='systemd-run -q --user --scope'
# As soon as the model has its group; the first group of podium's process is that of its trial.
reload_meanwhile="timeout 300 sh -c 'until ls -d /sys/fs/cgroup/podium-*-1; do sleep 1; done; systemctl daemon-reload'"
reload_meanwhile+=' > /dev/null 2>&1 &'
try root limits "root over ssh" ""
try root limits "root, a service without Delegate" systemd-run -q --pipe --wait
try root limits "root, systemd-run --scope" "$scope"
try root limits "root, systemd-run --scope -p Delegate=yes" "$scope -p Delegate=yes"
try root limits "root, a slice with part of the controllers" \
    "$scope --slice=machine.slice -p Delegate=memory -p Delegate=pids"
try root limits "root, after systemctl daemon-reload" "systemctl daemon-reload;"
try root limits "root, systemctl daemon-reload meanwhile" "$reload_meanwhile"
read_only="'mount -o remount,bind,ro,nosuid,nodev,noexec /sys/fs/cgroup && exec \"\$@\"' sh"
try root warning "root, groups that can only be read, as in a container" "unshare --cgroup --mount sh -c $read_only"
try alice limits "user, systemd-run --user --scope -p Delegate=yes" "$user_scope -p Delegate=yes"
try alice limits "user, the same with a shell inside" "$user_scope -p Delegate=yes sh -c '\"\$@\"; exit \$?' sh"
try alice warning "user, the same without Delegate" "$user_scope"
try alice warning "user over ssh" ""
try alice warning "user, groups that can only be read, as in rootless podman" \
    "unshare --user --map-root-user --map-auto --cgroup --mount sh -c $read_only"

[ $# -gt 0 ] || set -- -m "'slow or not slow'" tests/running
for user in root alice; do
    before=
    [ "$user" = root ] || before="$user_scope -p Delegate=yes"
    echo "the tests as $user:"
    as "$user" "cd /opt/podium && $before /opt/v/bin/python -m pytest -q -p no:cacheprovider $*" \
        || failures=$((failures + 1))
done
echo "failures: $failures, skipped contexts: $skipped, after ${SECONDS}s"
[ "$failures" = 0 ]
