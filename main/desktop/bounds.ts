import type { Bounds } from './preferences.ts';

/** Area of a display that is available for windows. */
interface Display {
  readonly workArea: Bounds;
}

/** Returns whether enough of the title bar is on a connected display to move the window. */
export function isVisible({ x, y, width }: Bounds, displays: readonly Display[]): boolean {
  return displays.some(
    ({ workArea: area }) =>
      x + width > area.x + 80 && x < area.x + area.width - 80 && y >= area.y && y < area.y + area.height - 40,
  );
}
