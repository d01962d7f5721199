/* Heartbeats of an elastic group, for its own programs: copy this file.
 *
 *   _Atomic uint64_t *beats = sh_heartbeat_open("/run/me/beats");
 *   if (beats) atomic_fetch_add(beats, 1);   for each unit of work done
 *
 * Where the compiler is to be strict (-std=c11), include it before all others.
 * The agent adds up the page's counters (smartharvest/telemetry/heartbeat.py). */
#ifndef SH_HEARTBEAT_H
#define SH_HEARTBEAT_H

#if defined(__STRICT_ANSI__) && !defined(_GNU_SOURCE) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static inline _Atomic uint64_t *sh_heartbeat_open(const char *path) {
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    void *page = file < 0 || lseek(file, 0, SEEK_END) > 4096 || ftruncate(file, 4096)
                     ? MAP_FAILED
                     : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    return page == MAP_FAILED ? NULL : page;
}

#endif
