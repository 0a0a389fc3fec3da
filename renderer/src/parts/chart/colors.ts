/** Meaning of a series: `sea` for plain values, the others for results from good to bad. */
export type Tone = 'sea' | 'ok' | 'warn' | 'bad' | 'soft';

/** Color of a painted layer: a series, or the values of the previous period. */
export type LayerTone = Tone | 'previous';

/** Colors of a chart as canvas values, evaluated at each painting. */
export interface ChartColors {
  readonly line: (tone: LayerTone) => () => string;
  readonly fill: (tone: LayerTone) => () => string;
  /** Band of usual values. */
  readonly band: () => string;
  /** Time span with a problem. */
  readonly bad: () => string;
  readonly axis: () => string;
  readonly grid: () => string;
}

/** Background of usual values. */
export const usualRangeFill = 'color-mix(in oklab, var(--sea) 12%, transparent)';
/** Background of time spans with a problem. */
export const problemFill =
  'light-dark(color-mix(in oklab, var(--bad) 12%, transparent), color-mix(in oklab, var(--bad) 26%, transparent))';

/**
 * Returns the theme's colors for an element. A canvas does not support custom properties, so each one is resolved.
 */
export function getChartColors(element: HTMLElement): ChartColors {
  const resolve = (value: string) => (): string => {
    const probe = document.createElement('i');
    probe.style.color = value;
    element.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
  return {
    line: (tone) => resolve(getStroke(tone)),
    fill: (tone) => resolve(getFill(tone)),
    band: resolve(usualRangeFill),
    bad: resolve(problemFill),
    axis: resolve('var(--ink-soft)'),
    grid: resolve('var(--line)'),
  };
}

/** Returns the stroke color of a line or of the outline of a bar. */
export function getStroke(tone: LayerTone): string {
  return tone === 'soft' || tone === 'previous' ? 'var(--edge)' : `var(--${tone})`;
}

/** Returns an opaque fill color, because stacked series are painted over each other. */
export function getFill(tone: LayerTone): string {
  if (tone === 'previous') return 'color-mix(in oklab, var(--edge) 22%, var(--surface))';
  return `color-mix(in oklab, ${getStroke(tone)} 45%, var(--surface))`;
}
