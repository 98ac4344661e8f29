/* Fails, shortens or kills at the n-th system call that changes a file below a folder; loaded by LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { KILL = 1000, SHORT = 1001 }; /* any smaller number is an errno */
static char root[PATH_MAX];
static int chosen, effect;
static atomic_int calls;

/* Start counting; `at` 0 only counts. */
void fault_arm(const char *folder, int at, int what) {
    snprintf(root, sizeof root, "%s", folder);
    chosen = at, effect = what, calls = 0;
}

int fault_count(void) { return calls; }

static int below(const char *path) { return *root && !strncmp(path, root, strlen(root)); }

static int fd_below(int fd) {
    char link[64], path[PATH_MAX];
    if (!*root) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return below(path);
}

static int at_below(int folder, const char *path) {
    return *path == '/' || folder == AT_FDCWD ? below(path) : fd_below(folder);
}

/* Count a call; return 0 to let it happen, -1 to fail it, 1 to shorten it. A full disk stays full. */
static int decide(int allocates) {
    int number = ++calls;
    int lasting = (effect == ENOSPC || effect == EDQUOT) && number > chosen;
    if (!chosen || !(number == chosen || lasting)) return 0;
    if (effect == KILL) kill(getpid(), SIGKILL);
    if (effect == SHORT) return 1;
    if ((effect == ENOSPC || effect == EDQUOT) && !allocates) return 0;
    errno = effect;
    return -1;
}

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))
#define CHANGES(flags) ((flags) & (O_CREAT | O_TRUNC) || ((flags) & O_ACCMODE) != O_RDONLY)
#define MODE(flags) va_list list; va_start(list, flags); mode_t mode = va_arg(list, mode_t); va_end(list)

#define OPEN(name)                                                                        \
    int name(const char *path, int flags, ...) {                                          \
        MODE(flags);                                                                      \
        if (CHANGES(flags) && below(path) && decide(flags & O_CREAT) < 0) return -1;      \
        return REAL(name)(path, flags, mode);                                             \
    }
#define OPENAT(name)                                                                      \
    int name(int folder, const char *path, int flags, ...) {                              \
        MODE(flags);                                                                      \
        if (CHANGES(flags) && at_below(folder, path) && decide(flags & O_CREAT) < 0) return -1; \
        return REAL(name)(folder, path, flags, mode);                                     \
    }
#define ON_PATH(name, allocates, types, path, ...)                                        \
    int name types {                                                                      \
        if (below(path) && decide(allocates) < 0) return -1;                              \
        return REAL(name)(__VA_ARGS__);                                                   \
    }
#define ON_AT(name, allocates, types, folder, path, ...)                                  \
    int name types {                                                                      \
        if (at_below(folder, path) && decide(allocates) < 0) return -1;                   \
        return REAL(name)(__VA_ARGS__);                                                   \
    }
#define ON_FD(name, allocates, types, ...)                                                \
    int name types {                                                                      \
        if (fd_below(fd) && decide(allocates) < 0) return -1;                             \
        return REAL(name)(__VA_ARGS__);                                                   \
    }
#define TRANSFER(name, types, fd, size, ...)                                              \
    ssize_t name types {                                                                  \
        int decision = fd_below(fd) ? decide(1) : 0;                                      \
        if (decision < 0) return -1;                                                      \
        if (decision > 0 && size > 1) size /= 2;                                          \
        return REAL(name)(__VA_ARGS__);                                                   \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
ON_PATH(rename, 1, (const char *from, const char *to), to, from, to)
ON_AT(renameat, 1, (int a, const char *from, int b, const char *to), b, to, a, from, b, to)
ON_PATH(link, 1, (const char *from, const char *to), to, from, to)
ON_AT(linkat, 1, (int a, const char *from, int b, const char *to, int flags), b, to, a, from, b, to, flags)
ON_PATH(symlink, 1, (const char *from, const char *to), to, from, to)
ON_PATH(unlink, 0, (const char *path), path, path)
ON_AT(unlinkat, 0, (int folder, const char *path, int flags), folder, path, folder, path, flags)
ON_PATH(rmdir, 0, (const char *path), path, path)
ON_PATH(mkdir, 1, (const char *path, mode_t mode), path, path, mode)
ON_AT(mkdirat, 1, (int folder, const char *path, mode_t mode), folder, path, folder, path, mode)
ON_PATH(chmod, 0, (const char *path, mode_t mode), path, path, mode)
ON_AT(fchmodat, 0, (int folder, const char *path, mode_t mode, int flags), folder, path, folder, path, mode, flags)
ON_FD(fchmod, 0, (int fd, mode_t mode), fd, mode)
ON_FD(futimens, 0, (int fd, const struct timespec times[2]), fd, times)
ON_AT(utimensat, 0, (int folder, const char *path, const struct timespec times[2], int flags), folder, path,
      folder, path, times, flags)
ON_PATH(truncate64, 1, (const char *path, off64_t size), path, path, size)
ON_FD(ftruncate, 1, (int fd, off_t size), fd, size)
ON_FD(ftruncate64, 1, (int fd, off64_t size), fd, size)
ON_FD(fsync, 1, (int fd), fd)
ON_FD(fdatasync, 1, (int fd), fd)
ON_FD(syncfs, 1, (int fd), fd)
TRANSFER(write, (int fd, const void *data, size_t size), fd, size, fd, data, size)
TRANSFER(pwrite64, (int fd, const void *data, size_t size, off64_t at), fd, size, fd, data, size, at)
TRANSFER(sendfile64, (int to, int from, off64_t *at, size_t size), to, size, to, from, at, size)
TRANSFER(copy_file_range, (int from, off64_t *a, int to, off64_t *b, size_t size, unsigned flags), to, size,
         from, a, to, b, size, flags)
