// Open files (process.h).
#include <sys/resource.h>

#include "worker/os/process.h"

bool os_files_allow(long count, Error *err) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return error_errno(err, "cannot read the limit of open files");
    if (files.rlim_cur >= (rlim_t)count)
        return true;
    if (files.rlim_max < (rlim_t)count)
        return error_set(err, 0, "too_few_files",
                         "%ld open files are needed, but the limit is %ld; raise it with ulimit -n",
                         count, (long)files.rlim_max);
    files.rlim_cur = (rlim_t)count;
    if (setrlimit(RLIMIT_NOFILE, &files) != 0)
        return error_errno(err, "cannot allow %ld open files", count);
    return true;
}
