// Load for the server: connections that post batches one after the other, each as its own worker on
// a task of its own, as fast as the replies come. For `make bench`.
//   load_server PORT SECONDS games|counts    with a line "TOKEN TASK FIRST_SEQ BATCH_PAIRS" a
//   connection on
//                                            standard input
// With `games`, each batch is PUT games and then POST counts, made by the worker's own encoder of
// games of random legal moves; with `counts` the POST alone. Prints one JSON object.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "engine/rules/movegen.h"
#include "server/common/hash.h"
#include "server/common/log.h"
#include "worker/results/batch.h"

enum { CONNECTIONS_MAX = 1024, MODELS = 8, BATCHES_MAX = 1 << 20, REPLY_MAX = 8192 };

// A batch to be sent again and again, under other names.
typedef struct Model {
    SpoolItem *item;
    char *tail; // of the counts, after "seq" and before "games_sha256"
} Model;

typedef struct Connection {
    int fd;
    char token[TOKEN_MAX];
    long task, seq, pairs;
    bool counts; // the POST is on its way, not the PUT
    const Model *model;
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
    bool games;
    Model models[MODELS];
    double *whole, *posts; // latencies in seconds
    long batches, sent_bytes, got_bytes, errors;
    uint64_t seed;
} Load;

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// ---- batches ------------------------------------------------------------------------------------

static uint64_t random_below(Load *load, uint64_t n) {
    load->seed = load->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (load->seed >> 33) % n;
}

// Eighty to 160 plies of random moves with the numbers that engines at 10+0.1 report.
static void make_game(Load *load, GameRecord *game, int white) {
    Position start;
    Refusal err;
    if (!position_from_fen(&start, POSITION_START_FEN, false, &err))
        fatal("%s", err.message);
    *game = (GameRecord){.white = white, .culprit = -1, .kind = GAME_END_ADJUDICATION};
    snprintf(game->reason, sizeof game->reason, "Draw by adjudication");
    game->result = (GameResult)(RESULT_WHITE_WINS + random_below(load, 3));
    game_init(&game->game, &start);
    int plies = 80 + (int)random_below(load, 80), score = 0;
    for (MoveList list; game->game.plies < plies; score += (int)random_below(load, 41) - 20) {
        movegen_legal(&game->game.now, &list);
        if (!list.size)
            return;
        Move move = list.moves[random_below(load, (uint64_t)list.size)];
        game->moves[game->game.plies] =
            (MoveRecord){.move = move,
                         .time_us = 50000 + (int)random_below(load, 300000),
                         .score_cp = game->game.plies % 2 ? -score : score,
                         .depth = 10 + (int)random_below(load, 10),
                         .nodes = 50000 + (int64_t)random_below(load, 200000)};
        game_play(&game->game, move);
    }
}

