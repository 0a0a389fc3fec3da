import * as m from '#messages/sync-problems';
import { Problem } from '../../contracts/problem.ts';

/** Returns the problem for an error message of rclone, which is the cause. */
export function createRcloneProblem(message: string): Problem {
  return new Problem('sync.remote', 422, () => m.rcloneReports({ reason: message }), { cause: new Error(message) });
}

/** Returns the message of rclone that a problem reports; empty without one. */
export function getRcloneMessage({ cause }: Problem): string {
  return cause instanceof Error ? cause.message : '';
}
