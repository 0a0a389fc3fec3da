import * as m from '#messages/uptime';
import { Problem } from '../../../../../services/contracts/problem.ts';
import { isRecord } from '../../../../../services/contracts/is-record.ts';
import { parseJson } from '../../../../../services/contracts/parse-json.ts';

/** Converts stored headers, the JSON text of Uptime Kuma, to lines such as `Accept: text/html`. */
export function formatHeaders(stored: string): string {
  const parsed = parseJson(stored);
  if (!isRecord(parsed)) return stored;
  return Object.entries(parsed)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join('\n');
}

/**
 * Converts lines to the stored JSON text; null without headers.
 *
 * @throws Problem with the field `headers` for a line that is not a header
 */
export function parseHeaders(text: string): string | null {
  const lines = text.split('\n');
  const entries = lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    const [, name, value] = /^\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined) throw createHeaderProblem(index + 1);
    return [[name, value ?? '']];
  });
  return entries.length === 0 ? null : JSON.stringify(Object.fromEntries(entries), null, 2);
}

function createHeaderProblem(line: number): Problem {
  const message = m.headerInvalid({ line: String(line) });
  return new Problem('uptime.invalid', 400, message, { fields: { headers: message } });
}
