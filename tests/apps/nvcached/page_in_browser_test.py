#!/usr/bin/env python3
"""The page of the metrics port in a headless Chromium: it shows what `stats` says, follows it, has
no error, and asks nobody else. Skipped where there is no Chromium.

usage: page_in_browser_test.py SERVER [SLOW_SYNC]
       page_in_browser_test.py SERVER --control    pages with a fault built in must be found
"""
import http.server
import os
import sys
import tempfile
import threading
import urllib.error
import urllib.request

import headless_browser
from page_test import HOSTILE, held_start, metrics_server, send_hostile_keys
from running_server import (LONG_SECONDS, Server, check, equal, fill, free_port, receive, run, send,
                            stats, store)

PROGRAM = sys.argv[1]
CHROMIUM = headless_browser.find()
SKIPPED = 77
ITEMS = "document.querySelector('#items .big').textContent"


def origin_of(port):
    return f"http://127.0.0.1:{port}/"


def opened(browser, origin):
    """Until it shows numbers. An error of the page ends the wait."""
    browser.open(origin)
    browser.wait_for("document.querySelector('#serving')?.hidden === false && "
                     "document.querySelector('#items .big').textContent !== '–'")


def check_clean(browser, origin):
    equal(browser.errors, [])
    others = [address for address in browser.asked if not address.startswith(origin)
              and address != "about:blank"]
    equal(others, [])
    check(len(browser.asked) > 5, browser.asked)


def some_traffic(server):
    fill(server, 30, 100)
    with server.connect() as client:
        send(client, b"".join(b"get k%d\r\n" % (i % 40) for i in range(80)) + b"mn\r\n")
        receive(client, b"MN\r\n")


def check_numbers(browser, server):
    """Of some_traffic(): what the page says is what `stats` says."""
    told = stats(server)
    browser.wait_for(f"{ITEMS} === '{told['curr_items']}'")
    hits, misses = int(told["get_hits"]), int(told["get_misses"])
    # Those of the last minute may be fewer: the server looks once a second.
    ratio = f"{100 * hits / (hits + misses):.1f}%"
    check(f"{ratio} since the start" in browser.text("#hit-ratio .note") or
          browser.text("#hit-ratio .note").startswith("since the start") and
          browser.text("#hit-ratio .big") == ratio, browser.text("#hit-ratio"))
    browser.value("document.querySelector('details').open = true")
    browser.wait_for("document.querySelectorAll('#all tbody tr').length > 50")
    rows = dict(browser.value("[...document.querySelectorAll('#all tbody tr')].map((row) => "
                              "[...row.cells].slice(0, 2).map((cell) => cell.textContent))"))
    for name in ("get_hits", "get_misses", "cmd_set", "curr_items", "limit_maxbytes", "threads",
                 "bytes", "max_connections"):
        equal((name, rows[name].replace(",", "")), (name, told[name]))
    equal(rows["store_durability"], told["store_durability"])
    check("not known" in browser.text("#wear .big"), browser.text("#wear"))


def it_shows_what_stats_says():
    with metrics_server() as server, headless_browser.Browser(CHROMIUM) as browser:
        origin = origin_of(server.ports["METRICS"])
        some_traffic(server)
        opened(browser, origin)
        equal(browser.text("#state"), "serving")
        check_numbers(browser, server)
        # Without a new load it follows.
        with server.connect() as client:
            for i in range(70):
                equal(store(client, b"more%d" % i, b"x"), b"STORED\r\n")
        browser.wait_for(f"{ITEMS} === '100'")
        equal(browser.value("document.querySelectorAll('.notice').length"), 0)
        check_clean(browser, origin)


def it_fits_phones_and_the_dark():
    grounds = set()
    with metrics_server() as server:
        origin = origin_of(server.ports["METRICS"])
        some_traffic(server)
        send_hostile_keys(server)
        for width, dark in ((360, False), (360, True), (1900, True)):
            with headless_browser.Browser(CHROMIUM, width=width, dark=dark) as browser:
                opened(browser, origin)
                check(browser.value("document.documentElement.scrollWidth <= innerWidth"), width)
                grounds.add(browser.value("getComputedStyle(document.body).backgroundColor"))
                check_clean(browser, origin)
    equal(len(grounds), 2)


def check_prefixes_are_text(browser):
    browser.wait_for("document.querySelectorAll('#prefixes tbody tr').length > 0")
    shown = browser.value("[...document.querySelectorAll('.prefix')].map((each) => "
                          "each.textContent)")
    for start in HOSTILE:
        check(start[:64].decode(errors="replace") in shown, f"{start} is not in {shown}")
    equal(browser.value("document.querySelectorAll('#prefixes .prefix *, main script, main img')"
                        ".length"), 0)


def keys_are_never_markup():
    with metrics_server() as server, headless_browser.Browser(CHROMIUM) as browser:
        origin = origin_of(server.ports["METRICS"])
        send_hostile_keys(server)
        opened(browser, origin)
        check_prefixes_are_text(browser)
        check_clean(browser, origin)


