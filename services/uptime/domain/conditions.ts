import { parseJsonOrThrow } from '../../contracts/parse-json.ts';

/** Comparison in the conditions of a monitor, as Uptime Kuma stores it. */
interface Expression {
  readonly variable: string;
  readonly operator: string;
  readonly value: string;
}

type Fields = Readonly<Record<string, unknown>>;

const maxDepth = 20;

const comparisons: Readonly<Record<string, (actual: string, expected: string) => boolean>> = {
  equals: (actual, expected) => actual === expected,
  not_equals: (actual, expected) => actual !== expected,
  contains: (actual, expected) => actual.includes(expected),
  not_contains: (actual, expected) => !actual.includes(expected),
  starts_with: (actual, expected) => actual.startsWith(expected),
  not_starts_with: (actual, expected) => !actual.startsWith(expected),
  ends_with: (actual, expected) => actual.endsWith(expected),
  not_ends_with: (actual, expected) => !actual.endsWith(expected),
  num_equals: (actual, expected) => Number(actual) === Number(expected),
  num_not_equals: (actual, expected) => Number(actual) !== Number(expected),
  lt: (actual, expected) => Number(actual) < Number(expected),
  gt: (actual, expected) => Number(actual) > Number(expected),
  lte: (actual, expected) => Number(actual) <= Number(expected),
  gte: (actual, expected) => Number(actual) >= Number(expected),
};

export function hasConditions(conditions: unknown): boolean {
  return parseConditions(conditions).length > 0;
}

/**
 * Evaluates conditions and groups from left to right. Each is joined with the result so far by `and` or `or`. Without
 * conditions the result is true.
 * @throws Error for a malformed condition, so that it never passes
 */
export function conditionsHold(conditions: unknown, values: Readonly<Record<string, string>>, depth = 0): boolean {
  if (depth > maxDepth) throw new Error('The conditions are nested too deeply');
  let result: boolean | undefined;
  for (const condition of parseConditions(conditions)) {
    const holds =
      condition['type'] === 'group'
        ? conditionsHold(condition['children'], values, depth + 1)
        : expressionHolds(toExpression(condition), values);
    if (result === undefined) result = holds;
    else result = condition['andOr'] === 'or' ? result || holds : result && holds;
  }
  return result ?? true;
}

function expressionHolds({ variable, operator, value }: Expression, values: Readonly<Record<string, string>>): boolean {
  const compare = Object.hasOwn(comparisons, operator) ? comparisons[operator] : undefined;
  const actual = Object.hasOwn(values, variable) ? values[variable] : undefined;
  if (compare === undefined) throw new Error(`The condition has an unknown operator ${operator.slice(0, 50)}`);
  if (actual === undefined) throw new Error(`The condition has an unknown variable ${variable.slice(0, 50)}`);
  return compare(actual, value);
}

function toExpression({ variable, operator, value }: Fields): Expression {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return {
    variable: typeof variable === 'string' ? variable : '',
    operator: typeof operator === 'string' ? operator : '',
    value: text,
  };
}

/** @throws Error when the text is not a list */
function parseConditions(conditions: unknown): readonly Fields[] {
  if (conditions === undefined || conditions === null || conditions === '') return [];
  const list: unknown =
    typeof conditions === 'string'
      ? parseJsonOrThrow(conditions, () => new Error('The conditions are not JSON'))
      : conditions;
  if (!Array.isArray(list)) throw new Error('The conditions are not a list');
  return list.map((one: unknown) => (typeof one === 'object' && one !== null ? (one as Fields) : {}));
}
