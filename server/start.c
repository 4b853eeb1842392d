// See start.h.
#include "server/start.h"

#include <errno.h>
#include <fcntl.h>
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
#include <unistd.h>

#include "engine/rules/position.h"
#include "server/common/clock.h"
#include "server/common/file.h"
#include "server/common/installed.h"
#include "server/common/json_member.h"
#include "server/common/log.h"
#include "server/git/draft.h"
#include "server/git/reconcile.h"
#include "server/git/repo.h"
#include "server/ledger/ledger.h"
#include "server/ledger/outside.h"
#include "server/loop/loop.h"
#include "server/pages/page.h"
#include "server/routes/routes.h"
#include "server/submit/merge_queue.h"
#include "server/submit/pruner.h"

enum { CACHE_BYTES = 64 << 20 };

static const Route *const routes_all[] = {routes_server, routes_login, routes_account, routes_admin,
                                          routes_worker, routes_tests, routes_results, routes_nets,
                                          routes_books,  routes_games, routes_git,     routes_pages,
                                          routes_roles,  NULL};

// Locks DATA until the descriptor is closed; -1 if another server has the lock. *down: seconds
// since the lock was last touched, 0 if it is new; below 0 if the clock was set back since then.
static int lock_data(const char *data, double *down, Error *err) {
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
    *down = known ? time_now() - last : 0;
    futimens(fd, NULL);
    return fd;
}

// Each waiting worker needs a descriptor. Connections must not take the last descriptors:
// databases, blobs, templates and git need some to serve the open connections.
static void limit_connections(LoopConfig *config) {
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
    log_warn("the limits are %d connections and %llu open files: the server accepts only %llu "
             "connections at a time; raise LimitNOFILE of the service, or `ulimit -Hn`",
             config->connections, (unsigned long long)limit.rlim_max, (unsigned long long)most);
    config->connections = (int)most;
}

// Called before any thread starts: all threads inherit the mask, and only the loop receives
// signals.
static int signals_as_descriptor(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // treat a limit on file sizes like a full disk
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

// Sends one datagram to the socket that systemd named, like sd_notify.
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

// The loop and the modules that it uses.
typedef struct Service {
    const ServerConfig *config;
    char *web;
    Site site;
    Loop loop;
    Pruner *pruner;
    MergeQueue *merges;
} Service;

static bool recount_outdated(Db *db, Error *err) {
    Turn turn = {.db = db, .now = time_now()};
    bool good = ledger_recount_outdated(&turn, err);
    turn_release(&turn); // there are no event streams yet
    return good;
}

// A server in a container sees only private peers, and a proxy is there to pass on requests from
// outside.
static bool begin_outside(const ServerConfig *config, Db *db, Error *err) {
    const char *reason = config->outside              ? "started with PATCHMATE_OUTSIDE"
                         : config->loop.trusted.count ? "started with --trusted-proxy"
                                                      : NULL;
    Turn turn = {.db = db, .now = time_now()};
    bool good = !reason || outside_reach(&turn, reason, err);
    turn_release(&turn);
    return good;
}

static bool open_installation(Service *service, Error *err) {
    const char *data = service->site.data;
    Loop *loop = &service->loop;
    double down = 0;
    char *path scope(free_ptr) = xasprintf("%s/patchmate.db", data);
    if (access(path, F_OK) < 0)
        return error_set(err, 0, "", "there is no installation in %s: run `server init %s` first",
                         data, data);
    loop->lock_fd = lock_data(data, &down, err);
    if (loop->lock_fd < 0)
        return false;
    folder_sweep(data);
    if (!draft_sweep(data, err))
        return false;
    loop->writer = db_open(path, false, err);
    return loop->writer && db_begin(loop->writer, err) && repo_reconcile(data, loop->writer, err) &&
           ledger_move_time(loop->writer, down, err) && recount_outdated(loop->writer, err) &&
           begin_outside(service->config, loop->writer, err) && db_commit(loop->writer, err);
}

static bool load_pages(const Service *service, Error *err) {
    rules_init(); // before the first thread that reads a game
    char *folder scope(free_ptr) = xasprintf("%s/templates", service->web);
    char *files scope(free_ptr) = xasprintf("%s/static", service->web);
    return page_load_from(folder, files, err);
}

static bool start(Service *service, int *port, Error *err) {
    Loop *loop = &service->loop;
    const ServerConfig *config = service->config;
    limit_connections(&loop->config);
    service->web = config->web ? xstrdup(config->web) : installed_folder("web", "web");
    if (!service->web)
        return error_set(
            err, 0, "",
            "the pages were not installed with this program; name their folder with --web");
    service->site = (Site){.data = config->data,
                           .web = service->web,
                           .cache = cache_new(CACHE_BYTES),
                           .error_page = page_error,
                           .error_form = page_form_error};
    loop->signal_fd = signals_as_descriptor();
    loop->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->signal_fd < 0 || loop->event_fd < 0)
        return error_errno(err, "cannot make descriptors");
    if (!load_pages(service, err) || !open_installation(service, err))
        return false;
    loop->listen_fd = address_listen(config->listen, port, err);
    if (loop->listen_fd < 0)
        return false;
    loop->housekeeping.sweeper = sweeper_start(config->data, err);
    service->pruner = loop->housekeeping.sweeper ? pruner_start(config->data, err) : NULL;
    service->merges = service->pruner ? merge_queue_start(config->data, err) : NULL;
    loop->housekeeping.each_second = merge_queue_tick;
    loop->housekeeping.each_second_arg = service->merges;
    return service->merges && loop_start(loop, err);
}

