// Refuses a file that is too large before the browser sends it. The server would close the
// connection without reading it, and the browser would show no reason.
"use strict";

document.addEventListener("change", ({ target }) => {
    const most = Number(target.dataset.maxMib), size = most && target.files.length ? target.files[0].size : 0;
    if (!most) return;
    target.setCustomValidity(size > most * 2 ** 20
        ? `This file has ${Math.ceil(size / 2 ** 20)} MiB. A net may have at most ${most} MiB.` : "");
    target.reportValidity();
});
