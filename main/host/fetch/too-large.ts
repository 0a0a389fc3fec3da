import * as m from '#messages/host-problems';
import { Problem } from '../../../services/contracts/problem.ts';

export function buildTooLargeProblem(maxBytes: number): Problem {
  return new Problem('fetch.too_large', 502, () => m.responseTooLarge({ maxBytes }));
}
