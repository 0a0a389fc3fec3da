import { Problem } from '../../../services/contracts/problem.ts';

export function buildTooLargeProblem(maxBytes: number): Problem {
  return new Problem('fetch.too_large', 502, `The answer is larger than ${maxBytes} bytes.`);
}
