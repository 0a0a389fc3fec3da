import jsonata from 'jsonata';
import type { JsonQuery, JsonQueryAnswer } from './json-query.ts';
import { parseJson } from '../../contracts/parse-json.ts';

const maxValueLength = 200;

/** Evaluates a JSONata expression and compares its result. Runs in a limited process. */
export async function run({ text, path, operator, expected }: JsonQuery): Promise<JsonQueryAnswer> {
  const result: unknown = path === '' ? parseText(text) : await jsonata(path).evaluate(parseText(text));
  if (result === undefined) return { found: false };
  const value = typeof result === 'string' ? result : (JSON.stringify(result) ?? 'function');
  return { found: true, holds: compare(value, operator, expected), value: value.slice(0, maxValueLength) };
}

/** Text that is not JSON is queried as a string. */
function parseText(text: string): unknown {
  // ASP.NET and IIS send a byte order mark.
  const content = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const parsed = parseJson(content);
  return parsed === undefined ? content : parsed;
}

function compare(value: string, operator: string, expected: string): boolean {
  switch (operator) {
    case '!=':
      return value !== expected;
    case '>':
      return Number(value) > Number(expected);
    case '>=':
      return Number(value) >= Number(expected);
    case '<':
      return Number(value) < Number(expected);
    case '<=':
      return Number(value) <= Number(expected);
    case 'contains':
      return value.includes(expected);
    default:
      return value === expected;
  }
}
