import type { Problem } from '../../contracts/problem.ts';
import { findRefusal } from '../domain/refusals.ts';

/** Returns ntfy's error body as one line; `link` is omitted without one. */
export function formatErrorBody(problem: Problem): string {
  const refusal = findRefusal(problem);
  const code = refusal?.code ?? problem.status * 100;
  const error = refusal?.text ?? problem.detail;
  const body = JSON.stringify({ code, http: problem.status, error, link: refusal?.link });
  // ntfy escapes these characters in errors, but not in messages.
  return `${body.replace(/[<>&]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`)}\n`;
}
