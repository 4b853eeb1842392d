// The engines of the self-test. A snapshot is made from source text, or from the engine that is
// installed with this program, and is built as the snapshot of a task is.
#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/common/file.h"
#include "server/common/hash.h"
#include "worker/selftest/parts.h"

enum { SNAPSHOT_MAX = 64 << 20, SOURCE_MAX = 16 << 20, DEPTH_MAX = 2 };

#define NET_FILE "net"
#define NET_FOLDER "nets/"

typedef struct Snapshot {
    struct archive *archive;
    const SelfTestSource *source;
    bool added;
    char *net; // the path of the net that the folder's file `net` names; NULL: none
    Str bytes;
} Snapshot;

static void add_entry(Snapshot *s, const char *path, const char *text, size_t size) {
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, path);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, (la_int64_t)size);
    archive_write_header(s->archive, entry);
    archive_write_data(s->archive, text, size);
    archive_entry_free(entry);
}

// True for the files that `make install` installs: the source code, and the net with which the
// engine is built. Other files, such as the output of a build, are left out.
static bool is_source(const Snapshot *s, const char *path) {
    static const char *const ends[] = {".c", ".h", ".S"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(dot, ends[i]) == 0)
            return true;
    return strcmp(path, "Makefile") == 0 || strcmp(path, NET_FILE) == 0 ||
           (s->net && strcmp(path, s->net) == 0);
}

static void add_file(Snapshot *s, const char *full, const char *path) {
    Error ignored;
    size_t size = 0;
    char *text scope(free_ptr) = file_read(full, SOURCE_MAX, &size, &ignored);
    if (!text)
        return;
    if (strcmp(path, NET_FILE) == 0)
        s->net = xasprintf(NET_FOLDER "%.*s", (int)strcspn(text, " \t\n"), text);
    if (strcmp(path, s->source->name) != 0) {
        add_entry(s, path, text, size);
        return;
    }
    char *both scope(free_ptr) = xasprintf("%s\n%s", text, s->source->text);
    add_entry(s, path, both, strlen(both));
    s->added = true;
}

// In the order of names, so that the file `net`, which names the net, comes before the nets.
static void add_folder(Snapshot *s, const char *folder, const char *prefix, int depth) {
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        struct stat st;
        const char *name = entries[i]->d_name;
        char *full scope(free_ptr) = xasprintf("%s/%s", folder, name);
        char *path scope(free_ptr) = xasprintf("%s%s", prefix, name);
        char *inner scope(free_ptr) = xasprintf("%s/", path);
        if (*name == '.' || stat(full, &st) < 0)
            ;
        else if (S_ISDIR(st.st_mode) && depth + 1 < DEPTH_MAX)
            add_folder(s, full, inner, depth + 1);
        else if (S_ISREG(st.st_mode) && is_source(s, path))
            add_file(s, full, path);
        free(entries[i]);
    }
    free(entries);
}

static la_ssize_t take(struct archive *archive, void *ctx, const void *bytes, size_t size) {
    (void)archive;
    str_add(ctx, bytes, size);
    return (la_ssize_t)size;
}

static void make_snapshot(Snapshot *s) {
    s->archive = archive_write_new();
    archive_write_set_format_ustar(s->archive);
    archive_write_open(s->archive, &s->bytes, NULL, take, NULL);
    if (s->source->folder)
        add_folder(s, s->source->folder, "", 0);
    if (!s->added)
        add_entry(s, s->source->name, s->source->text, strlen(s->source->text));
    archive_write_free(s->archive);
    free(s->net);
}

// Puts the snapshot into the store, as if it had been fetched.
static bool keep_snapshot(const SelfTest *test, Snapshot *s, char sha256[SHA256_HEX_MAX],
                          Error *err) {
    sha256_hex(s->bytes.data, s->bytes.size, sha256);
    char *path scope(free_ptr) = store_blob(&test->worker->store, sha256);
    return file_write_durable(path, s->bytes.data, s->bytes.size, err);
}

bool selftest_build(SelfTest *test, const SelfTestSource *source, Build *out, Str *log,
                    Error *err) {
    char sha256[SHA256_HEX_MAX];
    Snapshot s = {.source = source};
    json_auto_t *env = json_object();
    TaskBuild recipe = {
        .directory = ".", .command = source->command, .binary = source->binary, .env = env};
    str_init(&s.bytes, SNAPSHOT_MAX);
    make_snapshot(&s);
    bool kept = keep_snapshot(test, &s, sha256, err);
    str_release(&s.bytes);
    return kept && build_engine(&test->context, &recipe, sha256, out, log, err) == BUILD_DONE;
}

