// Makes the drawings of a test's page answer the pointer, with Chart.js on the same data. The
// server's drawings stay for those without script, and come back if anything here fails.
"use strict";

(() => {
    const source = document.getElementById("history");
    if (!source || !window.Chart) return;
    const Chart = window.Chart;
    const charts = {};

    const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const signed = (value, digits) => (value > 0 ? "+" : value < 0 ? "\u2212" : "") + Math.abs(value).toFixed(digits);
    const plain = (value) => value.toLocaleString("en-US");
    const score = (elo) => 100 / (1 + Math.pow(10, -elo / 400));
    const time = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");

    function ticks(more) {
        return Object.assign({ color: color("--dim"), maxTicksLimit: 7, includeBounds: false, maxRotation: 0 }, more);
    }

    function axis(more) {
        return Object.assign({
            type: "linear",
            grid: { color: color("--line"), borderColor: color("--line") },
            ticks: ticks({}),
        }, more);
    }

    function line(points, more) {
        return Object.assign({
            data: points, borderColor: color("--accent"), borderWidth: 2, pointRadius: 0, pointHitRadius: 6,
            tension: 0, fill: false,
        }, more);
    }

    function options(scales, label, title) {
        return {
            animation: false, maintainAspectRatio: false, scales,
            interaction: { mode: "nearest", axis: "x", intersect: false },
            plugins: {
                legend: { display: false },
                tooltip: { displayColors: false, filter: (item) => item.datasetIndex === 0, callbacks: { label, title } },
            },
        };
    }

    // The names of the bounds, where the server's drawing has them too.
    const names = {
        id: "names",
        afterDatasetsDraw(chart) {
            const context = chart.ctx, area = chart.chartArea;
            context.save();
            context.fillStyle = color("--dim");
            context.font = "12px " + Chart.defaults.font.family;
            for (const { label, value } of chart.options.names || [])
                context.fillText(label, area.left + 6, chart.scales.y.getPixelForValue(value) - 5);
            context.restore();
        },
    };

    // ---- the three

    function llr(history, stats) {
        const bounds = stats.bounds;
        const points = [{ x: 0, y: 0 }, ...history.games.map((games, i) => ({ x: games, y: history.llr[i] }))];
        const end = history.games.length ? history.games[history.games.length - 1] : 100;
        const level = (value, dash) => line([{ x: 0, y: value }, { x: end, y: value }],
            { borderColor: color("--text"), borderWidth: 1.5, borderDash: dash, pointHitRadius: 0 });
        const room = 0.08 * (bounds.upper - bounds.lower);
        const config = {
            type: "line", plugins: [names],
            data: { datasets: [line(points), level(bounds.upper, [6, 4]), level(bounds.lower, [2, 3])] },
            options: options({
                x: axis({ max: end, ticks: ticks({ maxTicksLimit: 6, callback: plain }) }),
                y: axis({ suggestedMin: bounds.lower - room, suggestedMax: bounds.upper + room,
                    ticks: ticks({ callback: (v) => signed(v, v % 1 ? 1 : 0).replace("+", "") }) }),
            }, (item) => `LLR ${signed(item.parsed.y, 2)}`, (items) => items.length ? `${plain(items[0].parsed.x)} games` : ""),
        };
        config.options.names = ["upper", "lower"].map((side) => ({
            value: bounds[side], label: `${side === "upper" ? "accept" : "reject"} at ${signed(bounds[side], 2).replace("+", "")}`,
        }));
        return config;
    }

    // The first few batches swing wildly; the scale is for the rest.
    function eloRange(history) {
        const n = history.elo.length;
        let low = 0, high = 0;
        history.elo.forEach((elo, i) => {
            if (elo === null || i < Math.floor(n / 4)) return;
            const spread = i === n - 1 ? 1.3 * (history.error[i] || 0) : 0;
            low = Math.min(low, elo - spread);
            high = Math.max(high, elo + spread);
        });
        const room = Math.max(0.5, 0.08 * (high - low));
        return { min: low - room, max: high + room };
    }

    function elo(history) {
        const range = eloRange(history);
        const at = (i, sign) => ({ x: history.time[i], y: history.elo[i] === null ? null : history.elo[i] + sign * (history.error[i] || 0) });
        const edge = (sign, fill) => line(history.time.map((_, i) => at(i, sign)),
            { borderWidth: 0, backgroundColor: color("--band"), fill, pointHitRadius: 0 });
        const first = history.time[0], last = history.time[history.time.length - 1];
        const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400, 172800, 432000, 864000, 2592000]
            .find((size) => (last - first) / size <= 4) || 7776000;
        const wholeSteps = (scale) => {
            scale.ticks = [];
            for (let at = Math.ceil(first / step) * step; at <= last; at += step) scale.ticks.push({ value: at });
        };
        const clock = (seconds) => {
            const text = new Date(seconds * 1000).toISOString();
            return step < 60 ? text.slice(11, 19) : step < 86400 ? text.slice(11, 16) : text.slice(5, 10);
        };
        const label = (item) => {
            const i = item.dataIndex;
            return [`Elo ${signed(history.elo[i], 2)} ± ${(history.error[i] || 0).toFixed(2)}`, `score ${(100 * history.score[i]).toFixed(2)} %`,
                `${plain(history.games[i])} games`];
        };
        return {
            type: "line",
            data: { datasets: [line(history.time.map((_, i) => at(i, 0))), edge(1, "+1"), edge(-1, false)] },
            options: options({
                x: axis({ min: first, max: Math.max(last, first + 1), afterBuildTicks: wholeSteps, ticks: ticks({ maxTicksLimit: 5, callback: clock }) }),
                y: axis({ ...range, ticks: ticks({ maxTicksLimit: 7, callback: (v) => signed(v, Math.abs(range.max - range.min) < 5 ? 1 : 0) }) }),
                right: axis({ ...range, position: "right", grid: { drawOnChartArea: false },
                    ticks: ticks({ maxTicksLimit: 7, callback: (v) => score(v).toFixed(1) + "%" }) }),
            }, label, (items) => items.length ? time(items[0].parsed.x) + " UTC" : ""),
        };
    }

    function pairs(history, stats) {
        const all = stats.ptnml.reduce((a, b) => a + b, 0) || 1;
        const label = (item) => `${plain(item.parsed.y)} pairs, ${(100 * item.parsed.y / all).toFixed(1)} %`;
        const config = {
            type: "bar",
            data: {
                labels: ["LL", "LD", "WL or DD", "WD", "WW"],
                datasets: [{ data: stats.ptnml, backgroundColor: color("--accent"), maxBarThickness: 60 }],
            },
            options: options({
                x: { grid: { display: false }, ticks: ticks({}) },
                y: axis({ beginAtZero: true, ticks: ticks({ maxTicksLimit: 5, precision: 0, callback: plain }) }),
            }, label),
        };
        return config;
    }

    const makers = { llr, elo, pairs };

    // ---- drawing

    function canvasOf(figure) {
        let canvas = figure.querySelector("canvas");
        if (canvas) return canvas;
        const box = document.createElement("div");
        box.className = "canvas";
        canvas = document.createElement("canvas");
        const drawing = figure.querySelector("svg");
        canvas.setAttribute("role", "img");
        canvas.setAttribute("aria-label", drawing ? drawing.getAttribute("aria-label") : "");
        box.append(canvas);
        figure.append(box);
        return canvas;
    }

    function draw() {
        const history = JSON.parse(source.dataset.history), stats = JSON.parse(source.dataset.stats);
        if (!history.games.length) return;
        for (const [name, make] of Object.entries(makers)) {
            const figure = document.getElementById("chart-" + name);
            if (!figure || (name === "llr" && !stats.bounds)) continue;
            const config = make(history, stats);
            if (charts[name]) {
                charts[name].data = config.data;
                charts[name].options = config.options;
                charts[name].update("none");
            } else {
                figure.classList.add("drawn");
                charts[name] = new Chart(canvasOf(figure), config);
            }
        }
    }

    let drawn = "";
    function drawIfChanged() {
        if (source.dataset.history === drawn) return;
        drawn = source.dataset.history;
        draw();
    }

    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    drawIfChanged();
    document.addEventListener("live", drawIfChanged);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