def a_drive_wears_out():
    with metrics_server() as server, headless_browser.Browser(CHROMIUM) as browser:
        origin = origin_of(server.ports["METRICS"])
        opened(browser, origin)
        fill(server, 300, 1000)
        write = ("(() => { const input = document.querySelector('#rated_tb'); input.value = '%s'; "
                 "input.dispatchEvent(new Event('input')); })()")
        browser.value(write % "600")
        days = "document.querySelector('#wear .big').textContent"
        browser.wait_for(f"/^[0-9.,]+ ?[kMGT]? days?$/.test({days})")
        browser.value(write % "")
        equal(browser.value(days), "not known")
        browser.value(write % "500")
        opened(browser, origin)
        equal(browser.value("document.querySelector('#rated_tb').value"), "500")
        check_clean(browser, origin)
        with metrics_server("--medium", "dram") as other:
            opened(browser, origin_of(other.ports["METRICS"]))
            equal(browser.text("#wear .big"), "does not wear out")


def it_outlives_a_server():
    with tempfile.TemporaryDirectory() as folder, headless_browser.Browser(CHROMIUM) as browser:
        port = free_port()
        options = ("-m", "16", "--metrics-port", str(port))
        with Server(PROGRAM, *options, folder=folder) as server:
            fill(server, 50, 100)
            opened(browser, origin_of(port))
            equal(browser.text("#restart .big"), "a new store")
        browser.wait_for("document.querySelector('#state').textContent === 'no answer'",
                         errors=True)
        with Server(PROGRAM, *options, folder=folder):
            browser.wait_for("document.querySelector('#state').textContent === 'serving'",
                             errors=True)
            equal(browser.text("#restart .big"), "50 items back")


def it_shows_a_long_start():
    if len(sys.argv) < 3:
        return "no library that holds syncs"
    with tempfile.TemporaryDirectory() as folder, headless_browser.Browser(CHROMIUM) as browser:
        with Server(PROGRAM, "-m", "8", folder=folder) as server:
            fill(server, 50, 100)
        port = free_port()
        server, held = held_start(folder, "--metrics-port", str(port))
        with server:
            browser.open(origin_of(port))
            browser.wait_for("document.querySelector('#starting')?.hidden === false")
            equal(browser.text("#state"), "starting")
            check("Clients are served afterwards" in browser.text("#progress-text"))
            os.unlink(held)
            browser.wait_for("document.querySelector('#serving').hidden === false")
            equal(browser.text("#restart .big"), "50 items back")
            check_clean(browser, origin_of(port))
    return None


class Spoiling(http.server.BaseHTTPRequestHandler):
    """Passes requests on, and spoils the answers."""
    port = None
    spoil = None

    def do_GET(self):  # pylint: disable=invalid-name
        try:
            with urllib.request.urlopen(origin_of(self.port) + self.path[1:],
                                        timeout=LONG_SECONDS) as answer:
                text, kind = answer.read().decode(), answer.headers["Content-Type"]
        except urllib.error.URLError:
            return self.send_error(502)
        text = Spoiling.spoil(self.path, text).encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        return None

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


def replacing(path, old, new):
    def spoil(asked, text):
        if asked != path:
            return text
        check(old in text, f"{path} has no {old}")
        return text.replace(old, new)
    return spoil


FAULTS = {
    "a script that does not parse": replacing("/page.js", "const EVERY_MS", "const const"),
    "a script that is not there": replacing("/", "page.js", "page2.js"),
    "a name that no row has": replacing("/page.js", "'get_misses_total'", "'get_mizzes_total'"),
    "a question to another origin": replacing("/page.js", "'use strict';",
                                              "fetch('http://127.0.0.1:9/', {mode: 'no-cors'})"
                                              ".catch(() => 0);"),
    "an image of another origin": replacing("/", "<main>",
                                            "<main><img src='http://localhost:9/x'>"),
    "a wrong share": replacing("/page.js", "['get_hits_total']) / grown",
                               "['cmd_set_total']) / grown"),
    "keys as markup": replacing("/draw.js", "element.textContent = text;",
                                "element.innerHTML = text;"),
}


def a_fault_is_found(name):
    def test():
        with metrics_server() as server, headless_browser.Browser(CHROMIUM) as browser:
            some_traffic(server)
            send_hostile_keys(server)
            Spoiling.port = server.ports["METRICS"]
            Spoiling.spoil = staticmethod(FAULTS[name])
            proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Spoiling)
            threading.Thread(target=proxy.serve_forever, daemon=True).start()
            try:
                opened(browser, origin_of(proxy.server_port))
                check_numbers(browser, server)
                check_prefixes_are_text(browser)
                check_clean(browser, origin_of(proxy.server_port))
            except AssertionError as error:
                print(f"found: {str(error)[:150]!r}")
            else:
                # The same without a fault passes: the proxy is no fault by itself.
                check(name == NOTHING, f"{name} was not found")
                return
            finally:
                proxy.shutdown()
                proxy.server_close()
            check(name != NOTHING, "the proxy alone is taken for a fault")
    test.__name__ = name.replace(" ", "_")
    return test


NOTHING = "nothing"
FAULTS[NOTHING] = lambda path, text: text

if __name__ == "__main__":
    if CHROMIUM is None:
        print(f"skipped: none of {', '.join(headless_browser.NAMES)} is installed")
        sys.exit(SKIPPED)
    sys.exit(run([a_fault_is_found(name) for name in FAULTS] if "--control" in sys.argv else
                 [it_shows_what_stats_says, it_fits_phones_and_the_dark, keys_are_never_markup,
                  a_drive_wears_out, it_outlives_a_server, it_shows_a_long_start]))