// From the start position its games are draws by repetition. An argument names a fault, which the
// engine shows at its first move. With "steal" it uses CPU time while its opponent is to move, in
// child processes for which it does not wait. With "slow" it waits before each move, so that an
// opponent with "steal" has time for that.
const char selftest_toy[] =
    "#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "#include <time.h>\n#include <unistd.h>\n"
    "static char line[1 << 16], block[1 << 16];\n"
    "static void fail(const char *mode) {\n"
    "    if (!strcmp(mode, \"crash\")) raise(SIGSEGV);\n"
    "    if (!strcmp(mode, \"exit\")) exit(0);\n"
    "    if (!strcmp(mode, \"hang\")) for (;;) pause();\n"
    "    if (!strcmp(mode, \"spin\")) for (volatile int i = 0;; i++);\n"
    "    if (!strcmp(mode, \"memory\")) for (char *p; (p = malloc(1 << 22));) memset(p, 1, 1 << "
    "22);\n"
    "    if (!strcmp(mode, \"illegal\")) puts(\"bestmove e2e5\");\n"
    "    if (!strcmp(mode, \"garbage\")) puts(\"bestmove \\001\\377%s%n\");\n"
    "    if (!strcmp(mode, \"flood\")) for (memset(block, 'x', sizeof block);;) write(1, block, "
    "sizeof "
    "block);\n"
    "    if (!strcmp(mode, \"fork\")) { for (int i = 0; i < 40; i++) if (!fork()) for (;;) "
    "pause(); "
    "raise(SIGSEGV); }\n"
    "    if (!strcmp(mode, \"stubborn\")) { for (int i = 1; i < 64; i++) signal(i, SIG_IGN); for "
    "(;;) "
    "pause(); }\n"
    "}\n"
    "static void steal(void) {\n"
    "    signal(SIGCHLD, SIG_IGN);\n"
    "    if (!fork()) { while (clock() < CLOCKS_PER_SEC / 100); _exit(0); }\n"
    "}\n"
    "int main(int argc, char **argv) {\n"
    "    static const char *const moves[] = {\"g1f3\", \"g8f6\", \"f3g1\", \"f6g8\"};\n"
    "    int ply = 0;\n"
    "    setvbuf(stdout, NULL, _IONBF, 0);\n"
    "    if (argc > 1 && !strcmp(argv[1], \"bench\"))\n"
    "        return puts(\"Nodes searched  : 4\\nNodes/second    : 1000000\") < 0;\n"
    "    while (fgets(line, sizeof line, stdin)) {\n"
    "        if (!strncmp(line, \"uci\\n\", 4)) puts(\"id name Toy\\nuciok\");\n"
    "        if (!strncmp(line, \"isready\", 7)) puts(\"readyok\");\n"
    "        if (!strncmp(line, \"quit\", 4)) return 0;\n"
    "        if (!strncmp(line, \"position\", 8)) {\n"
    "            char *at = strstr(line, \" moves \");\n"
    "            for (ply = 0, at = at ? at + 6 : NULL; at; at = strchr(at + 1, ' ')) ply++;\n"
    "        }\n"
    "        if (!strncmp(line, \"go\", 2)) {\n"
    "            if (argc > 1) fail(argv[1]);\n"
    "            if (argc > 1 && !strcmp(argv[1], \"slow\")) usleep(20000);\n"
    "            printf(\"info depth 1 score cp 0 nodes 1\\nbestmove %s\\n\", moves[ply % 4]);\n"
    "            if (argc > 1 && !strcmp(argv[1], \"steal\")) steal();\n"
    "        }\n"
    "    }\n"
    "    return 0;\n"
    "}\n";

// Arguments: a file outside its folder, a port on 127.0.0.1, and the id of the worker's process. It
// prints a line for each thing that it tried: its name, and 0 (prevented) or 1 (possible).
const char selftest_probe[] =
    "#define _GNU_SOURCE\n#include <arpa/inet.h>\n#include <ctype.h>\n#include "
    "<dirent.h>\n#include <fcntl.h>\n"
    "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/socket.h>\n"
    "#include <unistd.h>\n"
    "int main(int argc, char **argv) {\n"
    "    char path[4096];\n"
    "    if (argc < 3 || !strcmp(argv[1], \"bench\")) return 1;\n"
    "    printf(\"reads %d\\n\", open(argv[1], O_RDONLY) >= 0);\n"
    "    snprintf(path, sizeof path, \"%s.new\", argv[1]);\n"
    "    printf(\"writes %d\\n\", open(path, O_WRONLY | O_CREAT, 0600) >= 0 || open(\"/usr/x\", "
    "O_WRONLY | O_CREAT, 0600) >= 0);\n"
    "    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned "
    "short)strtol(argv[2], NULL, 10))};\n"
    "    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);\n"
    "    int fd = socket(AF_INET, SOCK_STREAM, 0);\n"
    "    printf(\"network %d\\n\", fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof to));\n"
    "    int others = 0, pid = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;\n"
    "    snprintf(path, sizeof path, \"/proc/%s/cmdline\", argc > 3 ? argv[3] : \"1\");\n"
    "    FILE *file = fopen(path, \"r\");\n"
    "    size_t n = file ? fread(path, 1, sizeof path, file) : 0;\n"
    "    printf(\"processes %d\\n\", memmem(path, n, \"--self-test\", 11) != NULL);\n"
    "    return 0;\n"
    "}\n";
