/** What a row of values stands for: `sea` for a value as such, the others for how well something went. */
export type Tone = 'sea' | 'ok' | 'warn' | 'bad' | 'soft';

/** The colours of a chart as a canvas takes them, read when it paints. */
export interface ChartColors {
  readonly line: (tone: Tone) => () => string;
  readonly fill: (tone: Tone) => () => string;
  /** A stretch of values that is usual. */
  readonly band: () => string;
  /** A time when something was wrong. */
  readonly bad: () => string;
  readonly axis: () => string;
  readonly grid: () => string;
}

/** What is behind values that are usual. */
export const usualFill = 'color-mix(in oklab, var(--sea) 12%, transparent)';
/** What is behind a time when something was wrong. */
export const badFill = 'color-mix(in oklab, var(--bad) 10%, transparent)';

/** Colours of the theme where the element stands. A canvas knows no custom properties, so that each is resolved. */
export function colorsOf(element: HTMLElement): ChartColors {
  const resolved = (value: string) => (): string => {
    const probe = document.createElement('i');
    probe.style.color = value;
    element.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
  return {
    line: (tone) => resolved(strokeOf(tone)),
    fill: (tone) => resolved(fillOf(tone)),
    band: resolved(usualFill),
    bad: resolved(badFill),
    axis: resolved('var(--ink-soft)'),
    grid: resolved('var(--line)'),
  };
}

/** The line around what is filled, and a line of values itself. */
export function strokeOf(tone: Tone): string {
  return tone === 'soft' ? 'var(--edge)' : `var(--${tone})`;
}

/** Opaque: rows of values that are stacked are painted over each other. */
export function fillOf(tone: Tone): string {
  return `color-mix(in oklab, ${strokeOf(tone)} 45%, var(--surface))`;
}
