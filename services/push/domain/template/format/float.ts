/** A float64 without its sign as a fraction of two whole numbers. */
function ratioOf(value: number): { readonly over: bigint; readonly under: bigint } {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const exponent = (bits.getUint16(0) >> 4) & 0x7ff;
  const mantissa = (bits.getBigUint64(0) & 0xfffffffffffffn) | (exponent === 0 ? 0n : 1n << 52n);
  const power = (exponent === 0 ? 1 : exponent) - 1075;
  return power >= 0 ? { over: mantissa << BigInt(power), under: 1n } : { over: mantissa, under: 1n << BigInt(-power) };
}

/** To the nearest; halves to the even neighbour, as Go has it and `toFixed` has not. */
function divide(over: bigint, under: bigint): bigint {
  const whole = over / under;
  const twice = (over % under) * 2n;
  return twice > under || (twice === under && whole % 2n === 1n) ? whole + 1n : whole;
}

function fixed(value: number, precision: number): string {
  const { over, under } = ratioOf(value);
  const digits = String(divide(over * 10n ** BigInt(precision), under)).padStart(precision + 1, '0');
  return precision === 0 ? digits : `${digits.slice(0, -precision)}.${digits.slice(-precision)}`;
}

/** Digits of which the first counts 10^exponent; without a precision as many as tell the number from its neighbours. */
function scientific(value: number, precision: number | undefined): { digits: string; exponent: number } {
  const [mantissa = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (precision === undefined || value === 0) {
    return { digits: mantissa.replace('.', '').padEnd((precision ?? 0) + 1, '0'), exponent };
  }
  const { over, under } = ratioOf(value);
  const scale = 10n ** BigInt(Math.abs(precision - exponent));
  const digits = String(precision >= exponent ? divide(over * scale, under) : divide(over, under * scale));
  // Rounding up may have made it one digit longer: 9.99 to 10.
  return digits.length > precision + 1 ? { digits: digits.slice(0, -1), exponent: exponent + 1 } : { digits, exponent };
}

function withExponent({ digits, exponent }: { readonly digits: string; readonly exponent: number }): string {
  const power = String(Math.abs(exponent)).padStart(2, '0');
  const behind = digits.slice(1);
  return `${digits.charAt(0)}${behind === '' ? '' : `.${behind}`}e${exponent < 0 ? '-' : '+'}${power}`;
}

/**
 * A float64 as Go's strconv writes it, always with a sign. `verb` is e, f or g; without a precision the shortest text that
 * reads as the same number.
 */
export function formatFloat(value: number, verb: 'e' | 'f' | 'g', precision?: number): string {
  if (Number.isNaN(value)) return '+NaN';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '+';
  const size = Math.abs(value);
  if (size === Infinity) return `${sign}Inf`;
  if (verb === 'e') return sign + withExponent(scientific(size, precision));
  if (verb === 'f')
    return sign + (precision === undefined ? plain(scientific(size, undefined)) : fixed(size, precision));
  const asked = precision === 0 ? 1 : precision;
  const { digits, exponent } = scientific(size, asked === undefined ? undefined : asked - 1);
  const short = { digits: digits.replace(/(?<=.)0+$/, ''), exponent };
  const count = short.digits.length;
  // Where the precision is left open, six digits decide between the two forms.
  const most = asked === undefined ? 6 : asked > count && count > exponent ? count : asked;
  return sign + (exponent < -4 || exponent >= most ? withExponent(short) : plain(short));
}

function plain({ digits, exponent }: { readonly digits: string; readonly exponent: number }): string {
  if (exponent < 0) return digits === '0' ? '0' : `0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const behind = digits.slice(exponent + 1);
  return behind === '' ? whole : `${whole}.${behind}`;
}
