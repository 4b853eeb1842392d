// See log.h.
#include "worker/match_cli/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/common/str.h"

enum { SAY_MAX = 4096 };

// Several engines may have the same file. It is opened to append, so that no line is lost.
static bool open_errors(MatchLog *log, Error *err) {
    const EngineArgs *engines = log->args->engines;
    int count = log->args->engine_count;
    log->errors = xcalloc((size_t)count, sizeof *log->errors);
    for (int i = 0; i < count; i++)
        log->errors[i] = -1;
    for (int i = 0; i < count; i++) {
        const char *file = engines[i].errors_file;
        if (!file)
            continue;
        log->errors[i] = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (log->errors[i] < 0)
            return error_errno(err, "-engine stderr=%s", file);
    }
    return true;
}

bool match_log_open(MatchLog *log, const MatchArgs *args, Error *err) {
    const LogArgs *wanted = &args->log;
    *log = (MatchLog){.args = args};
    pthread_mutex_init(&log->lock, NULL);
    if (!open_errors(log, err))
        return false;
    if (!wanted->file)
        return true;
    log->file = gzopen(wanted->file, wanted->compress ? "ab" : "abT");
    return log->file || error_errno(err, "-log file=%s", wanted->file);
}

void match_log_close(MatchLog *log) {
    if (log->file && gzclose(log->file) != Z_OK)
        log_error("cannot write the end of %s", log->args->log.file);
    for (int i = 0; log->errors && i < log->args->engine_count; i++)
        close_fd(&log->errors[i]);
    free(log->errors);
    if (log->args)
        pthread_mutex_destroy(&log->lock);
    *log = (MatchLog){0};
}

bool match_log_wants_lines(const MatchLog *log) {
    for (int i = 0; i < log->args->engine_count; i++)
        if (log->errors[i] >= 0)
            return true;
    return log->args->debug || log->args->log.engine;
}

static void flush(const MatchLog *log) {
    if (log->args->log.realtime)
        gzflush(log->file, Z_SYNC_FLUSH);
}

static void keep_errors(const MatchLog *log, const MatchLine *line) {
    int fd = log->errors[line->engine];
    if (fd < 0)
        return;
    scope(str_release) Str text;
    str_init(&text, line->size + 1);
    str_add(&text, line->text, line->size);
    if (!line->open)
        str_putc(&text, '\n');
    if (write(fd, text.data, text.size) < 0)
        log_error("cannot write %s: %s", log->args->engines[line->engine].errors_file,
                  strerror(errno));
}

void match_log_line(MatchLog *log, const MatchLine *line) {
    const char *name = log->args->engines[line->engine].name;
    char mark = line->kind == LINE_TO_ENGINE ? '>' : line->kind == LINE_FROM_ENGINE ? '<' : '!';
    int size = (int)line->size;
    pthread_mutex_lock(&log->lock);
    if (line->kind == LINE_ERROR)
        keep_errors(log, line);
    bool told = line->kind != LINE_ERROR || line->size; // not a newline that arrived late
    if (log->args->debug && told)
        printf("%" PRId64 " %c%s(%d): %.*s\n", line->time_us / 1000, mark, name, line->slot, size,
               line->text);
    if (log->file && log->args->log.engine && told) {
        gzprintf(log->file, "%12.6f [%d] %s %c ", (double)line->time_us / 1e6, line->slot, name,
                 mark);
        gzwrite(log->file, line->text, (unsigned)line->size);
        gzputc(log->file, '\n');
        flush(log);
    }
    pthread_mutex_unlock(&log->lock);
}

void match_log_say(MatchLog *log, LogLevel level, const char *format, ...) {
    static const char *const names[] = {"debug", "info ", "warn ", "error"};
    char text[SAY_MAX], stamp[32];
    va_list args;
    if (!log->file || (int)level < log->args->log.level)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct timespec time;
    struct tm local;
    clock_gettime(CLOCK_REALTIME, &time);
    localtime_r(&time.tv_sec, &local);
    strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S", &local);
    pthread_mutex_lock(&log->lock);
    gzprintf(log->file, "%s.%03ld %s %s\n", stamp, time.tv_nsec / 1000000, names[level], text);
    flush(log);
    pthread_mutex_unlock(&log->lock);
}
