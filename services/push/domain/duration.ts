const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1e3,
  m: 6e4,
  h: 36e5,
};
const durationPattern = /^[+-]?((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/;
const componentPattern = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;

/** Parses a Go duration (`10m`, `1h30m`, `1.5s`; without a unit for days) into ms; undefined when invalid. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (!durationPattern.test(text)) return undefined;
  let sum = 0;
  for (const [, count, unit] of text.matchAll(componentPattern))
    sum += Number(count) * (units[unit ?? ''] ?? Number.NaN);
  return text.startsWith('-') ? -sum : sum;
}
