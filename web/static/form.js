// Choosing a preset fills its fields in and leaves the rest as typed. Without this script the
// presets are links that load the form anew.
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
        tell();
    }

    // What has no meaning for the chosen kind is out of the way.
    function tell() {
        const fixed = form.elements.namedItem("kind").value === "fixed";
        for (const name of ["elo0", "elo1", "model", "alpha", "beta"])
            form.elements.namedItem(name).closest(".field").hidden = fixed;
    }

    for (const link of presets)
        link.addEventListener("click", (event) => {
            event.preventDefault();
            choose(link);
        });
    form.elements.namedItem("kind").addEventListener("change", tell);
    tell();

    // One press, one test.
    form.addEventListener("submit", () => {
        const button = form.querySelector("button.primary");
        setTimeout(() => { button.disabled = true; }, 0);
        window.addEventListener("pageshow", () => { button.disabled = false; }, { once: true });
    });

    const bad = form.querySelector("[aria-invalid]");
    if (bad) bad.focus();
})();
