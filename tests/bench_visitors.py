"""What the worst requests of one address cost the server, and what another visitor feels of them."""

import os
import statistics
import time

from figures import row

CONNECTIONS, SECONDS, LIMIT_MS = 100, 1, 250


def felt(attacked, visitor, seconds, meanwhile=lambda: None):
    """Times of the home page in ms, one after the other."""
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end or len(times) < 3:
        times.append(attacked.visit(visitor))
        meanwhile()
    return times


def p99(times):
    return sorted(times)[min(len(times) - 1, int(0.99 * len(times)))]


def attack(attacked, visitor, route, page_ms):
    """CPU ms for each that was answered, how many were, how many were refused, and the visitor's times."""
    import routes
    cpu = attacked.cpu_ms()
    flood = routes.Flood(attacked, route, CONNECTIONS)
    times = felt(attacked, visitor, SECONDS, flood.repeat)
    statuses = flood.end()
    cpu, refused = attacked.cpu_ms() - cpu - page_ms * len(times), statuses[429] + statuses[503]
    answered = sum(statuses.values()) - refused
    return max(0, cpu) / max(1, answered), answered, refused, times


def visitors(build, _games):
    os.environ["BUILD"] = str(build)
    import routes
    attacked, fine = routes.Attacked(), True
    try:
        visitor = attacked.server.client(timeout=10)
        before = attacked.cpu_ms()
        quiet = felt(attacked, visitor, 2)
        page_ms = (attacked.cpu_ms() - before) / len(quiet)
        row("the home page, without other visitors: median, 99th percentile", f"{statistics.median(quiet):.1f}, {p99(quiet):.1f}", "ms")
        print(f"\n  beside {CONNECTIONS} connections of one address that send the worst request of a route again and again:\n\n"
              f"  {'route':<47} {'CPU ms each':>11} {'answered':>9} {'refused':>8} {'visitor p99 ms':>15}", flush=True)
        for route in routes.table(attacked.server):
            each, answered, refused, times = attack(attacked, visitor, route, page_ms)
            good = p99(times) < LIMIT_MS
            print(f"  {route.method + ' ' + route.pattern:<47} {each:>11.1f} {answered:>9,} {refused:>8,} {p99(times):>15.1f}"
                  f"{'' if good else '  <-- MISSED'}", flush=True)
            fine &= good
        row("limit of what a visitor feels, 99th percentile", f"{LIMIT_MS}", "ms")
    finally:
        attacked.close()
    return fine
