// See app.h and the end of http.h: the installation, from its lock to its last word.
#include "server/loop/app.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/installed.h"
#include "server/common/log.h"
#include "server/git/draft.h"
#include "server/git/reconcile.h"
#include "server/ledger/ledger.h"
#include "server/ledger/replayer.h"
#include "server/loop/connections.h"
#include "server/loop/hooks.h"
#include "server/loop/loop.h"
#include "server/loop/readers.h"
#include "server/storage/sweeper.h"

enum { CACHE_BYTES = 64 << 20 };

static double clock_seconds(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double time_now(void) {
    return clock_seconds(CLOCK_REALTIME);
}

double time_monotonic(void) {
    return clock_seconds(CLOCK_MONOTONIC);
}

// ---- services -----------------------------------------------------------------------------------

const char *app_data(const App *app) {
    return app->config.data;
}

const char *app_web(const App *app) {
    return app->web;
}

bool app_undeclared_proxy(const App *app) {
    return atomic_load(&app->undeclared_proxy);
}

// ---- start --------------------------------------------------------------------------------------

int app_lock(const char *data, double *down, Error *err) {
    char *path scope(free_ptr) = xasprintf("%s/lock", data);
    struct stat st;
    bool known = stat(path, &st) == 0;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_errno(err, "cannot open %s", path), -1;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        close(fd);
        return error_set(err, 409, "locked", "another server runs on %s", data), -1;
    }
    double last = (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec / 1e9;
    *down = known ? fmax(0, time_now() - last) : 0;
    futimens(fd, NULL);
    return fd;
}

// Thousands of waiting workers are thousands of descriptors. Connections never take the last of
// them: databases, blobs, templates and git need some to serve those who are in.
static void limit_connections(AppConfig *config) {
    enum { OWN_DESCRIPTORS = 256 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    rlim_t most = limit.rlim_max > 2 * OWN_DESCRIPTORS ? limit.rlim_max - OWN_DESCRIPTORS
                                                       : limit.rlim_max / 2;
    if ((rlim_t)config->connections <= most)
        return;
    log_warn("%d connections are allowed and %llu open files: no more than %llu connections are "
             "taken at a time; raise LimitNOFILE of the service, or `ulimit -Hn`",
             config->connections, (unsigned long long)limit.rlim_max, (unsigned long long)most);
    config->connections = (int)most;
}

// Before any thread starts, so that all inherit the mask and only the loop hears of signals.
static int signals_as_descriptor(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a limit on file sizes is a full disk, not the end
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

// One datagram to the socket that systemd named, as sd_notify does.
static void notify_systemd(const char *text) {
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!path || !*path || strlen(path) >= sizeof address.sun_path)
        return;
    memcpy(address.sun_path, path, strlen(path));
    if (*path == '@')
        address.sun_path[0] = 0;
    int fd scope(close_fd) = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    if (fd < 0 || sendto(fd, text, strlen(text), MSG_NOSIGNAL, (void *)&address, size) < 0)
        log_warn("cannot tell systemd: %s", strerror(errno));
}

static bool open_installation(App *app, Error *err) {
    double down = 0;
    char *path scope(free_ptr) = xasprintf("%s/patchmate.db", app->config.data);
    if (access(path, F_OK) < 0)
        return error_set(err, 0, "", "%s holds no installation: run `server init %s` first",
                         app->config.data, app->config.data);
    app->lock_fd = app_lock(app->config.data, &down, err);
    if (app->lock_fd < 0)
        return false;
    folder_sweep(app->config.data);
    if (!draft_sweep(app->config.data, err))
        return false;
    app->writer = db_open(path, false, err);
    app->turn.db = app->writer;
    return app->writer && db_begin(app->writer, err) &&
           repo_reconcile(app_data(app), app->writer, err) &&
           ledger_resume(app->writer, down, err) &&
           ledger_replays_resume(app->writer, time_now(), err) && db_commit(app->writer, err);
}

static bool start(App *app, Error *err) {
    limit_connections(&app->config);
    app->web = app->config.web ? xstrdup(app->config.web) : installed_folder("web", "web");
    if (!app->web)
        return error_set(err, 0, "",
                         "the pages are not beside this program; name their folder with --web");
    app->signal_fd = signals_as_descriptor();
    app->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (app->signal_fd < 0 || app->event_fd < 0)
        return error_errno(err, "cannot make descriptors");
    if (!page_load(app, err) || !open_installation(app, err))
        return false;
    app->listen_fd = address_listen(app->config.listen, &app->port, err);
    if (app->listen_fd < 0)
        return false;
    app->readers = readers_start(app, app->config.readers, err);
    app->replayer = app->readers ? replayer_start(app->config.data, err) : NULL;
    app->sweeper = app->replayer ? sweeper_start(app->config.data, err) : NULL;
    return app->sweeper && http_start(app, err);
}

static void announce(const App *app) {
    const char *colon = strrchr(app->config.listen, ':');
    printf("listening on http://%.*s:%d\n", (int)(colon - app->config.listen), app->config.listen,
           app->port);
    fflush(stdout);
    notify_systemd("READY=1");
}

static void release(App *app) {
    http_stop(app);
    replayer_stop(app->replayer);
    sweeper_stop(app->sweeper);
    if (app->readers) {
        readers_stop(app->readers);
        readers_free(app->readers);
    }
    db_close(app->writer);
    if (app->lock_fd >= 0)
        futimens(app->lock_fd, NULL);
    int *descriptors[] = {&app->listen_fd, &app->event_fd, &app->signal_fd, &app->lock_fd};
    for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++)
        close_fd(descriptors[i]);
    rate_free(app->writes);
    senders_free(app->senders);
    cache_free(app->cache);
    turn_release(&app->turn);
    free(app->web);
}

bool app_run(const AppConfig *config, Error *err) {
    App app = {.config = *config, .event_fd = -1, .signal_fd = -1, .lock_fd = -1, .listen_fd = -1};
    app.started = time_now();
    app.writes = rate_new();
    app.senders = senders_new();
    app.cache = cache_new(CACHE_BYTES);
    app.ready.lane = 1;
    bool good = start(&app, err);
    if (good) {
        announce(&app);
        loop_run(&app);
        notify_systemd("STOPPING=1");
        log_info("stopped");
    }
    release(&app);
    return good;
}
