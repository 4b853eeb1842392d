// The volunteer's program: `worker --server URL`. Reads the command line, locks its folder, chooses
// a sandbox, tells what it will do, and runs the main loop.
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/common/log.h"
#include "server/common/visible.h"
#include "worker/api/version.h"
#include "worker/console/status.h"
#include "worker/console/stop.h"
#include "worker/daemon/main_loop.h"
#include "worker/daemon/welcome.h"
#include "worker/os/guard.h"
#include "worker/os/own_group.h"
#include "worker/os/user.h"
#include "worker/selftest/selftest.h"

static Worker worker; // one per process, because the signal handlers need it

static void on_stop(StopLevel level) {
    status_stopping();
    if (level == STOP_FINISH) {
        log_info("stopping: the running batch of games finishes and the rest of the task is "
                 "returned; Ctrl-C again stops immediately");
        running_finish(&worker.running);
    } else {
        log_info("leaving now");
        running_abort(&worker.running);
    }
}

// The user that the worker becomes must be able to write there.
static bool open_store(Worker *w, const Config *config, Error *err) {
    bool good = os_become_user(config->cache, err);
    umask(077); // the files there contain the worker's token
    if (good && store_open(&w->store, config->cache, err))
        return os_guard_start(w->store.instance, err);
    Error why = *err;
    return error_set(err, why.status, why.code, "%s; --cache DIR chooses another folder",
                     why.message);
}

static bool start(Worker *w, const Config *config, Error *err) {
    w->config = config;
    if (config->nice && !os_set_nice(config->nice, err))
        return false;
    if (!open_store(w, config, err) ||
        !sandbox_detect(&w->sandbox, config->sandbox_max, config->no_sandbox, err) ||
        !host_read(&w->host, config, &w->sandbox, err))
        return false;
    json_t *registration = host_registration(&w->host, config, &w->sandbox);
    if (!identity_open(&w->identity, w->store.instance, config->server, registration, err))
        return false;
    w->speeds = json_object();
    w->api =
        (Api){&w->identity, client_new("patchmate-worker/" WORKER_VERSION, &w->running.cancel)};
    return true;
}

static void end(Worker *w) {
    uploader_free(w->uploader);
    client_free(w->api.client);
    identity_close(&w->identity);
    json_decref(w->speeds);
    host_release(&w->host);
    store_close(&w->store);
}

static int run_self_test(const Config *config) {
    running_init(&worker.running);
    stop_start(on_stop, NULL);
    return self_test(&worker, config);
}

// http://127.0.0.1:8080, http://localhost, http://[::1]
static bool is_loopback(const char *server) {
    const char *host = strstr(server, "://") + 3;
    size_t size = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/");
    return (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == size) ||
           (size == 9 && strncmp(host, "localhost", 9) == 0) ||
           (size == 5 && strncmp(host, "[::1]", 5) == 0);
}

static void warn_of_http(const Config *config) {
    if (strncmp(config->server, "http://", 7) == 0 && !is_loopback(config->server))
        log_warn("%s is not encrypted: everyone on the network between this machine and the "
                 "server can read the token, and change what this machine builds and plays",
                 config->server);
}

static int run(const Config *config) {
    Error err = {0};
    log_set_level(config->verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    running_init(&worker.running);
    warn_of_http(config);
    os_become_subreaper();
    stop_start(on_stop, status_show);
    if (!start(&worker, config, &err))
        fatal("%s", err.message);
    if (!worker.identity.known)
        welcome_print(&worker, stdout);
    log_info("worker %s, %d CPUs for %s, sandbox level %d, folder %s", WORKER_VERSION,
             worker.host.cores, config->server, worker.sandbox.level, worker.store.instance);
    log_info("memory and ends of programs: %s", os_own_group_describe());
    status_start();
    worker.uploader = uploader_new(&worker.identity);
    host_take_cpus(&worker.host); // after starting the threads that must not use the CPUs of games
    main_loop_run(&worker);
    status_end();
    log_info("stopped; %lld games were played", (long long)status_games());
    end(&worker);
    return stop_exit_status();
}

int main(int argc, char **argv) {
    scope(config_release) Config config;
    ConfigAction action;
    Error err = {0};
    if (!config_read(&config, &action, argc, argv, &err)) {
        char shown[2 * sizeof err.message];
        visible_copy(shown, sizeof shown, err.message, strlen(err.message), true);
        fprintf(stderr, "worker: %s\n", shown);
        return 2;
    }
    if (action == CONFIG_RUN)
        return run(&config);
    if (action == CONFIG_SELF_TEST)
        return run_self_test(&config);
    if (action == CONFIG_HELP)
        config_print_help();
    else
        puts("worker " WORKER_VERSION);
    return 0;
}
