import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { IssueRow } from '../store/issue-tables.ts';
import type { Tables } from '../store/tables.ts';
import { touch, type IssueWork } from './writer.ts';

/**
 * Makes an issue depend on another one, which must be closed first.
 * @throws Problem (422) if the dependency exists or would be circular
 */
export async function addDependency(work: IssueWork, issue: IssueRow, dependency: IssueRow): Promise<void> {
  const { db, now } = work;
  if (await dependsOn(db, dependency.id, issue.id))
    throw new Problem(
      'git.circular',
      422,
      'circular dependencies exists (two issues blocking each other) ' +
        `[issue: ${issue.number}, dependency: ${dependency.number}]`,
    );
  const { numInsertedOrUpdatedRows: added } = await db
    .insertInto('issue_dependencies')
    .values({ issue_id: issue.id, depends_on: dependency.id, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  if (added === 0n)
    throw new Problem(
      'git.dependency_taken',
      422,
      `issue dependency does already exist [issue: ${issue.number}, dependency: ${dependency.number}]`,
    );
  await touch(work, issue.id);
}

/**
 * Removes a dependency.
 * @throws Problem (404) if it does not exist
 */
export async function removeDependency(work: IssueWork, issue: IssueRow, dependency: IssueRow): Promise<void> {
  const { numDeletedRows } = await work.db
    .deleteFrom('issue_dependencies')
    .where('issue_id', '=', issue.id)
    .where('depends_on', '=', dependency.id)
    .executeTakeFirstOrThrow();
  if (numDeletedRows === 0n) throw buildNoDependencyProblem();
  await touch(work, issue.id);
}

/** Builds the same problem whether the other issue exists or not, because the caller may not be allowed to read it. */
export function buildNoDependencyProblem(): Problem {
  return new Problem('git.unknown', 404, 'issue dependency does not exist');
}

/** Returns true if an issue has open dependencies. */
export async function isBlocked(db: Kysely<Tables>, issue: number): Promise<boolean> {
  const openDependency = await db
    .selectFrom('issue_dependencies')
    .innerJoin('issues', 'issues.id', 'issue_dependencies.depends_on')
    .select('issues.id')
    .where('issue_dependencies.issue_id', '=', issue)
    .where('issues.closed', '=', 0)
    .executeTakeFirst();
  return openDependency !== undefined;
}

/**
 * Checks that an issue has no open dependencies.
 * @throws Problem (412)
 */
export async function requireUnblocked(db: Kysely<Tables>, issue: number): Promise<void> {
  if (!(await isBlocked(db, issue))) return;
  throw new Problem(
    'git.blocked',
    412,
    'cannot close this issue or pull request because it still has open dependencies',
  );
}

/** Returns true if an issue depends on another one, directly or indirectly. An issue counts as dependent on itself. */
async function dependsOn(db: Kysely<Tables>, issue: number, other: number): Promise<boolean> {
  const visited = new Set([issue]);
  let pending = [issue];
  while (pending.length > 0) {
    if (visited.has(other)) return true;
    const rows = await db
      .selectFrom('issue_dependencies')
      .select('depends_on')
      .where('issue_id', 'in', pending)
      .execute();
    pending = [...new Set(rows.map(({ depends_on: id }) => id))].filter((id) => !visited.has(id));
    for (const id of pending) visited.add(id);
  }
  return false;
}
