// The deeds of the toy engine (toy.h), in three groups by the verdict of a correct referee: the
// process has ended or closed a pipe; it sends nothing useful; it continues without a fault. A deed
// that could use ever more memory, processes or disk is limited.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "tests/kit/toy.h"

static void hang(void) {
    for (;;)
        toy_sleep_ms(1000);
}

// ---- it ends ------------------------------------------------------------------------------------

static void die_by_segv(void) {
    raise(SIGSEGV);
}

static void leave(void) {
    _exit(0);
}

static void leave_with_error(void) {
    _exit(1);
}

static void kill_itself(void) {
    raise(SIGKILL);
}

static void leave_in_a_line(void) {
    toy_say("bestmove e2");
    _exit(0);
}

// The child keeps the pipes open, the parent is gone.
static void leave_a_child(void) {
    if (fork() == 0)
        hang();
    _exit(0);
}

static void start_daemon(void) {
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            hang();
        _exit(0);
    }
}

static void become_a_daemon(void) {
    start_daemon();
    _exit(0);
}

static void close_output(void) {
    close(STDOUT_FILENO);
    hang();
}

static void close_input(void) {
    close(STDIN_FILENO);
    hang();
}

static void close_both(void) {
    close(STDIN_FILENO);
    close_output();
}

// ---- it is silent -------------------------------------------------------------------------------

static void stop_itself(void) {
    raise(SIGSTOP);
    hang();
}

static void burn(void) {
    for (volatile unsigned i = 0;; i++)
        ;
}

static void ignore_signals(void) {
    for (int i = 1; i < 32; i++)
        signal(i, SIG_IGN);
}

static void turn_deaf(void) {
    ignore_signals();
    hang();
}

static void flood(void) {
    static char block[1 << 16];
    memset(block, 'x', sizeof block);
    for (;;)
        toy_say_raw(block, sizeof block);
}

static void chatter(void) {
    for (;;) {
        toy_say("info depth 1 score cp 1 nodes 1 pv e2e4\n");
        toy_sleep_ms(5);
    }
}

static void storm(void) {
    for (;;)
        toy_say("info depth 1 score cp 1 nodes 1 pv e2e4\n");
}

static void trickle(void) {
    for (;;) {
        toy_say("y");
        toy_sleep_ms(1);
    }
}

static void flood_errors(void) {
    static char block[1 << 16];
    for (;;)
        if (write(STDERR_FILENO, block, sizeof block) < 0)
            hang();
}

// Another program replaces it, and has the token in its command line, too.
static const char *own_name = "toy";
static void become_sleep(void) {
    execl("/bin/sleep", own_name, "1000", (char *)NULL);
    hang();
}

static void join_parents_group(void) {
    setpgid(0, getpgid(getppid()));
    hang();
}

// ---- it goes on ---------------------------------------------------------------------------------

static void hold_pipes(void) {
    if (fork() == 0)
        hang();
}

static void hold_pipes_in_another_session(void) {
    if (fork() == 0) {
        setsid();
        hang();
    }
}

static void start_many(void) {
    for (int i = 0; i < 40; i++)
        hold_pipes();
}

// Every process forks: 2^6 in all.
static void fork_bomb(void) {
    pid_t engine = getpid();
    for (int i = 0; i < 6; i++)
        if (fork() < 0)
            break;
    if (getpid() != engine)
        hang();
}

static void start_chatter(void) {
    if (fork() == 0)
        chatter();
}

static void burst_errors(void) {
    static char block[1 << 16];
    for (int i = 0; i < 64; i++)
        if (write(STDERR_FILENO, block, sizeof block) < 0)
            return;
}

static void close_errors(void) {
    close(STDERR_FILENO);
}

static void say_long_line(void) {
    static char line[4 << 20];
    memset(line, 'y', sizeof line);
    memcpy(line, "info string ", 12);
    line[sizeof line - 1] = '\n';
    for (size_t at = 0; at < sizeof line; at += 1 << 16)
        toy_say_raw(line + at, 1 << 16);
}

static void say_garbage(void) {
    toy_say("\x01\xff\xfe%s%n bestmove\n\n\ninfo\ninfo score\nxbestmove a1a1\nid\noption\noption "
            "name\n");
}

static void say_nul_bytes(void) {
    toy_say_raw("a\0b\0\n\0", 6);
    toy_say("\n");
}

static void say_options(void) {
    char line[64];
    for (int i = 0; i < 100000; i++) {
        snprintf(line, sizeof line, "option name Nonsense%d type string default <empty>\n", i);
        toy_say(line);
    }
}

static void say_early_move(void) {
    toy_say("bestmove a1a1\n");
}

static void say_readyok(void) {
    toy_say("readyok\nreadyok\n");
}

static void eat_memory(void) {
    const size_t size = 192 << 20;
    char *block = malloc(size);
    if (block)
        memset(block, 1, size);
    toy_sleep_ms(1); // or the compiler sees that it is never read
    free(block);
}

