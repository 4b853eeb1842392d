"""Programs built with AddressSanitizer that look for leaks when they end, and the proof that they did."""

import functools

MARK, FINDINGS = "Processing thread", ("ERROR:", "fatal error", "runtime error:")


@functools.cache
def is_sanitized(program):
    return b"__asan_init" in program.read_bytes()


def environment(env, stem, check):
    """`env` for a program whose sanitizer writes its reports to the file STEM.PID. A report exists only if something was
    found, so `log_threads` makes each check for leaks name the threads that it looks at. `check` false: no check."""
    def joined(name, options):
        return {name: ":".join(filter(None, (env.get(name), options)))}
    return {**env, **joined("ASAN_OPTIONS", f"detect_leaks={int(check)}:log_path={stem}"), **joined("LSAN_OPTIONS", "log_threads=1")}


def reports(stem):
    """All that was written to files of that stem."""
    return "".join(path.read_text(errors="replace") for path in sorted(stem.parent.glob(stem.name + ".*")))


def must_be_none(stem, pid):
    """For a program that has ended by itself: fails if it did not look for leaks, and if it found something."""
    path = stem.parent / f"{stem.name}.{pid}"
    text = path.read_text(errors="replace") if path.exists() else ""
    if MARK not in text:
        raise AssertionError(f"there was no check for leaks at the end of process {pid}: {text or 'it left no report'}")
    if any(word in text for word in FINDINGS):
        raise AssertionError(text)
