"""Gives up what the page's server does not need: everything but two open sockets."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pwd
import resource

_PR_SET_NO_NEW_PRIVS = 38
_CAPABILITY_VERSION_3 = 0x20080522
NOBODY = "nobody"
_NICE = 10
_DESCRIPTORS = 128


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def drop_rights() -> None:
    """Becomes nobody, if this is root; can start no program, and gain nothing by one.

    A root that may not change its user (a bounding set without CAP_SETUID) gives up all its
    capabilities. Raises OSError if neither can be done: then nothing may be served.
    """
    with contextlib.suppress(OSError):
        os.nice(_NICE)
    for limit, value in (
        (resource.RLIMIT_NOFILE, _DESCRIPTORS),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(limit)[1]
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (most, most))
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0:
        entry = pwd.getpwnam(NOBODY)
        try:
            os.setgroups([])
            os.setresgid(entry.pw_gid, entry.pw_gid, entry.pw_gid)
            os.setresuid(entry.pw_uid, entry.pw_uid, entry.pw_uid)
        except PermissionError:
            _drop_capabilities(libc)
    else:
        _drop_capabilities(libc)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs was refused")
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    header = _Header(_CAPABILITY_VERSION_3, 0)
    none = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable: of 32 each, twice
    if libc.capset(ctypes.byref(header), none) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
