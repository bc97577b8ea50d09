// Boxes with the same data-together scroll together: to the same row, and the same share sideways.
document.addEventListener(
  "scroll",
  (event) => {
    const box = event.target;
    const group = box.dataset && box.dataset.together;
    if (!group) return;
    for (const other of document.querySelectorAll(`[data-together="${CSS.escape(group)}"]`)) {
      if (other === box) continue;
      if (other.scrollTop !== box.scrollTop) other.scrollTop = box.scrollTop;
      const share = box.scrollLeft / Math.max(box.scrollWidth - box.clientWidth, 1);
      const left = Math.round(share * (other.scrollWidth - other.clientWidth));
      if (Math.abs(other.scrollLeft - left) > 2) other.scrollLeft = left;
    }
  },
  true,
);