static const Deed deeds[] = {
    {"crash", die_by_segv},
    {"abort", abort},
    {"exit", leave},
    {"exit1", leave_with_error},
    {"kill", kill_itself},
    {"halfline", leave_in_a_line},
    {"orphan", leave_a_child},
    {"daemon", become_a_daemon},
    {"closeout", close_output},
    {"closein", close_input},
    {"closeboth", close_both},
    {"hang", hang},
    {"sigstop", stop_itself},
    {"burn", burn},
    {"deaf", turn_deaf},
    {"flood", flood},
    {"chatter", chatter},
    {"storm", storm},
    {"trickle", trickle},
    {"errflood", flood_errors},
    {"exec", become_sleep},
    {"regroup", join_parents_group},
    {"child", hold_pipes},
    {"setsid", hold_pipes_in_another_session},
    {"daemonchild", start_daemon},
    {"many", start_many},
    {"forkbomb", fork_bomb},
    {"chatterchild", start_chatter},
    {"ignore", ignore_signals},
    {"errburst", burst_errors},
    {"closeerr", close_errors},
    {"longline", say_long_line},
    {"garbage", say_garbage},
    {"nulbytes", say_nul_bytes},
    {"options", say_options},
    {"earlymove", say_early_move},
    {"readyoks", say_readyok},
    {"memory", eat_memory},
};
static const char *const moments[MOMENT_COUNT] = {"start", "uci", "option", "ready0", "newgame",
                                                  "ready", "go",  "after",  "stop",   "quit"};
#define TOY_NAME(name) #name,
static const char *const answers[ANSWER_COUNT] = {ANSWERS(TOY_NAME)};

// ---- which, and when ----------------------------------------------------------------------------

// The names that the modes had before moments could be chosen.
static const struct {
    const char *name, *fault;
} short_names[] = {
    {"nouciok", "hang@uci"},        {"hangready0", "hang@ready0"}, {"hangready", "hang@ready"},
    {"hanggo", "hang@go"},          {"crashstart", "abort@start"}, {"crashready", "abort@ready"},
    {"crashnew", "abort@newgame"},  {"crashgo", "crash@go"},       {"crashstop", "abort@stop"},
    {"crashquit", "abort@quit"},    {"exitgo", "exit@go"},         {"exitnew", "exit@newgame"},
    {"bestexit", "exit@after"},     {"halfexit", "halfline@go"},   {"stderrflood", "errburst@go"},
    {"closestdout", "closeout@go"}, {"ignorequit", "hang@quit"},   {"childhold", "child@go"},
};

static bool set_moment(Toy *toy, const char *name) {
    for (int i = 0; i < MOMENT_COUNT; i++)
        if (strcasecmp(moments[i], name) == 0) {
            toy->moment = (Moment)i;
            return true;
        }
    return false;
}

static bool set_deed(Toy *toy, const char *name, size_t size) {
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++)
        if (strlen(deeds[i].name) == size && strncasecmp(deeds[i].name, name, size) == 0) {
            toy->deed = &deeds[i];
            return true;
        }
    return false;
}

bool toy_set_fault(Toy *toy, const char *text) {
    for (size_t i = 0; i < sizeof short_names / sizeof *short_names; i++)
        if (strcasecmp(short_names[i].name, text) == 0)
            text = short_names[i].fault;
    const char *at = strchr(text, '@');
    toy->moment = AT_GO;
    toy->deed = NULL;
    toy->answer = ANSWER_OK;
    for (int i = 0; i < ANSWER_COUNT && !at; i++)
        if (strcasecmp(answers[i], text) == 0) {
            toy->answer = (Answer)i;
            return true;
        }
    return set_deed(toy, text, strcspn(text, "@")) && (!at || set_moment(toy, at + 1));
}

void toy_list_faults(void) {
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++)
        printf("deed %s\n", deeds[i].name);
    for (int i = 0; i < ANSWER_COUNT; i++)
        printf("answer %s\n", answers[i]);
}

// Makes FOLDER/KIND.N for the first N that does not exist, up to `limit`; 0 if all exist.
static int claim(const char *folder, const char *kind, int limit, int note) {
    char path[512];
    for (int i = 1; i <= limit; i++) {
        snprintf(path, sizeof path, "%s/%s.%d", folder, kind, i);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (fd < 0)
            continue;
        dprintf(fd, "%d\n", note ? note : i);
        close(fd);
        return i;
    }
    return 0;
}

void toy_take_number(Toy *toy, char **argv) {
    toy->number = toy->folder ? claim(toy->folder, "process", 9999, 0) : 0;
    for (; *argv; argv++) {
        char digits[8], *at = strstr(*argv, "#0000");
        if (!at)
            continue;
        own_name = *argv;
        snprintf(digits, sizeof digits, "#%04d", toy->number % 10000);
        memcpy(at, digits, 5);
    }
}

bool toy_fault_is_due(Toy *toy, Moment moment) {
    if (toy->moment != moment || (moment >= AT_GO && toy->moves < toy->after) ||
        (!toy->deed && !toy->answer) || (toy->number && toy->number <= toy->spare))
        return false;
    if (toy->shown)
        return !toy->deed;
    toy->shown =
        !toy->faults || !toy->folder || claim(toy->folder, "fault", toy->faults, toy->number) != 0;
    return toy->shown;
}

void toy_moment(Toy *toy, Moment moment) {
    if (toy->deed && toy_fault_is_due(toy, moment))
        toy->deed->act();
}