static void announce(const char *listen, int port) {
    const char *colon = strrchr(listen, ':');
    printf("listening on http://%.*s:%d\n", (int)(colon - listen), listen, port);
    fflush(stdout);
    notify_systemd("READY=1");
}

// Says which machines get tasks, and while only some do, what the operator can do.
static void announce_trust(Db *db) {
    json_auto_t *trust = outside_document(db);
    bool is_narrow = json_is_true(json_object_get(trust, "only_roles"));
    size_t i;
    json_t *choice;
    if (trust)
        log_write(is_narrow ? LOG_LEVEL_WARN : LOG_LEVEL_INFO, "%s", member_text(trust, "words"));
    if (is_narrow)
        json_array_foreach (json_object_get(trust, "choices"), i, choice)
            log_warn("`%s`: %s", member_text(choice, "command"), member_text(choice, "effect"));
}

static void release(Service *service) {
    Loop *loop = &service->loop;
    loop_stop(loop);
    sweeper_stop(loop->housekeeping.sweeper);
    ledger_recount_free(loop->housekeeping.recount);
    pruner_stop(service->pruner);
    merge_queue_stop(service->merges);
    db_close(loop->writer);
    if (loop->lock_fd >= 0)
        futimens(loop->lock_fd, NULL);
    int *descriptors[] = {&loop->listen_fd, &loop->event_fd, &loop->signal_fd, &loop->lock_fd};
    for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++)
        close_fd(descriptors[i]);
    cache_free(service->site.cache);
    free(service->web);
}

bool server_run(const ServerConfig *config, Error *err) {
    Service service = {.config = config};
    int port = 0;
    service.loop = (Loop){.config = config->loop,
                          .site = &service.site,
                          .routes = routes_all,
                          .event_fd = -1,
                          .signal_fd = -1,
                          .lock_fd = -1,
                          .listen_fd = -1};
    bool good = start(&service, &port, err);
    if (good) {
        announce_trust(service.loop.writer);
        announce(config->listen, port);
        loop_run(&service.loop);
        notify_systemd("STOPPING=1");
        log_info("stopped");
    }
    release(&service);
    return good;
}

// ---- the table of routes, for tests -------------------------------------------------------------

static const char *access_name(Access access) {
    switch (access) {
    case ACCESS_ANYONE:
        return "anyone";
    case ACCESS_USER:
        return "user";
    case ACCESS_PERSON:
        return "person";
    case ACCESS_ADMIN:
        return "admin";
    case ACCESS_WORKER:
        return "worker";
    case ACCESS_WORKER_ENDS:
        return "worker_ends";
    }
    return "";
}

void server_print_routes(void) {
    for (const Route *const *table = routes_all; *table; table++)
        for (const Route *r = *table; r->method; r++)
            printf("%s\t%s\t%s\t%zu\t%s%s\n", r->method, r->pattern, access_name(r->access),
                   r->max_body, r->prepare ? "reader" : "", r->apply ? "+turn" : "");
}
