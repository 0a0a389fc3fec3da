import type { Bounds } from './preferences.ts';

/** What is left of a display for windows. */
interface Display {
  readonly workArea: Bounds;
}

/** Whether enough of the title bar lies on a display that is there now to be taken hold of. */
export function isVisible({ x, y, width }: Bounds, displays: readonly Display[]): boolean {
  return displays.some(
    ({ workArea: area }) =>
      x + width > area.x + 80 && x < area.x + area.width - 80 && y >= area.y && y < area.y + area.height - 40,
  );
}
