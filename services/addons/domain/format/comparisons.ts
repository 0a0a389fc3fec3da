import { hasValue, type FieldValue, type Modifier } from './values.ts';

const operatorPattern = /^\s*(>=|<=|=|>|<|~|\$|\^)([\s\S]*)$/;

/** Returns a modifier that compares a value. Comparisons ignore case, and are false for unknown values. */
export function compileComparison(text: string): Modifier | undefined {
  const keyword = text.trim().toLowerCase();
  if (keyword === 'exists') return hasValue;
  if (keyword === 'istrue') return (value) => value === true;
  if (keyword === 'isfalse') return (value) => value === false;
  const match = operatorPattern.exec(text.toLowerCase());
  if (match === null) return undefined;
  const [, sign = '', operand = ''] = match;
  return (value) => hasValue(value) && compare(sign, value, operand);
}

function compare(sign: string, value: FieldValue, operand: string): boolean {
  const text = String(value).toLowerCase();
  // Spaces in the operand are only compared when the value contains spaces.
  const normalizedOperand = /\s/.test(text) ? operand : operand.replaceAll(/\s/g, '');
  if (Array.isArray(value) && (sign === '~' || sign === '$' || sign === '^')) {
    const items = value.map((item: string) => item.toLowerCase());
    if (sign === '~') return items.includes(normalizedOperand) || items.includes(operand.trim());
    return items.at(sign === '$' ? 0 : -1) === normalizedOperand;
  }
  if (sign === '~') return text.includes(normalizedOperand);
  if (sign === '$') return text.startsWith(normalizedOperand);
  if (sign === '^') return text.endsWith(normalizedOperand);
  const [leftNumber, rightNumber] = [Number(text), Number(normalizedOperand)];
  return Number.isNaN(leftNumber) || Number.isNaN(rightNumber) || normalizedOperand.trim() === ''
    ? compareOrder(sign, text, normalizedOperand)
    : compareOrder(sign, leftNumber, rightNumber);
}

function compareOrder<Value extends string | number>(sign: string, leftValue: Value, rightValue: Value): boolean {
  if (sign === '=') return leftValue === rightValue;
  if (sign === '>') return leftValue > rightValue;
  if (sign === '<') return leftValue < rightValue;
  return sign === '>=' ? leftValue >= rightValue : leftValue <= rightValue;
}
