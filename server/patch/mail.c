// Reads the mails of `git format-patch`: the author, the date and the message of a change. It is
// not a general mail reader. A body in quoted-printable or base64 is refused, and the message says
// what to do.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/common/utf8.h"
#include "server/patch/patch.h"

enum { HEADER_BYTES_MAX = 8192, MESSAGE_BYTES_MAX = 65536 };

// True for the line "From 0a4d55a8… Mon Sep 17 00:00:00 2001" that git writes, and for a header of
// a mail that was saved without that line.
bool patch_mail_starts(const char *text, size_t size) {
    if (!patch_starts(text, size, "From ") || size < 46 || text[45] != ' ')
        return patch_starts(text, size, "From: ") || patch_starts(text, size, "Subject: ");
    for (int i = 5; i < 45; i++)
        if (!isxdigit((unsigned char)text[i]))
            return false;
    return true;
}

static int hex_digit(char c) {
    return isdigit((unsigned char)c) ? c - '0' : (tolower((unsigned char)c) - 'a' + 10) & 15;
}

static void decode_q(const char *text, size_t size, Str *out) {
    for (size_t i = 0; i < size; i++) {
        bool escape = text[i] == '=' && i + 2 < size && isxdigit((unsigned char)text[i + 1]) &&
                      isxdigit((unsigned char)text[i + 2]);
        str_putc(out, escape ? (char)(hex_digit(text[i + 1]) << 4 | hex_digit(text[i + 2]))
                      : text[i] == '_' ? ' '
                                       : text[i]);
        i += escape ? 2 : 0;
    }
}

static void decode_b(const char *text, size_t size, Str *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = 0;
    int count = 0;
    for (size_t i = 0; i < size && text[i] != '='; i++) {
        const char *at = text[i] ? strchr(digits, text[i]) : NULL;
        if (!at)
            continue;
        bits = bits << 6 | (unsigned)(at - digits);
        count += 6;
        if (count >= 8)
            str_putc(out, (char)(bits >> (count -= 8)));
        bits &= (1u << count) - 1;
    }
}

// Decodes RFC 2047: "=?UTF-8?q?J=C3=BCrgen?=". Text in other character sets stays as it is.
static char *decode_words(const char *text) {
    Str out;
    str_init(&out, HEADER_BYTES_MAX);
    while (*text) {
        const char *body = strncasecmp(text, "=?utf-8?", 8) == 0 ? text + 8 : NULL;
        const char *end = body && body[0] && body[1] == '?' ? strstr(body + 2, "?=") : NULL;
        if (!end) {
            str_putc(&out, *text++);
            continue;
        }
        size_t size = (size_t)(end - body - 2);
        if (tolower((unsigned char)*body) == 'q')
            decode_q(body + 2, size, &out);
        else
            decode_b(body + 2, size, &out);
        text = end + 2;
        const char *next = text + strspn(text, " \t"); // blanks between encoded words do not count
        if (strncasecmp(next, "=?utf-8?", 8) == 0)
            text = next;
    }
    char *clean = utf8_clean(out.data, out.size);
    str_release(&out);
    return clean;
}

// Reads "Name <address>", or an address without a name.
static void set_author(PatchMail *mail, const char *value) {
    free(mail->author);
    free(mail->email);
    const char *open = strrchr(value, '<'), *close = open ? strchr(open, '>') : NULL;
    mail->email = close ? xstrndup(open + 1, (size_t)(close - open - 1)) : xstrdup(value);
    const char *first = value + strspn(value, " \t\"");
    size_t n = close && open > first ? (size_t)(open - first) : strlen(mail->email);
    char *name = xstrndup(close && open > first ? first : mail->email, n);
    while (n && strchr(" \t\"", name[n - 1]))
        name[--n] = 0;
    mail->author = name;
}

static void set_date(PatchMail *mail, const char *value) {
    struct tm tm = {0};
    const char *comma = strchr(value, ',');
    if (!strptime(comma ? comma + 1 : value, " %d %b %Y %H:%M:%S %z", &tm))
        return;
    long offset = tm.tm_gmtoff;
    time_t local = timegm(&tm); // also resets tm_gmtoff
    mail->authored = (double)(local - offset);
    mail->offset_minutes = (int)(offset / 60);
    if (mail->authored < 0 || mail->authored > 4e9)
        mail->authored = 0, mail->offset_minutes = 0;
}

