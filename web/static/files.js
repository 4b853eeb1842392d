// A file that is too large is refused before it is sent: a server that will not read it closes the
// connection, and a browser then shows no reason.
"use strict";

document.addEventListener("change", ({ target }) => {
    const most = Number(target.dataset.maxMib), size = most && target.files.length ? target.files[0].size : 0;
    if (!most) return;
    target.setCustomValidity(size > most * 2 ** 20
        ? `This file has ${Math.ceil(size / 2 ** 20)} MiB; a net has ${most} MiB at most.` : "");
    target.reportValidity();
});
