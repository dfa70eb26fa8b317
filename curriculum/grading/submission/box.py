"""The box that a submission runs in: its own root folder, processes and no network.

In it are the system's programs, the interpreter, and a copy of the package in which there are no
solutions; nothing of it can be written but a small /tmp in memory. Whoever starts us, the code in
the box has no privileges, and when the box is closed every process in it is gone. It takes
`unshare`, `setpriv` (util-linux) and a kernel that lets us; `missing()` says what is not there.
"""

from __future__ import annotations

import contextlib
import functools
import os
import random
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from curriculum.grading.cli.catalogue import ROOT

PACKAGE, SITE = "/grade", "/site"
LEFT_OUT = ("solutions.py", "__pycache__", "mino", "hints.toml")
NEEDED = ("unshare", "setpriv", "chroot", "mount", "sh")
PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
OUTER_IDS = range(1_000_000_000, 1_900_000_000)  # nobody's; a fresh one counts its own processes

# $1 an empty folder, $2 the package, $3 the interpreter's folder, then what to run.
BUILD = r"""
set -eu
root=$1 package=$2 prefix=$3 site=$4 python=$5 uid=$6; shift 6
"$python" -I -S -c "$LOOPBACK" || :  # for exercises that serve themselves; it leads nowhere
mount -t tmpfs -o size=16m,mode=755 box "$root"
cd "$root"
mkdir proc dev dev/shm etc tmp .@PACKAGE@ .@SITE@
for folder in bin sbin lib lib32 lib64 usr; do
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
mount -t tmpfs -o size=64m,mode=1777 tmp tmp
mount -t tmpfs -o size=64m,mode=1777 shm dev/shm
mount -o remount,ro box "$root"
if [ "$uid" = 0 ]; then as=; else as="--reuid=$uid --regid=$uid --clear-groups"; fi
exec chroot "$root" setpriv $as --no-new-privs --inh-caps=-all --bounding-set=-all \
    env -u LOOPBACK sh -c 'cd /tmp; "$@"; exit $?' box "$@"
""".replace("@PACKAGE@", PACKAGE).replace("@SITE@", SITE)

# ip link set lo up, where there is no ip: SIOCSIFFLAGS with IFF_UP | IFF_RUNNING
LOOPBACK = """
import fcntl, socket, struct
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x41))
"""


class Box:
    """A folder with the copy of the package, and the processes that run on it, one at a time."""

    def __init__(self, folder: Path) -> None:
        self._root, self._package = folder / "root", folder / "package"
        self._root.mkdir()
        copy_package(self._package)

    def put(self, lesson: str, text: bytes) -> None:
        """The submitted exercises of a lesson; they are all that is taken from a submission."""
        (self._package / "curriculum" / "lessons" / lesson / "exercises.py").write_bytes(text)

    def put_hidden(self, folder: Path) -> list[str]:
        """The instructor's private tests; returns the names of their modules."""
        target = self._package / "hidden_tests"
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(folder, target, ignore=ignore)
        (target / "__init__.py").touch()
        return [f"hidden_tests.{path.stem}" for path in sorted(target.glob("test*.py"))]

    def start(
        self, code: str, words: Sequence[str], fd: int, isolated: bool = True
    ) -> subprocess.Popen[bytes]:
        """Run `code` by a bare Python with the package on its path; `fd` stays open in it."""
        package = PACKAGE if isolated else str(self._package)
        site = SITE if isolated else _packages()
        code = f"import sys; sys.path[:0] = [{package!r}]; sys.path += [{site!r}]; {code}"
        command = [PYTHON, "-I", "-S", "-B", "-c", code, *words]
        return subprocess.Popen(
            [*self._entry(), *command] if isolated else command,
            cwd=self._package,
            env={
                "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
                "HOME": "/tmp",
                "LANG": "C.UTF-8",
                "LOOPBACK": LOOPBACK,
            },
            pass_fds=[fd],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _entry(self) -> list[str]:
        user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        uid = "0" if user else str(random.SystemRandom().choice(OUTER_IDS))
        spaces = ["--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--propagation=private"]
        prefix = os.path.realpath(sys.base_prefix)
        given = [str(self._root), str(self._package), prefix, _packages(), PYTHON, uid]
        return ["unshare", *user, *spaces, "sh", "-c", BUILD, "box", *given]


def _packages() -> str:
    """Where our own environment keeps its packages; empty if the curriculum is among them."""
    folder = os.path.realpath(sysconfig.get_path("purelib"))
    hides = not os.path.exists(os.path.join(folder, "curriculum"))
    return folder if hides and os.path.isdir(folder) else ""


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it has started: its box with it, if it is in one."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    with contextlib.suppress(OSError):
        for pid in children.read_text().split():
            os.kill(int(pid), signal.SIGKILL)  # the first process of the box: the kernel ends all
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdin:
        with contextlib.suppress(OSError):
            process.stdin.close()


def copy_package(target: Path) -> None:
    """The package without the answers, readable for everybody."""
    ignore = shutil.ignore_patterns(*LEFT_OUT)
    shutil.copytree(ROOT / "curriculum", target / "curriculum", ignore=ignore)
    for path in (target, *target.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


@functools.cache
def missing() -> str:
    """Why submissions cannot be isolated here; empty if they can. Tried once."""
    absent = [name for name in NEEDED if not shutil.which(name)]
    if absent:
        return f"there is no {', '.join(absent)}"
    import tempfile

    reading, writing = os.pipe()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "root").mkdir()
        (folder / "package").mkdir()
        box = Box.__new__(Box)
        box._root, box._package = folder / "root", folder / "package"
        process = box.start("import os; os.write(int(sys.argv[1]), b'in')", [str(writing)], writing)
        os.close(writing)
        said = os.read(reading, 2)
        os.close(reading)
        stop(process)
    return "" if said == b"in" else "the system does not allow new namespaces"
