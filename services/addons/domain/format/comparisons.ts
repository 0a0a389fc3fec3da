import { hasValue, type FieldValue, type Modifier } from './values.ts';

const operator = /^\s*(>=|<=|=|>|<|~|\$|\^)([\s\S]*)$/;

/** Returns a modifier that compares a value. Comparisons ignore case, and are false for unknown values. */
export function question(text: string): Modifier | undefined {
  const word = text.trim().toLowerCase();
  if (word === 'exists') return hasValue;
  if (word === 'istrue') return (value) => value === true;
  if (word === 'isfalse') return (value) => value === false;
  const found = operator.exec(text.toLowerCase());
  if (found === null) return undefined;
  const [, sign = '', wanted = ''] = found;
  return (value) => hasValue(value) && compare(sign, value, wanted);
}

function compare(sign: string, value: FieldValue, wanted: string): boolean {
  const text = String(value).toLowerCase();
  // Spaces in the operand are only compared when the value contains spaces.
  const check = /\s/.test(text) ? wanted : wanted.replaceAll(/\s/g, '');
  if (Array.isArray(value) && (sign === '~' || sign === '$' || sign === '^')) {
    const items = value.map((item: string) => item.toLowerCase());
    if (sign === '~') return items.includes(check) || items.includes(wanted.trim());
    return items.at(sign === '$' ? 0 : -1) === check;
  }
  if (sign === '~') return text.includes(check);
  if (sign === '$') return text.startsWith(check);
  if (sign === '^') return text.endsWith(check);
  const [left, right] = [Number(text), Number(check)];
  return Number.isNaN(left) || Number.isNaN(right) || check.trim() === ''
    ? ordered(sign, text, check)
    : ordered(sign, left, right);
}

function ordered<Value extends string | number>(sign: string, left: Value, right: Value): boolean {
  if (sign === '=') return left === right;
  if (sign === '>') return left > right;
  if (sign === '<') return left < right;
  return sign === '>=' ? left >= right : left <= right;
}
