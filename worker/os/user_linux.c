// See user.h. The folder is checked before its owner changes: with `--cache /` the whole system
// would get another owner.
#include "worker/os/user.h"

#include <dirent.h>
#include <ftw.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/str.h"
#include "worker/os/own_group.h"

typedef struct Account {
    uid_t uid;
    gid_t gid;
    const char *name;
} Account;

static bool find_account(Account *account, Error *err) {
    static const char *const names[] = {OS_USER, "nobody"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        // cppcheck-suppress getpwnamCalled ; there are no other threads yet
        const struct passwd *found = getpwnam(names[i]);
        if (found && found->pw_uid != 0) {
            *account = (Account){found->pw_uid, found->pw_gid, names[i]};
            return true;
        }
    }
    return error_set(err, 0, "no_user",
                     "the worker runs as root and would become the user " OS_USER " or \"nobody\", "
                     "but neither exists; create one with: adduser --system " OS_USER);
}

// Names that store.h uses in a cache: blobs, builds, and folders whose names are numbers.
static bool is_a_workers(const char *name) {
    static const char *const known[] = {".", "..", "blobs", "builds", "lost+found"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i]) == 0)
            return true;
    return name[strspn(name, "0123456789")] == 0;
}

static bool check_contents(const char *folder, Error *err) {
    DIR *dir = opendir(folder);
    bool ours = true;
    if (!dir)
        return error_errno(err, "cannot open %s", folder);
    for (struct dirent *entry; ours && (entry = readdir(dir));)
        if (!is_a_workers(entry->d_name))
            ours = error_set(err, 0, "not_a_cache",
                             "%s has files that do not belong to the cache of a worker (%.100s); "
                             "the worker runs as root and would change the owner of all files in "
                             "it; choose another folder with --cache",
                             folder, entry->d_name);
    closedir(dir);
    return ours;
}

// nftw passes no context to its callback. lchown changes a link itself, never its target.
static _Thread_local Account heir;

static int hand_entry(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)type, (void)ftw;
    return st->st_uid == heir.uid ? 0 : lchown(path, heir.uid, heir.gid);
}

enum { HAND_DESCRIPTORS = 32 };

static bool hand_over(const char *folder, const Account *account, Error *err) {
    struct stat st = {0};
    if (lstat(folder, &st) < 0 || !S_ISDIR(st.st_mode))
        return error_set(err, 0, "not_a_cache", "%s is not a folder", folder);
    if (st.st_uid == account->uid)
        return true;
    if (st.st_uid != 0)
        return error_set(err, 0, "not_a_cache",
                         "%s does not belong to the user %s, which the worker becomes because it "
                         "runs as root; choose another folder with --cache",
                         folder, account->name);
    if (!check_contents(folder, err))
        return false;
    heir = *account;
    return nftw(folder, hand_entry, HAND_DESCRIPTORS, FTW_PHYS | FTW_MOUNT) == 0 ||
           error_errno(err, "cannot change the owner of %s to %s", folder, account->name);
}

static bool drop(const Account *account, Error *err) {
    if (setgroups(0, NULL) < 0 || setresgid(account->gid, account->gid, account->gid) < 0 ||
        setresuid(account->uid, account->uid, account->uid) < 0)
        return error_errno(err, "cannot become the user %s", account->name);
    return setuid(0) < 0 || error_set(err, 0, "still_root", "cannot give up root's rights");
}

bool os_become_user(const char *folder, Error *err) {
    Account account = {0};
    struct stat st;
    if (geteuid() != 0) {
        os_own_group_start(geteuid(), getegid());
        return true;
    }
    bool made = stat(folder, &st) < 0;
    if (!find_account(&account, err) || !folder_make(folder, err))
        return false;
    char *real scope(free_ptr) = realpath(folder, NULL);
    if (!real || (made && chmod(real, 0700) < 0))
        return error_errno(err, "cannot use folder %s", folder);
    if (!hand_over(real, &account, err))
        return false;
    os_own_group_start(account.uid, account.gid);
    if (!drop(&account, err))
        return false;
    if (access(real, R_OK | W_OK | X_OK) < 0)
        return error_set(err, 0, "cannot_reach",
                         "the worker runs as root and becomes the user %s, which cannot access %s; "
                         "choose a folder in a place that all users may enter, such as "
                         "--cache /var/lib/patchmate-worker",
                         account.name, real);
    return (setenv("HOME", real, 1) == 0 && chdir("/") == 0) ||
           error_errno(err, "cannot use %s as HOME", real);
}
