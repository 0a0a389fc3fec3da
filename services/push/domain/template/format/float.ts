/** Returns the absolute value of a float64 as a fraction of two integers. */
function toRatio(value: number): { readonly numerator: bigint; readonly denominator: bigint } {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const exponent = (bits.getUint16(0) >> 4) & 0x7ff;
  const mantissa = (bits.getBigUint64(0) & 0xfffffffffffffn) | (exponent === 0 ? 0n : 1n << 52n);
  const power = (exponent === 0 ? 1 : exponent) - 1075;
  return power >= 0
    ? { numerator: mantissa << BigInt(power), denominator: 1n }
    : { numerator: mantissa, denominator: 1n << BigInt(-power) };
}

/** Rounds to nearest, ties to even, as Go does and `toFixed` does not. */
function divideRounded(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  const doubledRemainder = (numerator % denominator) * 2n;
  return doubledRemainder > denominator || (doubledRemainder === denominator && quotient % 2n === 1n)
    ? quotient + 1n
    : quotient;
}

function formatFixed(value: number, precision: number): string {
  const { numerator, denominator } = toRatio(value);
  const digits = String(divideRounded(numerator * 10n ** BigInt(precision), denominator)).padStart(precision + 1, '0');
  return precision === 0 ? digits : `${digits.slice(0, -precision)}.${digits.slice(-precision)}`;
}

/**
 * Returns the digits, the first with weight 10^exponent; without precision, the shortest digits that identify the
 * number.
 */
function toScientific(value: number, precision: number | undefined): { digits: string; exponent: number } {
  const [mantissa = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (precision === undefined || value === 0) {
    return { digits: mantissa.replace('.', '').padEnd((precision ?? 0) + 1, '0'), exponent };
  }
  const { numerator, denominator } = toRatio(value);
  const scale = 10n ** BigInt(Math.abs(precision - exponent));
  const digits = String(
    precision >= exponent
      ? divideRounded(numerator * scale, denominator)
      : divideRounded(numerator, denominator * scale),
  );
  // Rounding may add a digit: 9.99 becomes 10.
  return digits.length > precision + 1 ? { digits: digits.slice(0, -1), exponent: exponent + 1 } : { digits, exponent };
}

function formatExponent({ digits, exponent }: { readonly digits: string; readonly exponent: number }): string {
  const power = String(Math.abs(exponent)).padStart(2, '0');
  const fractionDigits = digits.slice(1);
  return `${digits.charAt(0)}${fractionDigits === '' ? '' : `.${fractionDigits}`}e${exponent < 0 ? '-' : '+'}${power}`;
}

/**
 * Formats a float64 like Go's strconv, always with a sign. `verb` is e, f or g; without precision, the shortest text
 * that parses to the same number.
 */
export function formatFloat(value: number, verb: 'e' | 'f' | 'g', precision?: number): string {
  if (Number.isNaN(value)) return '+NaN';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '+';
  const size = Math.abs(value);
  if (size === Infinity) return `${sign}Inf`;
  if (verb === 'e') return sign + formatExponent(toScientific(size, precision));
  if (verb === 'f')
    return sign + (precision === undefined ? formatPlain(toScientific(size, undefined)) : formatFixed(size, precision));
  const effectivePrecision = precision === 0 ? 1 : precision;
  const { digits, exponent } = toScientific(
    size,
    effectivePrecision === undefined ? undefined : effectivePrecision - 1,
  );
  const trimmed = { digits: digits.replace(/(?<=.)0+$/, ''), exponent };
  const count = trimmed.digits.length;
  // Without precision, the threshold between both forms is six digits.
  const threshold =
    effectivePrecision === undefined ? 6 : effectivePrecision > count && count > exponent ? count : effectivePrecision;
  return sign + (exponent < -4 || exponent >= threshold ? formatExponent(trimmed) : formatPlain(trimmed));
}

function formatPlain({ digits, exponent }: { readonly digits: string; readonly exponent: number }): string {
  if (exponent < 0) return digits === '0' ? '0' : `0.${'0'.repeat(-exponent - 1)}${digits}`;
  const quotient = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const fractionDigits = digits.slice(exponent + 1);
  return fractionDigits === '' ? quotient : `${quotient}.${fractionDigits}`;
}
