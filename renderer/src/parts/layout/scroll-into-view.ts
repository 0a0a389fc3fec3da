/** How much of its neighbours is seen as well, px: it says that there are some. */
const peek = 32;

/** Brings one of a row that scrolls sideways into sight, and moves nothing else. */
export function bringIntoSight(one: Element | null | undefined): void {
  const row = one?.parentElement;
  if (one === null || one === undefined || row === null || row === undefined) return;
  const [place, frame] = [one.getBoundingClientRect(), row.getBoundingClientRect()];
  if (place.left < frame.left) row.scrollLeft += place.left - frame.left - peek;
  else if (place.right > frame.right) row.scrollLeft += place.right - frame.right + peek;
}