static void make_model(Load *load, Model *model, int pairs) {
    const Opening opening = {POSITION_START_FEN, ""};
    const BatchFacts facts = {"nodes=1000", 812345, 0.02, NULL};
    GameRecord *games scope(free_ptr) = xcalloc(2, sizeof *games);
    GameBatch batch scope(batch_release);
    batch_init(&batch, 0, 0, pairs);
    for (int pair = 0; pair < pairs; pair++) {
        GameContext context = {&opening, pair, {{.base_ms = 10000, .increment_ms = 100}}};
        context.limits[1] = context.limits[0];
        for (int i = 0; i < 2; i++)
            make_game(load, &games[i], i);
        batch_add(&batch, games, &context);
    }
    model->item = batch_finish(&batch, &facts);
    model->tail = xasprintf(
        "\"result\":{\"outcomes\":\"%s\",\"wins\":%d,\"losses\":%d,\"draws\":%d,\"crashes\":0,"
        "\"time_losses\":0,\"ponders\":0,\"ponders_against\":0},\"tc\":\"%s\",\"speed\":%.1f,"
        "\"busy\":%.2f,\"thought\":0",
        batch.outcomes, batch.wins, batch.losses, batch.draws, facts.tc, facts.speed, facts.busy);
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

// Games of a batch are told apart by a frame that decoders skip (RFC 8878, 3.1.2), so that each is
// a blob of its own and none costs the compressor's time.
static void put_games(Connection *c) {
    const SpoolItem *item = c->model->item;
    char path[32];
    uint32_t frame[4] = {0x184d2a50, 8, (uint32_t)c->task, (uint32_t)c->seq};
    Str body scope(str_release);
    str_init(&body, item->size + sizeof frame);
    str_add(&body, item->bytes, item->size);
    str_add(&body, (const char *)frame, sizeof frame);
    sha256_hex(body.data, body.size, c->sha);
    snprintf(path, sizeof path, "games/%ld", c->seq);
    begin_request(c, "PUT", path, body.size);
    str_add(&c->out, body.data, body.size);
    c->counts = false;
}

static void post_counts(const Load *load, Connection *c) {
    char quoted[SHA256_HEX_MAX + 2];
    snprintf(quoted, sizeof quoted, "\"%s\"", c->sha);
    char *body scope(free_ptr) = xasprintf("{\"seq\":%ld,%s,\"games_sha256\":%s}", c->seq,
                                           c->model->tail, load->games ? quoted : "null");
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
    c->model = &load->models[(c->task + c->seq) % MODELS];
    c->begun = now_s();
    if (load->games)
        put_games(c);
    else
        post_counts(load, c);
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
    note(load, c, now_s());
    c->seq++;
    if (!over)
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
    char token[TOKEN_MAX];
    long task, seq, pairs;
    while (load->count < CONNECTIONS_MAX &&
           scanf("%43s %ld %ld %ld", token, &task, &seq, &pairs) == 4) {
        Connection *c = &load->connections[load->count++];
        *c = (Connection){.fd = connect_to(port), .task = task, .seq = seq, .pairs = pairs};
        memcpy(c->token, token, sizeof token);
        str_init(&c->out, 9 << 20);
        watch(load, c, EPOLL_CTL_ADD, EPOLLIN);
    }
    if (!load->count)
        fatal("no connections: a line \"TOKEN TASK FIRST_SEQ BATCH_PAIRS\" for each");
}

// Returns how long it took. Those whose batch is under way at the end finish it, uncounted.
static double run(Load *load, double seconds) {
    struct epoll_event events[64];
    double start = now_s(), end = start + seconds;
    for (int i = 0; i < load->count; i++)
        next_batch(load, &load->connections[i]);
    while (now_s() < end) {
        int count = epoll_wait(load->epoll, events, 64, 100);
        for (int i = 0; i < count; i++) {
            if (events[i].events & EPOLLOUT)
                send_more(load, events[i].data.ptr);
            if (events[i].events & ~(uint32_t)EPOLLOUT)
                receive(load, events[i].data.ptr, now_s() >= end);
        }
    }
    return now_s() - start;
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
    printf("{\"connections\": %d, \"games\": %s, \"batches\": %ld, \"errors\": %ld, "
           "\"batches_per_s\": %.1f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"post_p50_ms\": %.3f, "
           "\"post_p99_ms\": %.3f, \"bytes_sent\": %.0f, \"bytes_received\": %.0f}\n",
           load->count, load->games ? "true" : "false", n, load->errors, (double)n / seconds,
           quantile_ms(load->whole, n, 0.5), quantile_ms(load->whole, n, 0.99),
           quantile_ms(load->posts, n, 0.5), quantile_ms(load->posts, n, 0.99),
           (double)load->sent_bytes / (double)(n ? n : 1),
           (double)load->got_bytes / (double)(n ? n : 1));
}

int main(int argc, char **argv) {
    static Load load;
    long port;
    double seconds;
    rules_init();
    if (argc != 4 || !parse_long(argv[1], 1, 65535, &port) ||
        !parse_double(argv[2], 0.1, 600, &seconds))
        fatal("usage: load_server PORT SECONDS games|counts");
    load.games = strcmp(argv[3], "games") == 0;
    load.seed = 1;
    load.epoll = epoll_create1(EPOLL_CLOEXEC);
    load.whole = xcalloc(BATCHES_MAX, sizeof *load.whole);
    load.posts = xcalloc(BATCHES_MAX, sizeof *load.posts);
    read_connections(&load, port);
    for (int i = 0; i < MODELS; i++)
        make_model(&load, &load.models[i], (int)load.connections[0].pairs);
    double took = run(&load, seconds);
    report(&load, took);
    return load.errors || !load.batches;
}
