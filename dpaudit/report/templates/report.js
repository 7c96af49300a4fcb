for (const t of document.querySelectorAll("table.sort")) {
  const body = t.tBodies[0], key = c => c.dataset.v === undefined ? c.textContent.trim() : +c.dataset.v;
  t.querySelectorAll("thead th").forEach((th, i) => {
    const b = document.createElement("button"); b.type = "button"; b.append(...th.childNodes); th.append(b);
    b.onclick = () => {
      const up = th.getAttribute("aria-sort") !== "ascending";
      t.querySelectorAll("[aria-sort]").forEach(o => o.removeAttribute("aria-sort"));
      th.setAttribute("aria-sort", up ? "ascending" : "descending");
      body.append(...[...body.rows].sort((r, s) => { const a = key(r.cells[i]), c = key(s.cells[i]); return (up ? 1 : -1) * (a < c ? -1 : a > c ? 1 : 0); }));
    };
  });
  const box = document.getElementById(t.id + "-tools"); if (!box) continue;
  const [word, kind, say] = box.querySelectorAll("input,select,output"); box.hidden = false;
  box.onsubmit = () => false;
  box.oninput = () => {
    let n = 0;
    for (const r of body.rows) n += !(r.hidden = !r.textContent.toLowerCase().includes(word.value.toLowerCase()) || kind.value && r.dataset.k !== kind.value);
    say.textContent = n + " of " + body.rows.length + " shown";
  };
}
document.querySelectorAll(".cmd").forEach(c => {
  const b = Object.assign(document.createElement("button"), { type: "button", className: "copy", textContent: "Copy" }); c.append(b);
  b.onclick = () => navigator.clipboard.writeText(c.querySelector("code").textContent).then(() => { b.textContent = "Copied"; }, () => getSelection().selectAllChildren(c.querySelector("code")));
});
