/** Visible width of the neighbor in px, which shows that there are more. */
const neighborWidth = 32;

/** Scrolls an element of a horizontal row into view and moves nothing else. */
export function scrollRowIntoView(element: Element | null | undefined): void {
  const row = element?.parentElement;
  if (element === null || element === undefined || row === null || row === undefined) return;
  const [box, frame] = [element.getBoundingClientRect(), row.getBoundingClientRect()];
  if (box.left < frame.left) row.scrollLeft += box.left - frame.left - neighborWidth;
  else if (box.right > frame.right) row.scrollLeft += box.right - frame.right + neighborWidth;
}
