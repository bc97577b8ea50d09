// Boxes with the same data-together scroll together.
document.addEventListener(
  "scroll",
  (event) => {
    const box = event.target;
    const group = box.dataset && box.dataset.together;
    if (!group) return;
    for (const other of document.querySelectorAll(`[data-together="${CSS.escape(group)}"]`)) {
      if (other === box) continue;
      if (other.scrollTop !== box.scrollTop) other.scrollTop = box.scrollTop;
      if (other.scrollLeft !== box.scrollLeft) other.scrollLeft = box.scrollLeft;
    }
  },
  true,
);
