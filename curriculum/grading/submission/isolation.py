"""The boxes that a submission can run in: bubblewrap's, or one that we build of the same parts.

In either are the system's programs, the interpreter, and a copy of the package in which there are
no solutions; nothing of it can be written but a small /tmp in memory, and there is no network.
Whoever starts us, the code in the box has no privileges. When whoever started it ends, however it
ends, so does every process in the box.
"""

from __future__ import annotations

import functools
import os
import random
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

BUBBLEWRAP, UNSHARE, LIMITS = "bubblewrap", "unshare", "limits only"
NEEDED = {
    BUBBLEWRAP: ("bwrap", "setpriv"),
    UNSHARE: ("unshare", "setpriv", "chroot", "mount", "sh"),
}
PACKAGE, SITE = "/grade", "/site"
PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
OUTER_IDS = range(1_000_000_000, 1_900_000_000)  # nobody's; a fresh one counts its own processes
SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "usr")
TMP_BYTES = 64 << 20
PROBE_SECONDS = 20
ENV = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/tmp", "LANG": "C.UTF-8"}
WITHOUT_RIGHTS = ["--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"]

# $1 an empty folder, $2 the package, $3 the interpreter's folder, then what to run.
BUILD = r"""
set -eu
root=$1 package=$2 prefix=$3 site=$4 python=$5 uid=$6; shift 6
"$python" -I -S -c "$LOOPBACK" || :  # for exercises that serve themselves; it leads nowhere
mount -t tmpfs -o size=16m,mode=755 box "$root"
cd "$root"
mkdir proc dev dev/shm etc tmp .@PACKAGE@ .@SITE@
for folder in @SYSTEM@; do
    if [ -L "/$folder" ]; then cp -P "/$folder" "$folder"
    elif [ -d "/$folder" ]; then mkdir "$folder"; mount --bind -o ro "/$folder" "$folder"; fi
done
case $prefix in
    /usr | /usr/*) ;;
    *) mkdir -p ".$prefix"; mount --bind -o ro "$prefix" ".$prefix" ;;
esac
if [ -f /etc/ld.so.cache ]; then cp /etc/ld.so.cache etc; fi
for device in null zero random urandom; do
    : >"dev/$device"; mount --bind "/dev/$device" "dev/$device"
done
ln -s /proc/self/fd dev/fd
mount -t proc proc proc 2>/dev/null || :
mount --bind -o ro "$package" ".@PACKAGE@"
if [ -n "$site" ]; then mount --bind -o ro "$site" ".@SITE@"; fi
mount -t tmpfs -o size=@TMP_BYTES@,mode=1777 tmp tmp
mount -t tmpfs -o size=@TMP_BYTES@,mode=1777 shm dev/shm
mount -o remount,ro box "$root"
if [ "$uid" = 0 ]; then as=; else as="--reuid=$uid --regid=$uid --clear-groups"; fi
exec chroot "$root" setpriv $as @WITHOUT_RIGHTS@ --pdeathsig KILL \
    env -u LOOPBACK sh -c 'cd /tmp; "$@"; exit $?' box "$@"
"""
for _name, _value in {
    "PACKAGE": PACKAGE,
    "SITE": SITE,
    "SYSTEM": " ".join(SYSTEM),
    "TMP_BYTES": str(TMP_BYTES),
    "WITHOUT_RIGHTS": " ".join(WITHOUT_RIGHTS),
}.items():
    BUILD = BUILD.replace(f"@{_name}@", _value)

# ip link set lo up, where there is no ip: SIOCSIFFLAGS with IFF_UP | IFF_RUNNING
LOOPBACK = """
import fcntl, socket, struct
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x41))
"""


def inside(kind: str, root: Path, package: Path, command: Sequence[str]) -> list[str]:
    """The command that runs `command` in a box of that kind; `root` is an empty folder."""
    enter = _bubblewrap(package) if kind == BUBBLEWRAP else _unshare(root, package)
    return [_which(enter[0]) or enter[0], *enter[1:], *command]


def _which(name: str) -> str | None:
    """Where a program is; the path of an ordinary user often leaves out /usr/sbin (chroot)."""
    return shutil.which(name) or shutil.which(name, path=ENV["PATH"])


def _bubblewrap(package: Path) -> list[str]:
    words = ["bwrap", "--die-with-parent", "--unshare-ipc", "--unshare-pid", "--unshare-net"]
    words += ["--unshare-uts", "--unshare-cgroup-try"]
    for name in SYSTEM:
        folder = f"/{name}"
        if os.path.islink(folder):
            words += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            words += ["--ro-bind", folder, folder]
    prefix = _prefix()
    if prefix != "/usr" and not prefix.startswith("/usr/"):
        for parent in reversed(Path(prefix).parents[:-1]):
            words += ["--perms", "0755", "--dir", str(parent)]
        words += ["--ro-bind", prefix, prefix]
    words += ["--perms", "0755", "--dir", "/etc"]
    words += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    words += ["--proc", "/proc", "--dev", "/dev", "--ro-bind", str(package), PACKAGE]
    if site := packages():
        words += ["--ro-bind", site, SITE]
    for folder in ("/tmp", "/dev/shm"):
        words += ["--perms", "1777", "--size", str(TMP_BYTES), "--tmpfs", folder]
    words += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]
    if os.geteuid() != 0:
        return [*words, "--unshare-user"]
    uid = _fresh_id()
    return [
        *(*words, "setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"),
        *WITHOUT_RIGHTS,
    ]


def _unshare(root: Path, package: Path) -> list[str]:
    is_root = os.geteuid() == 0
    user = [] if is_root else ["--user", "--map-root-user"]
    spaces = ["--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--propagation=private"]
    given = [
        str(root),
        str(package),
        _prefix(),
        packages(),
        PYTHON,
        _fresh_id() if is_root else "0",
    ]
    enter = ["setpriv", "--pdeathsig", "KILL", "unshare", "--kill-child", *user, *spaces]
    return [*enter, "env", f"LOOPBACK={LOOPBACK}", "sh", "-c", BUILD, "box", *given]


def _fresh_id() -> str:
    return str(random.SystemRandom().choice(OUTER_IDS))


def _prefix() -> str:
    return os.path.realpath(sys.base_prefix)


def packages() -> str:
    """Where our own environment keeps its packages; empty if the curriculum is among them."""
    folder = os.path.realpath(sysconfig.get_path("purelib"))
    hides = not os.path.exists(os.path.join(folder, "curriculum"))
    return folder if hides and os.path.isdir(folder) else ""


def best_box() -> str:
    """The first kind that works here; empty if none does."""
    return next((kind for kind in (BUBBLEWRAP, UNSHARE) if not why_not(kind)), "")


@functools.cache
def why_not(kind: str) -> str:
    """Why there can be no box of that kind here; empty if there can. Tried once."""
    absent = [name for name in NEEDED[kind] if not _which(name)]
    if absent:
        return f"there is no {', '.join(absent)}"
    with tempfile.TemporaryDirectory() as name:
        root, package = Path(name, "root"), Path(name, "package")
        root.mkdir()
        package.mkdir()
        try:
            done = subprocess.run(
                inside(kind, root, package, [PYTHON, "-I", "-S", "-c", "import json; print('in')"]),
                env=ENV,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PROBE_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired) as fault:
            return str(fault)
    if done.stdout == b"in\n":
        return ""
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return f"it does not work here: {said[-1] if said else 'the system does not allow it'}"
