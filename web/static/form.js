// A chosen preset fills in its fields and leaves all others as typed. Without this script the
// presets are links that load the form again.
"use strict";

(() => {
    const form = document.getElementById("new-test");
    const presets = document.querySelectorAll(".presets a[data-fields]");
    if (!form) return;

    function choose(link) {
        const fields = JSON.parse(link.dataset.fields);
        for (const [name, value] of Object.entries(fields)) {
            const input = form.elements.namedItem(name);
            if (input) input.value = value;
        }
        form.elements.namedItem("preset").value = link.textContent;
        for (const other of presets) other.removeAttribute("aria-current");
        link.setAttribute("aria-current", "true");
        showFieldsOfWorkload();
    }

    // A field that one workload has is hidden for the others.
    function showFieldsOfWorkload() {
        const workload = form.elements.namedItem("workload").value;
        for (const field of form.querySelectorAll("[data-workload]"))
            field.hidden = field.dataset.workload !== workload;
    }

    for (const link of presets)
        link.addEventListener("click", (event) => {
            event.preventDefault();
            choose(link);
        });
    form.elements.namedItem("workload").addEventListener("change", showFieldsOfWorkload);
    showFieldsOfWorkload();

    // The buttons work once, so that a double click does not submit two tests.
    form.addEventListener("submit", () => {
        const disable = (is) => { for (const button of form.querySelectorAll("button")) button.disabled = is; };
        setTimeout(() => disable(true), 0);
        window.addEventListener("pageshow", () => disable(false), { once: true });
    });

    // If the patch names a net that the server does not have, the author must upload its file.
    const said = document.getElementById("net-said");
    let asked = "";

    function named(text) {
        let inside = false, name = "";
        for (const line of text.split(/\r?\n/)) {
            if (line.startsWith("+++ "))
                inside = line.slice(4).split("\t")[0].replace(/^b\//, "").replace(/^engine\//, "") === said.dataset.file;
            else if (inside && /^\+[0-9a-f]{64}$/.test(line))
                name = line.slice(1);
        }
        return name;
    }

    async function ask() {
        const patch = form.elements.namedItem("patch").value, file = form.elements.namedItem("patch_file").files[0];
        const name = named(patch || (file && file.size < 1 << 20 ? await file.text() : ""));
        if (name === asked) return;
        asked = name;
        said.hidden = true;
        if (!name) return;
        const reply = await fetch(`/api/v1/nets?engine=${encodeURIComponent(said.dataset.engine)}&sha256=${name}`);
        const known = reply.ok && (await reply.json()).items.length > 0;
        if (!reply.ok || name !== asked) return;
        said.textContent = known ? "The server has the net that the patch names."
            : `The patch names the net ${name.slice(0, 10)}…, which this server does not have. ` +
                "Choose its file here or upload it later. Until then the test cannot be approved.";
        said.classList.toggle("bad", !known);
        said.hidden = false;
    }

    if (said) {
        for (const field of ["patch", "patch_file"])
            form.elements.namedItem(field).addEventListener("input", () => ask().catch(() => {}));
        ask().catch(() => {});
    }

    const bad = form.querySelector("[aria-invalid]");
    if (bad) bad.focus();
})();
