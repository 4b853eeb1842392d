// Load for the server: connections that post batches one after the other, each as its own worker on
// a task of its own, as fast as the replies come. For `make bench`.
//   load_server PORT SECONDS FILE INSTALLATION TEST SECRET     with a line "TOKEN TASK FIRST_SEQ
//                         FIRST_PAIR" a connection on standard input; all sign with the same key
// FILE has the counts of a batch on its first line, from "result" on, and then its games, a line
// each, as tests/tools/played.c prints them for pairs from 0. Each batch is PUT games and then POST
// counts; only the numbers of the pairs and some clocks differ from batch to batch. Prints one JSON
// object.
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "server/common/batch_signature.h"
#include "server/common/file.h"
#include "server/common/hash.h"
#include "server/common/json_member.h"
#include "server/common/log.h"

enum { CONNECTIONS_MAX = 1024, GAMES_MOST = 2000, BATCHES_MAX = 1 << 20, REPLY_MAX = 8192 };
enum { PACK_LEVEL = 3, BODY_MAX = 8 << 20, CLOCK_RANGE_MS = 4000, LATE_S_MAX = 60 };

// A batch to be sent again and again, of other pairs.
typedef struct Model {
    const char *counts; // without the first and the last member
    json_t *parsed;     // the same, as an object
    const char *installation, *secret;
    char public_key[SIGNING_KEY_MAX];
    long test;
    struct {
        Str head, tail; // packed: what is between {"pair":N and the two clocks, and after these
        long clocks[2]; // after the first move of each side
    } games[GAMES_MOST];
    int count;
} Model;

typedef struct Connection {
    int fd;
    char token[44];
    long task, seq, first_pair; // of the task
    bool counts;                // the POST is on its way, not the PUT
    char sha[SHA256_HEX_MAX];
    Str out;
    size_t sent;
    char in[REPLY_MAX];
    size_t got;
    double begun, posted;
} Connection;

typedef struct Load {
    Connection connections[CONNECTIONS_MAX];
    int count, epoll;
    Model model;
    double *whole, *posts; // latencies in seconds
    long batches, sent_bytes, got_bytes, errors;
    long late; // that came after the end
} Load;

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// ---- the batch ----------------------------------------------------------------------------------

static void pack(const char *from, const char *end, Str *out) {
    str_init(out, BODY_MAX);
    zstd_compress(from, (size_t)(end - from), PACK_LEVEL, out);
}

static void add_game(Model *model, const char *line, size_t size) {
    static const char head[] = "{\"pair\":", clocks[] = "\"clock_ms\":[";
    const char *rest = memchr(line, ',', size), *list = rest ? strstr(rest, clocks) : NULL;
    if (model->count == GAMES_MOST || strncmp(line, head, sizeof head - 1) != 0 || !list)
        fatal("line %d of the games does not begin with its pair, or has no clocks",
              model->count + 1);
    list += sizeof clocks - 1;
    char *after = NULL;
    for (int i = 0; i < 2; i++)
        model->games[model->count].clocks[i] = strtol(after ? after + 1 : list, &after, 10);
    pack(rest, list, &model->games[model->count].head);
    pack(after, line + size, &model->games[model->count++].tail);
}

static void read_model(Model *model, char *text) {
    char *line = strchr(text, '\n');
    if (!line)
        fatal("the file has no games");
    *line++ = 0;
    char *object scope(free_ptr) = xasprintf("{%s}", text);
    model->counts = text;
    model->parsed = json_loads(object, 0, NULL);
    if (!model->parsed)
        fatal("the counts are no members of an object");
    for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        add_game(model, line, (size_t)(end + 1 - line));
}

// A frame of Zstandard with one block that is not compressed (RFC 8878, 3.1.1).
static void add_raw_frame(Str *body, const char *text) {
    size_t size = strlen(text);
    const unsigned char head[] = {0x28,
                                  0xb5,
                                  0x2f,
                                  0xfd,
                                  0x20,
                                  (unsigned char)size,
                                  (unsigned char)(size << 3 | 1),
                                  (unsigned char)(size >> 5),
                                  0};
    str_add(body, (const char *)head, sizeof head);
    str_add(body, text, size);
}

// ---- requests -----------------------------------------------------------------------------------

static void begin_request(Connection *c, const char *method, const char *path, size_t size) {
    str_clear(&c->out);
    c->sent = c->got = 0;
    str_printf(&c->out,
               "%s /api/v1/tasks/%ld/%s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
               "Content-Length: %zu\r\n\r\n",
               method, c->task, path, c->token, size);
}

