// See status.h. The line is drawn on standard error without a newline; every log line begins by
// wiping it (log_set_prefix), and the next second draws it again.
#include "status.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../server/common/log.h"
#include "os.h"

static const int64_t log_every_ns = 60LL * 1000000000;
static const char wipe[] = "\r\033[K";

static struct {
    pthread_mutex_t lock;
    Status status;
    bool terminal;
    int64_t logged_ns, started_ns;
} shown = {.lock = PTHREAD_MUTEX_INITIALIZER};

void status_start(void) {
    shown.terminal = isatty(STDERR_FILENO) != 0;
    shown.started_ns = os_now_ns();
    if (shown.terminal)
        log_set_prefix(wipe);
}

void status_update(void (*change)(Status *status, void *ctx), void *ctx) {
    pthread_mutex_lock(&shown.lock);
    change(&shown.status, ctx);
    pthread_mutex_unlock(&shown.lock);
}

static void set_phase(Status *status, void *ctx) {
    shown.logged_ns = os_now_ns();
    snprintf(status->phase, sizeof status->phase, "%s", (const char *)ctx);
}

void status_phase(const char *phase) {
    status_update(set_phase, (void *)phase);
}

static double games_per_hour(const Status *s) {
    double hours = (double)(os_now_ns() - shown.started_ns) / 3.6e12;
    return hours > 0 ? (double)s->games_total / hours : 0;
}

static void format_line(const Status *s, char *out, size_t size) {
    char llr[32] = "";
    if (!*s->phase) {
        snprintf(out, size, "waiting for work, %lld games so far", (long long)s->games_total);
        return;
    }
    if (s->has_llr)
        snprintf(llr, sizeof llr, ", LLR %.2f", s->llr);
    if (strcmp(s->phase, "play") != 0)
        snprintf(out, size, "test %lld %s: %s", (long long)s->test, s->title, s->phase);
    else
        snprintf(out, size, "test %lld %s: pair %d of %d, +%d -%d =%d%s, %.0f games/h",
                 (long long)s->test, s->title, s->pairs_done, s->pairs, s->wins, s->losses,
                 s->draws, llr, games_per_hour(s));
}

static void paint(const char *line) {
    struct winsize window;
    int width =
        ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col ? window.ws_col : 80;
    char text[320];
    int n = snprintf(text, sizeof text, "%s%.*s", wipe, width - 1, line);
    if (write(STDERR_FILENO, text, (size_t)n) < 0)
        return; // the terminal is gone
}

void status_show(void) {
    char line[256];
    pthread_mutex_lock(&shown.lock);
    bool playing = strcmp(shown.status.phase, "play") == 0;
    format_line(&shown.status, line, sizeof line);
    pthread_mutex_unlock(&shown.lock);
    if (shown.terminal) {
        paint(line);
    } else if (playing && os_now_ns() - shown.logged_ns >= log_every_ns) {
        shown.logged_ns = os_now_ns();
        log_info("%s", line);
    }
}

void status_end(void) {
    if (!shown.terminal)
        return;
    log_set_prefix("");
    if (write(STDERR_FILENO, wipe, sizeof wipe - 1) < 0)
        return;
}
