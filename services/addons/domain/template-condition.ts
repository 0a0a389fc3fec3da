import { TextError } from './text-error.ts';
import * as m from '#messages/addons-problems';
import { isRecord } from '../../contracts/is-record.ts';

/** Values that the directives of a template refer to. */
export interface TemplateValues {
  readonly inputs: Readonly<Record<string, unknown>>;
  /** IDs of the selected debrid services. */
  readonly services: readonly string[];
}

/** Reports a condition that cannot be evaluated. */
export class TemplateConditionError extends TextError {
  override readonly name = 'TemplateConditionError';
}

/** Maximum length of a condition, because operators are searched for in quadratic time. */
const maxConditionLength = 2000;
const comparison = /^(?<reference>\S+)\s+(?<operator>==|!=|>=|<=|>|<|includes)\s+(?<operand>.+)$/s;
const reference = /^(?:inputs(?:\.[^\s.]+)+|services(?:\.[^\s.]+)?)$/;

/**
 * Evaluates a condition such as `inputs.tier == pro and !services.torbox`. `and` has precedence over `xor`, and `xor`
 * over `or`. These words are operators only before another reference, since values may contain them.
 *
 * @throws TemplateConditionError
 */
export function evaluateTemplateCondition(condition: string, values: TemplateValues): boolean {
  if (condition.length > maxConditionLength)
    throw new TemplateConditionError(() => m.templateConditionTooLong({ maximum: maxConditionLength }));
  const splitOperands = (text: string, word: string): readonly string[] =>
    text.split(new RegExp(`\\s+${word}\\s+(?=!*\\s*(?:inputs|services)\\b)`));
  return splitOperands(condition.trim(), 'or').some(
    (alternative) =>
      splitOperands(alternative, 'xor').filter((operand) =>
        splitOperands(operand, 'and').every((term) => evaluateTerm(term, values)),
      ).length %
        2 ===
      1,
  );
}

function evaluateTerm(term: string, values: TemplateValues): boolean {
  const trimmed = term.trim();
  if (trimmed.startsWith('!')) return !evaluateTerm(trimmed.slice(1), values);
  const { reference: subject, operator, operand } = comparison.exec(trimmed)?.groups ?? {};
  if (subject === undefined || operator === undefined || operand === undefined)
    return isFilled(readReference(trimmed, values));
  const value = readReference(subject, values);
  const expected = operand.trim();
  if (operator === 'includes')
    return Array.isArray(value) ? value.map(String).includes(expected) : formatValue(value).includes(expected);
  if (operator === '==' || operator === '!=') return (formatValue(value) === expected) === (operator === '==');
  return compareNumbers(formatValue(value), operator, expected);
}

function compareNumbers(value: string, operator: string, expected: string): boolean {
  const [left, right] = [value === '' ? NaN : Number(value), Number(expected)];
  if (Number.isNaN(right)) throw new TemplateConditionError(() => m.notANumber({ text: expected.slice(0, 40) }));
  if (operator === '>') return left > right;
  if (operator === '>=') return left >= right;
  return operator === '<' ? left < right : left <= right;
}

/**
 * Returns the value of `inputs.a.b`, `services` or `services.torbox`.
 *
 * @throws TemplateConditionError
 */
export function readReference(text: string, { inputs, services }: TemplateValues): unknown {
  if (!reference.test(text)) throw new TemplateConditionError(() => m.notAReference({ text: text.slice(0, 60) }));
  const [namespace, ...keys] = text.split('.');
  if (namespace === 'services') return keys[0] === undefined ? [...services] : services.includes(keys[0]);
  let value: unknown = inputs;
  for (const key of keys) value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** Returns false for missing and empty values and for `false`; the number 0 is a value. */
function isFilled(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return false;
  return !Array.isArray(value) || value.length > 0;
}

function formatValue(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : Array.isArray(value)
      ? value.map(String).join(',')
      : '';
}
