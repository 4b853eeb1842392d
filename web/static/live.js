// Brings the parts of a page that carry data-live up to date. When the server sends an event, the
// script reads the page's address again and changes only the elements that differ, in place. So the
// focus, the scroll position, open details and typed text stay.
"use strict";

(() => {
    const indicator = document.getElementById("live");
    if (!document.querySelector("[data-live]") || !window.EventSource || location.search.includes("before="))
        return;

    const head = document.getElementById("head");
    const test = head && head.dataset.test ? Number(head.dataset.test) : 0;
    const pause = test ? 1000 : 2000; // between two readings, ms
    let timer = 0, reading = false, again = false, last = 0;

    function show(on, text) {
        indicator.hidden = false;
        indicator.classList.toggle("on", on);
        if (indicator.textContent !== text) indicator.textContent = text;
    }

    // ---- change in place

    function sameKind(a, b) {
        return a && a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.id || "") === (b.id || "");
    }

    function copyAttributes(from, to) {
        for (const { name, value } of [...from.attributes])
            if (to.getAttribute(name) !== value && !(name === "open" || name === "value")) to.setAttribute(name, value);
        for (const { name } of [...to.attributes])
            if (!from.hasAttribute(name) && name !== "open" && name !== "value") to.removeAttribute(name);
    }

    // The element whose new state is `wanted`: the one with the same id, else the next of its kind.
    function counterpart(parent, place, wanted) {
        if (sameKind(place, wanted)) return place;
        if (wanted.nodeType !== Node.ELEMENT_NODE) return null;
        if (wanted.id) return [...parent.children].find((child) => sameKind(child, wanted)) || null;
        while (place && !sameKind(place, wanted)) place = place.nextSibling;
        return place;
    }

    function copyChildren(from, to) {
        let place = to.firstChild;
        for (const wanted of [...from.childNodes]) {
            const found = counterpart(to, place, wanted);
            if (!found) {
                to.insertBefore(document.importNode(wanted, true), place);
                continue;
            }
            if (found !== place) to.insertBefore(found, place);
            change(wanted, found);
            place = found.nextSibling;
        }
        while (place) {
            const next = place.nextSibling;
            place.remove();
            place = next;
        }
    }

    function change(from, to) {
        if (from.isEqualNode(to)) return;
        if (from.nodeType !== Node.ELEMENT_NODE) {
            if (to.nodeValue !== from.nodeValue) to.nodeValue = from.nodeValue;
            return;
        }
        copyAttributes(from, to);
        if (!to.hasAttribute("data-keep")) copyChildren(from, to);
    }

    function update(text) {
        const fresh = new DOMParser().parseFromString(text, "text/html");
        for (const part of document.querySelectorAll("[data-live][id]")) {
            const wanted = fresh.getElementById(part.id);
            if (wanted) change(wanted, part);
        }
        if (fresh.title && document.title !== fresh.title) document.title = fresh.title;
        document.dispatchEvent(new CustomEvent("live"));
    }

    // ---- read again

    async function read() {
        timer = 0;
        if (document.hidden) { again = true; return; }
        reading = true;
        last = Date.now();
        try {
            const reply = await fetch(location.href, { headers: { "X-Patchmate-Live": "1" }, cache: "no-store" });
            if (reply.ok) update(await reply.text());
        } catch (error) {
            // if the server is down, the event stream shows it when it reconnects
        }
        reading = false;
        if (again) { again = false; plan(); }
    }

    function plan() {
        if (timer) return;
        if (reading) { again = true; return; }
        timer = setTimeout(read, Math.max(100, last + pause - Date.now()));
    }

    function concerns(event, data) {
        if (!test) return true;
        return event === "test" ? data.id === test : data.test === test;
    }

    const stream = new EventSource("/api/v1/stream" + (test ? "?test=" + test : ""));
    let opened = false;
    stream.addEventListener("open", () => {
        show(true, "live");
        if (opened) plan(); // events may have been lost while the stream was closed
        opened = true;
    });
    stream.addEventListener("error", () => show(false, "reconnecting"));
    for (const event of ["test", "event"])
        stream.addEventListener(event, (message) => {
            if (concerns(event, JSON.parse(message.data))) plan();
        });
    document.addEventListener("visibilitychange", () => {
        if (!document.hidden && again) { again = false; plan(); }
    });
    window.addEventListener("pagehide", () => stream.close());
})();

// A time like "3 min ago" changes without an event. The server uses the same words (format_ago).
(() => {
    const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

    function ago(seconds) {
        for (const [size, unit] of units)
            if (seconds >= size) return `${Math.floor(seconds / size)}\u00a0${unit} ago`;
        return "now";
    }

    function refresh() {
        for (const time of document.querySelectorAll("main time")) {
            if (!/( ago|now)$/.test(time.textContent)) continue;
            const text = ago((Date.now() - Date.parse(time.dateTime)) / 1000);
            if (time.textContent !== text) time.textContent = text;
        }
    }

    setInterval(refresh, 10000);
})();

// A button that copies the verdict, so that authors can paste it into a commit message.
(() => {
    const text = document.getElementById("verdict-text");
    if (!text || !navigator.clipboard) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(text.textContent);
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    const panel = text.closest(".panel");
    if (panel) panel.querySelector("h2").after(button);
})();
