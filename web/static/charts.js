// Shows the values of a test's charts under the pointer, or at the point that the arrow keys choose.
// The server draws the charts (server/pages/chart.c), and live.js brings them up to date. This
// script reads the points of a drawn line and looks up their values in the history of the test, so
// it need not know the scales.
"use strict";

(() => {
    const source = document.getElementById("history");
    if (!source) return;

    const plain = (value) => value.toLocaleString("en-US");
    const signed = (value) => (value > 0 ? "+" : value < 0 ? "\u2212" : "") + Math.abs(value).toFixed(2);
    const time = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");

    // For each chart with a line: the column that it draws, the number of points before the first of
    // the history, and the text for a point.
    const charts = {
        llr: { column: "llr", before: 1, words: (h, i) => `${plain(h.games[i])} games\nLLR ${signed(h.points.llr[i])}` },
        elo: {
            column: "elo", before: 0,
            words: (h, i) => `${time(h.time[i])} UTC\n${plain(h.games[i])} games\n` +
                `Elo ${signed(h.elo[i])} \u00b1 ${(h.error[i] || 0).toFixed(2)}\nscore ${(100 * h.score[i]).toFixed(2)}\u00a0%`,
        },
    };

    function part(figure, name) {
        const element = document.createElement("div");
        element.className = name;
        element.hidden = true;
        figure.append(element);
        return element;
    }

    function watch(figure, chart) {
        const crosshair = part(figure, "crosshair"), readout = part(figure, "readout");
        let at = -1; // an index into the drawn points

        // The drawn points with their values, the scale of the drawing, and its place on the page.
        function look() {
            const line = figure.querySelector("polyline.line");
            if (!line) return null;
            const svg = line.ownerSVGElement, box = svg.getBoundingClientRect(), frame = figure.getBoundingClientRect();
            const history = JSON.parse(source.dataset.history), scale = box.width / svg.viewBox.baseVal.width;
            const indices = history.games.map((_, i) => i).filter((i) => (history[chart.column] || history.points[chart.column])[i] !== null);
            const points = [...line.points].slice(chart.before);
            if (!points.length || points.length !== indices.length) return null;
            return { history, indices, points, scale, box, left: box.left - frame.left, top: box.top - frame.top, width: frame.width };
        }

        function show(view) {
            at = Math.min(Math.max(at, 0), view.points.length - 1);
            const x = view.left + view.points[at].x * view.scale, right = x > view.width / 2;
            crosshair.hidden = readout.hidden = false;
            crosshair.style.left = x + "px";
            crosshair.style.top = view.top + "px";
            crosshair.style.height = view.box.height + "px";
            readout.textContent = chart.words(view.history, view.indices[at]);
            readout.style.top = view.top + "px";
            readout.style.left = right ? "" : x + 8 + "px";
            readout.style.right = right ? view.width - x + 8 + "px" : "";
        }

        function hide() {
            at = -1;
            crosshair.hidden = readout.hidden = true;
        }

        function point(event) {
            const view = look();
            if (!view || !event.target.closest("svg")) return hide();
            const x = (event.clientX - view.box.left) / view.scale;
            const distance = (i) => Math.abs(view.points[i].x - x);
            at = view.points.reduce((best, _, i) => (distance(i) < distance(best) ? i : best), 0);
            show(view);
        }

        function press(event) {
            const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
            const view = step && look();
            if (!view) return;
            at = at < 0 && step !== -Infinity ? view.points.length - 1 : Math.max(at, 0) + step;
            show(view);
            event.preventDefault();
        }

        figure.tabIndex = 0;
        readout.setAttribute("role", "status");
        figure.addEventListener("pointermove", point);
        figure.addEventListener("pointerdown", point);
        figure.addEventListener("pointerleave", hide);
        figure.addEventListener("keydown", press);
        figure.addEventListener("blur", hide);
        document.addEventListener("live", () => {
            const view = at < 0 ? null : look();
            if (view) show(view);
        });
    }

    for (const [name, chart] of Object.entries(charts)) {
        const figure = document.getElementById("chart-" + name);
        if (figure) watch(figure, chart);
    }
})();