// What differs from batch to batch goes between the rest of the games, which is packed once: the
// numbers of the pairs, and the first clocks, because two equal games would be copies. The second
// move of each side took CLOCK_RANGE_MS at least.
static void put_games(const Load *load, Connection *c) {
    const Model *model = &load->model;
    char path[32], text[60];
    Str body scope(str_release);
    str_init(&body, BODY_MAX);
    for (int i = 0; i < model->count; i++) {
        long number = c->first_pair + c->seq * (model->count / 2) + i / 2;
        const long *clocks = model->games[i].clocks;
        snprintf(text, sizeof text, "{\"pair\":%ld", number);
        add_raw_frame(&body, text);
        str_add(&body, model->games[i].head.data, model->games[i].head.size);
        snprintf(text, sizeof text, "%ld,%ld", clocks[0] - number % CLOCK_RANGE_MS,
                 clocks[1] - number / CLOCK_RANGE_MS % CLOCK_RANGE_MS);
        add_raw_frame(&body, text);
        str_add(&body, model->games[i].tail.data, model->games[i].tail.size);
    }
    sha256_hex(body.data, body.size, c->sha);
    snprintf(path, sizeof path, "games/%ld", c->seq);
    begin_request(c, "PUT", path, body.size);
    str_add(&c->out, body.data, body.size);
    c->counts = false;
}

static void sign(const Model *model, const Connection *c, char signature[SIGNATURE_MAX]) {
    SignedBatch batch = {.installation = model->installation,
                         .test = model->test,
                         .task = c->task,
                         .seq = c->seq,
                         .games_sha256 = c->sha,
                         .tc = member_text(model->parsed, "tc"),
                         .thought = member_int(model->parsed, "thought"),
                         .result = json_object_get(model->parsed, "result")};
    char *text scope(free_ptr) = signed_text(&batch);
    if (!text || !signature_make(model->secret, text, signature))
        fatal("a batch cannot be signed");
}

static void post_counts(const Load *load, Connection *c) {
    const Model *model = &load->model;
    char signature[SIGNATURE_MAX];
    sign(model, c, signature);
    char *body scope(free_ptr) =
        xasprintf("{\"seq\":%ld,%s,\"key\":\"%s\",\"signature\":\"%s\",\"games_sha256\":\"%s\"}",
                  c->seq, model->counts, model->public_key, signature, c->sha);
    begin_request(c, "POST", "batches", strlen(body));
    str_puts(&c->out, body);
    c->counts = true;
    c->posted = now_s();
}

static void watch(const Load *load, Connection *c, int how, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = c};
    if (epoll_ctl(load->epoll, how, c->fd, &event) < 0)
        fatal("epoll: %s", strerror(errno));
}

// As much as the socket takes; the rest when it takes more.
static void send_more(Load *load, Connection *c) {
    while (c->sent < c->out.size) {
        ssize_t n =
            send(c->fd, c->out.data + c->sent, c->out.size - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN)
            return watch(load, c, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
        if (n < 0)
            fatal("the server closed a connection: %s", strerror(errno));
        c->sent += (size_t)n;
        load->sent_bytes += n;
    }
    watch(load, c, EPOLL_CTL_MOD, EPOLLIN);
}

static void next_batch(Load *load, Connection *c) {
    c->begun = now_s();
    put_games(load, c);
    send_more(load, c);
}

// ---- replies ------------------------------------------------------------------------------------

static bool is_whole(const Connection *c) {
    const char *body = memmem(c->in, c->got, "\r\n\r\n", 4);
    const char *length = body ? strcasestr(c->in, "\r\nContent-Length:") : NULL;
    return length && c->got >= (size_t)(body + 4 - c->in) + strtoul(length + 17, NULL, 10);
}

static void note(Load *load, const Connection *c, double now) {
    if (load->batches == BATCHES_MAX)
        fatal("more batches than were expected");
    load->whole[load->batches] = now - c->begun;
    load->posts[load->batches++] = now - c->posted;
}

static void answered(Load *load, Connection *c, bool over) {
    if (strncmp(c->in, "HTTP/1.1 200", 12) != 0 && load->errors++ == 0)
        fprintf(stderr, "load_server: %s\n", c->in);
    if (!c->counts) {
        post_counts(load, c);
        send_more(load, c);
        return;
    }
    if (over) {
        load->late++;
        return;
    }
    note(load, c, now_s());
    c->seq++;
    next_batch(load, c);
}

static void receive(Load *load, Connection *c, bool over) {
    ssize_t n = recv(c->fd, c->in + c->got, REPLY_MAX - 1 - c->got, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN))
        fatal("the server closed a connection");
    if (n < 0)
        return;
    c->got += (size_t)n;
    c->in[c->got] = 0;
    load->got_bytes += n;
    if (is_whole(c))
        answered(load, c, over);
}

