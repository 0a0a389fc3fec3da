import type { Problem } from '../../contracts/problem.ts';
import { refusalOf } from '../domain/refusals.ts';

/** The peer's error body, one line; `link` is left out when there is none. */
export function errorBody(problem: Problem): string {
  const refusal = refusalOf(problem);
  const code = refusal?.code ?? problem.status * 100;
  const error = refusal?.text ?? problem.detail;
  return `${JSON.stringify({ code, http: problem.status, error, link: refusal?.link })}\n`;
}
