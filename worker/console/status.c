// See status.h. The line is drawn on standard error without a newline, over the one before and only
// where it differs; every log line begins by wiping it (log_set_prefix), and is followed by a fresh
// one within a second.
#include "worker/console/status.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "server/common/log.h"
#include "worker/console/status_line.h"
#include "worker/os/process.h"

static const int64_t log_every_ns = 60LL * 1000000000;
static const char wipe[] = "\r\033[K";
enum { WIDTH_DEFAULT = 80, LOG_WIDTH = 300 };

static struct {
    pthread_mutex_t lock;
    Status status;
    bool terminal;
    int64_t logged_ns;
} shown = {.lock = PTHREAD_MUTEX_INITIALIZER, .status = {.credit = -1}};

void status_start(void) {
    shown.terminal = isatty(STDERR_FILENO) != 0;
    if (shown.terminal)
        log_set_prefix(wipe);
}

void status_update(void (*change)(Status *status, void *ctx), void *ctx) {
    pthread_mutex_lock(&shown.lock);
    change(&shown.status, ctx);
    pthread_mutex_unlock(&shown.lock);
}

// ---- what is told -------------------------------------------------------------------------------

static void set_phase(Status *status, void *ctx) {
    shown.logged_ns = status->since_ns = os_now_ns();
    status->detail[0] = 0;
    status->usual_s = 0;
    status->sample_count = 0;
    snprintf(status->phase, sizeof status->phase, "%s", (const char *)ctx);
    // Play begins with a line of its own, with clock and number of pairs.
    if (!shown.terminal && *status->phase && strcmp(status->phase, "play") != 0)
        log_info("test %lld (%s): %s", (long long)status->test, status->title, status->phase);
}

void status_phase(const char *phase) {
    status_update(set_phase, (void *)phase);
}

typedef struct Step {
    const char *text;
    double seconds;
} Step;

static void set_step(Status *status, void *ctx) {
    const Step *step = ctx;
    status->since_ns = os_now_ns();
    status->usual_s = step->seconds;
    snprintf(status->detail, sizeof status->detail, "%s", step->text);
}

void status_step(const char *detail, double usual_s) {
    status_update(set_step, &(Step){detail, usual_s});
}

static void set_waiting(Status *status, void *ctx) {
    const Step *wait = ctx;
    snprintf(status->waiting, sizeof status->waiting, "%s", wait->text ? wait->text : "");
    status->retry_ns = os_now_ns() + (int64_t)(wait->seconds * 1e9);
}

void status_waiting(const char *why, double seconds) {
    status_update(set_waiting, &(Step){why, seconds});
}

typedef struct Credit {
    const char *user;
    int64_t games;
} Credit;

static void set_credit(Status *status, void *ctx) {
    const Credit *credit = ctx;
    status->credit = credit->games;
    snprintf(status->credit_user, sizeof status->credit_user, "%s",
             credit->user ? credit->user : "");
}

void status_credit(const char *user, int64_t games) {
    status_update(set_credit, &(Credit){user, games});
}

static void set_stopping(Status *status, void *ctx) {
    (void)ctx;
    status->stopping = true;
}

void status_stopping(void) {
    status_update(set_stopping, NULL);
}

int64_t status_games(void) {
    pthread_mutex_lock(&shown.lock);
    int64_t games = shown.status.games_total;
    pthread_mutex_unlock(&shown.lock);
    return games;
}

// ---- what is shown ------------------------------------------------------------------------------

static int terminal_width(void) {
    struct winsize window;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1;
    return known ? window.ws_col : WIDTH_DEFAULT;
}

// One write, and what is left of a longer line before goes after the new one stands: nothing
// flickers. The last column stays free, where a terminal would begin a new line.
static void paint(const Status *status) {
    char line[STATUS_LINE_MAX], text[STATUS_LINE_MAX + 8];
    status_line(status, os_now_ns(), terminal_width() - 1, line);
    int n = snprintf(text, sizeof text, "\r%s\033[K", line);
    if (write(STDERR_FILENO, text, (size_t)n) < 0)
        return; // the terminal is gone
}

void status_show(void) {
    char line[STATUS_LINE_MAX];
    pthread_mutex_lock(&shown.lock);
    Status *status = &shown.status;
    int64_t now = os_now_ns();
    bool playing = strcmp(status->phase, "play") == 0;
    if (playing)
        status_sample(status, now);
    bool due = playing && !shown.terminal && now - shown.logged_ns >= log_every_ns;
    if (due) {
        shown.logged_ns = now;
        status_line(status, now, LOG_WIDTH, line);
    }
    if (shown.terminal)
        paint(status);
    pthread_mutex_unlock(&shown.lock);
    if (due)
        log_info("%s", line);
}

void status_end(void) {
    pthread_mutex_lock(&shown.lock);
    bool terminal = shown.terminal;
    shown.terminal = false;
    pthread_mutex_unlock(&shown.lock);
    if (!terminal)
        return;
    log_set_prefix("");
    if (write(STDERR_FILENO, wipe, sizeof wipe - 1) < 0)
        return;
}
