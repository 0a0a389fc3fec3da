import type { Problem } from '../../contracts/problem.ts';
import { refusalOf } from '../domain/refusals.ts';

/** The peer's error body, one line; `link` is left out when there is none. */
export function errorBody(problem: Problem): string {
  const refusal = refusalOf(problem);
  const code = refusal?.code ?? problem.status * 100;
  const error = refusal?.text ?? problem.detail;
  const body = JSON.stringify({ code, http: problem.status, error, link: refusal?.link });
  // The peer escapes these in errors, though not in messages.
  return `${body.replace(/[<>&]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`)}\n`;
}