// Like `git am`: "Re:" and "[PATCH 2/3]" are not part of the subject.
static const char *bare_subject(const char *subject) {
    for (;;) {
        subject += strspn(subject, " \t:");
        const char *close = *subject == '[' ? strchr(subject, ']') : NULL;
        if (close)
            subject = close + 1;
        else if (strncasecmp(subject, "re:", 3) == 0)
            subject += 3;
        else
            return subject;
    }
}

static bool use_header(PatchMail *mail, const char *header, Str *subject, Error *err) {
    if (strncasecmp(header, "From:", 5) == 0 || strncasecmp(header, "Subject:", 8) == 0) {
        char *value scope(free_ptr) = decode_words(strchr(header, ':') + 1);
        if (tolower((unsigned char)*header) == 'f')
            set_author(mail, value);
        else
            str_clear(subject), str_puts(subject, bare_subject(value));
    } else if (strncasecmp(header, "Date:", 5) == 0) {
        set_date(mail, header + 5);
    } else if (strncasecmp(header, "Content-Transfer-Encoding:", 26) == 0) {
        const char *value = header + 26 + strspn(header + 26, " \t");
        if (strncasecmp(value, "quoted-printable", 16) == 0 || strncasecmp(value, "base64", 6) == 0)
            return error_field(err, 422, "patch_encoding", "patch",
                               "the mail is encoded as %.16s, which changes the text of the patch; "
                               "upload the file that `git format-patch` wrote",
                               value);
    }
    return true;
}

// Reads the header lines up to the empty line. A line that begins with a blank continues the line
// before it.
static bool read_headers(PatchCursor *c, PatchMail *mail, Str *subject, Error *err) {
    Str header scope(str_release);
    str_init(&header, HEADER_BYTES_MAX);
    const char *text;
    size_t size;
    while (patch_line(c, &text, &size) && size) {
        if (*text == ' ' || *text == '\t') {
            str_putc(&header, ' ');
            while (size && (*text == ' ' || *text == '\t'))
                text++, size--;
        } else {
            if (!use_header(mail, header.data, subject, err))
                return false;
            str_clear(&header);
        }
        str_add(&header, text, size);
    }
    return use_header(mail, header.data, subject, err);
}

static bool message_ends(const char *text, size_t size) {
    return (size == 3 && memcmp(text, "---", 3) == 0) || patch_starts(text, size, "diff --git ") ||
           patch_starts(text, size, "diff -u") || patch_starts(text, size, "Index: ") ||
           patch_starts(text, size, "--- ");
}

// Reads the body of the message. If its first line is a "From:", that line names the author:
// another person sent the mail.
static void read_body(PatchCursor *c, PatchMail *mail, Str *message) {
    const char *text;
    size_t size;
    bool first = true;
    for (PatchCursor next = *c; patch_line(&next, &text, &size); *c = next) {
        if (message_ends(text, size) || (!first && patch_mail_starts(text, size) && text[4] == ' '))
            break;
        if (first && patch_starts(text, size, "From: ")) {
            char *raw scope(free_ptr) = xstrndup(text + 6, size - 6);
            char *value scope(free_ptr) = decode_words(raw);
            set_author(mail, value);
        } else if (size || message->size) {
            str_add(message, text, size);
            str_putc(message, '\n');
        }
        first = first && !size;
    }
}

bool patch_mail_read(PatchCursor *c, PatchMail *mail, Error *err) {
    Str message scope(str_release), body scope(str_release);
    str_init(&message, MESSAGE_BYTES_MAX);
    str_init(&body, MESSAGE_BYTES_MAX);
    if (!read_headers(c, mail, &message, err))
        return false;
    read_body(c, mail, &body);
    while (body.size && isspace((unsigned char)body.data[body.size - 1]))
        body.data[--body.size] = 0;
    str_putc(&message, '\n');
    if (body.size)
        str_printf(&message, "\n%s\n", body.data);
    mail->message = utf8_clean(message.data, message.size);
    if (mail->author)
        return true;
    return error_field(err, 422, "patch_mail", "patch",
                       "the mail that ends at line %d has no From: line; upload the file that "
                       "`git format-patch` wrote",
                       c->line);
}
