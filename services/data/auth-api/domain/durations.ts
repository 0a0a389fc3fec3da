const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const durationPart = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g;

/** Parses a Go duration (`24h`, `1h30m`, `-1.5h`) to ms; undefined for other texts. */
export function parseDuration(text: string): number | undefined {
  const [, sign = '', rest = ''] = /^([-+]?)(.*)$/.exec(text) ?? [];
  if (rest === '0') return 0;
  let length = 0;
  let total = 0;
  for (const [match, count = '', unit = ''] of rest.matchAll(durationPart)) {
    length += match.length;
    total += Number(count) * (units[unit] ?? 0);
  }
  if (rest === '' || length !== rest.length || !Number.isFinite(total)) return undefined;
  return sign === '-' ? -total : total;
}
