const unitNanoseconds: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const durationPattern = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const componentPattern = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g;
const int64Limit = 2n ** 63n;

/** Parses a Go duration (`1h30m`, `1.5s`) into nanoseconds; undefined when invalid. */
export function parseGoDuration(text: string): bigint | undefined {
  if (/^[+-]?0$/.test(text)) return 0n;
  if (!durationPattern.test(text) || text.length > 200) return undefined;
  let sum = 0n;
  for (const [, count = '', fraction = '', unit = ''] of text.matchAll(componentPattern)) {
    const nanoseconds = unitNanoseconds[unit] ?? 0n;
    sum +=
      BigInt(count || '0') * nanoseconds + (BigInt(fraction || '0') * nanoseconds) / 10n ** BigInt(fraction.length);
  }
  if (sum >= int64Limit) return undefined;
  return text.startsWith('-') ? -sum : sum;
}

/** Formats a duration like Go: `1h0m0s`, `1.5s`, `2ms`. */
export function formatGoDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (size < 1_000n) return `${sign}${String(size)}ns`;
  if (size < 1_000_000n) return `${sign}${formatFraction(size, 3)}µs`;
  if (size < 1_000_000_000n) return `${sign}${formatFraction(size, 6)}ms`;
  const seconds = size % 60_000_000_000n;
  const minutes = size / 60_000_000_000n;
  const hours = minutes / 60n;
  const rest = `${formatFraction(seconds, 9)}s`;
  if (minutes === 0n) return sign + rest;
  if (hours === 0n) return `${sign}${String(minutes)}m${rest}`;
  return `${sign}${String(hours)}h${String(minutes % 60n)}m${rest}`;
}

/** Formats digits after the decimal point without trailing zeros. */
function formatFraction(value: bigint, digits: number): string {
  const text = String(value).padStart(digits + 1, '0');
  const fractionDigits = text.slice(-digits).replace(/0+$/, '');
  return text.slice(0, -digits) + (fractionDigits === '' ? '' : `.${fractionDigits}`);
}
