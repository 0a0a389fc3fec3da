import type { Issue } from './issues.ts';

/** Returns the names of all accounts in issues. */
export function listAccountNames(issues: readonly Issue[]): readonly string[] {
  return issues.flatMap(({ author, assignees, request }) => [
    author,
    ...assignees,
    ...((request?.merged_by ?? '') ? [request?.merged_by ?? ''] : []),
  ]);
}