// ---- the run ------------------------------------------------------------------------------------

static int connect_to(long port) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
        fatal("cannot connect to port %ld: %s", port, strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fd;
}

static void read_connections(Load *load, long port) {
    char token[sizeof load->connections[0].token];
    long task, seq, first_pair;
    while (load->count < CONNECTIONS_MAX &&
           scanf("%43s %ld %ld %ld", token, &task, &seq, &first_pair) == 4) {
        Connection *c = &load->connections[load->count++];
        *c = (Connection){
            .fd = connect_to(port), .task = task, .seq = seq, .first_pair = first_pair};
        memcpy(c->token, token, sizeof token);
        str_init(&c->out, 9 << 20);
        watch(load, c, EPOLL_CTL_ADD, EPOLLIN);
    }
    if (!load->count)
        fatal("no connections: a line \"TOKEN TASK FIRST_SEQ FIRST_PAIR\" for each");
}

// Those whose batch is under way at the end finish it: they are late, and not in the figures.
static void run(Load *load, double seconds) {
    struct epoll_event events[64];
    double end = now_s() + seconds;
    for (int i = 0; i < load->count; i++)
        next_batch(load, &load->connections[i]);
    while (load->late < load->count) {
        if (now_s() > end + LATE_S_MAX)
            fatal("%ld batches are not answered", load->count - load->late);
        int count = epoll_wait(load->epoll, events, 64, 100);
        for (int i = 0; i < count; i++) {
            if (events[i].events & EPOLLOUT)
                send_more(load, events[i].data.ptr);
            if (events[i].events & ~(uint32_t)EPOLLOUT)
                receive(load, events[i].data.ptr, now_s() >= end);
        }
    }
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile_ms(double *sorted, long count, double q) {
    return count ? 1e3 * sorted[(long)(q * (double)(count - 1))] : 0;
}

static void report(Load *load, double seconds) {
    long n = load->batches;
    qsort(load->whole, (size_t)n, sizeof *load->whole, compare);
    qsort(load->posts, (size_t)n, sizeof *load->posts, compare);
    printf("{\"connections\": %d, \"batches\": %ld, \"late\": %ld, \"errors\": %ld, "
           "\"batches_per_s\": %.1f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"post_p50_ms\": %.3f, "
           "\"post_p99_ms\": %.3f, \"bytes_sent\": %.0f, \"bytes_received\": %.0f}\n",
           load->count, n, load->late, load->errors, (double)n / seconds,
           quantile_ms(load->whole, n, 0.5), quantile_ms(load->whole, n, 0.99),
           quantile_ms(load->posts, n, 0.5), quantile_ms(load->posts, n, 0.99),
           (double)load->sent_bytes / (double)(n ? n : 1),
           (double)load->got_bytes / (double)(n ? n : 1));
}

int main(int argc, char **argv) {
    static Load load;
    long port;
    double seconds;
    Error err;
    if (argc != 7 || !parse_long(argv[1], 1, 65535, &port) ||
        !parse_double(argv[2], 0.1, 600, &seconds) ||
        !parse_long(argv[5], 1, LONG_MAX, &load.model.test) ||
        !signing_key_public(argv[6], load.model.public_key))
        fatal("usage: load_server PORT SECONDS FILE INSTALLATION TEST SECRET");
    load.model.installation = argv[4];
    load.model.secret = argv[6];
    char *text scope(free_ptr) = file_read(argv[3], BODY_MAX, NULL, &err);
    if (!text)
        fatal("%s", err.message);
    read_model(&load.model, text);
    load.epoll = epoll_create1(EPOLL_CLOEXEC);
    load.whole = xcalloc(BATCHES_MAX, sizeof *load.whole);
    load.posts = xcalloc(BATCHES_MAX, sizeof *load.posts);
    read_connections(&load, port);
    run(&load, seconds);
    report(&load, seconds);
    return load.errors || !load.batches;
}
