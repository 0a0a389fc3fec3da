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
const whole = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const part = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g;
const longest = 2n ** 63n;

/** Nanoseconds of a duration as Go writes it (`1h30m`, `1.5s`); undefined when it is none. */
export function readDuration(text: string): bigint | undefined {
  if (/^[+-]?0$/.test(text)) return 0n;
  if (!whole.test(text) || text.length > 200) return undefined;
  let sum = 0n;
  for (const [, count = '', fraction = '', unit = ''] of text.matchAll(part)) {
    const size = unitNanoseconds[unit] ?? 0n;
    sum += BigInt(count || '0') * size + (BigInt(fraction || '0') * size) / 10n ** BigInt(fraction.length);
  }
  if (sum >= longest) return undefined;
  return text.startsWith('-') ? -sum : sum;
}

/** A duration as Go prints it: `1h0m0s`, `1.5s`, `2ms`. */
export function writeDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (size < 1_000n) return `${sign}${String(size)}ns`;
  if (size < 1_000_000n) return `${sign}${fraction(size, 3)}µs`;
  if (size < 1_000_000_000n) return `${sign}${fraction(size, 6)}ms`;
  const seconds = size % 60_000_000_000n;
  const minutes = size / 60_000_000_000n;
  const hours = minutes / 60n;
  const rest = `${fraction(seconds, 9)}s`;
  if (minutes === 0n) return sign + rest;
  if (hours === 0n) return `${sign}${String(minutes)}m${rest}`;
  return `${sign}${String(hours)}h${String(minutes % 60n)}m${rest}`;
}

/** So many digits behind the point, without the zeros at the end. */
function fraction(value: bigint, digits: number): string {
  const text = String(value).padStart(digits + 1, '0');
  const behind = text.slice(-digits).replace(/0+$/, '');
  return text.slice(0, -digits) + (behind === '' ? '' : `.${behind}`);
}
