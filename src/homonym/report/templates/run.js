"use strict";
// Opens what a link points to, and filters the names. Without it the page is complete, only nothing is filtered.
(() => {
  const open = () => {
    let part = document.getElementById(location.hash.slice(1));
    if (!part) return;
    const target = part;
    for (; part; part = part.parentElement) {
      if (part.tagName === "DETAILS") part.open = true;
      if (part.hidden) part.hidden = false;
    }
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();

  const box = document.getElementById("search");
  if (!box) return;
  const input = box.querySelector("input"), found = box.querySelector("output");
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  let names = null;
  const read = () => [...document.querySelectorAll(".name")].map((name) => ({
    name, text: plain([...name.querySelectorAll("summary, .also")].map((part) => part.textContent).join(" ")),
  }));
  input.addEventListener("input", () => {
    names ??= read();
    const words = plain(input.value).split(/[\s,.]+/).filter(Boolean);
    let number = 0;
    for (const { name, text } of names) {
      name.hidden = !words.every((word) => text.includes(word));
      if (!name.hidden) number += 1;
    }
    found.textContent = words.length ? `${number} of ${names.length} names on this page` : "";
  });
  box.hidden = false;
})();
