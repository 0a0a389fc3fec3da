/** The colours of a chart as a canvas takes them, read when it paints. */
export interface ChartColors {
  readonly line: () => string;
  readonly fill: () => string;
  /** A stretch of values that is usual. */
  readonly band: () => string;
  readonly axis: () => string;
  readonly grid: () => string;
}

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
    line: resolved('var(--sea)'),
    fill: resolved('color-mix(in oklab, var(--sea) 45%, var(--surface))'),
    band: resolved('color-mix(in oklab, var(--sea) 12%, transparent)'),
    axis: resolved('var(--ink-soft)'),
    grid: resolved('var(--line)'),
  };
}
