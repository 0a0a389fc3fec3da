import type { UptimeHour } from '../../../../../services/contracts/uptime/views.ts';

/** Size of the drawing: one bar of `barWidth` for each hour. */
export const barStep = 6;
export const barsHeight = 20;
const barWidth = 4;
const radius = 1.5;
/** Minimum red share of an hour with downtime, so that it is visible. */
const minRedShare = 0.35;
/** Heights of bars without downtime, as a share of the drawing. */
const [fullHeight, quietHeight, emptyHeight] = [1, 0.7, 0.5];

/** Colors of the bars. */
type BarColor = 'none' | 'up' | 'down' | 'maintained';

type HourPaths = readonly (readonly [BarColor, string])[];

const cachedPaths = new WeakMap<readonly UptimeHour[], HourPaths>();

/** Returns the paths of these hours, which are built once: rows of a long list appear again while it is scrolled. */
export function getHourPaths(hours: readonly UptimeHour[]): HourPaths {
  const cached = cachedPaths.get(hours);
  if (cached !== undefined) return cached;
  const paths = buildHourPaths(hours);
  cachedPaths.set(hours, paths);
  return paths;
}

/**
 * Returns one SVG path for each color, because a list has many rows and an element for each hour would be 24 times as
 * many. An hour with some downtime is red from below.
 */
export function buildHourPaths(hours: readonly UptimeHour[]): HourPaths {
  const paths: Record<BarColor, string> = { none: '', up: '', down: '', maintained: '' };
  hours.forEach((hour, index) => {
    const x = index * barStep;
    const centered = (share: number): string => drawBar(x, ((1 - share) / 2) * barsHeight, share * barsHeight);
    if (hour === null) paths.none += centered(emptyHeight);
    else if (hour === 'maintenance') paths.maintained += centered(quietHeight);
    else if (hour === 1) paths.up += centered(quietHeight);
    else if (hour === 0) paths.down += centered(fullHeight);
    else {
      const red = barsHeight * Math.max(minRedShare, 1 - hour);
      paths.up += drawBar(x, 0, barsHeight);
      paths.down += drawBar(x, barsHeight - red, red);
    }
  });
  return (Object.entries(paths) as [BarColor, string][]).filter(([, path]) => path !== '');
}

/** Draws a rounded bar. */
function drawBar(x: number, y: number, height: number): string {
  const [width, corner] = [barWidth - 2 * radius, `${String(radius)} ${String(radius)} 0 0 1`];
  const side = Math.max(0, height - 2 * radius);
  const r = String(radius);
  return (
    `M${String(x + radius)} ${y.toFixed(1)}h${String(width)}a${corner} ${r} ${r}v${side.toFixed(1)}` +
    `a${corner} -${r} ${r}h-${String(width)}a${corner} -${r} -${r}v-${side.toFixed(1)}a${corner} ${r} -${r}z`
  );
}
