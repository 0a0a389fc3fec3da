import type { Commit, FileChange } from '../repositories/commits.ts';
import type { WebhookRow } from '../store/hooks.ts';
import { payloadCommit, type Place } from './commits.ts';
import { timeOf } from './time.ts';

/** A hook as the peer shows it; its secret is never shown, nor a password in its address. */
export function hookJson(row: WebhookRow, { authorization, url }: { authorization: string; url: string }) {
  return {
    id: row.id,
    name: '',
    type: row.type,
    branch_filter: row.branch_filter,
    config: { ...(JSON.parse(row.options) as Record<string, string>), content_type: row.content_type, url },
    events: JSON.parse(row.events) as string[],
    authorization_header: authorization,
    active: row.active === 1,
    updated_at: timeOf(row.updated_at),
    created_at: timeOf(row.created_at),
  };
}

/** A commit in the payload of a push, with the files that it changed. */
export function hookCommit(
  commit: Commit,
  changes: readonly FileChange[],
  place: Place,
  username: (email: string) => string,
) {
  const paths = (...wanted: readonly FileChange['status'][]): string[] =>
    changes.filter(({ status }) => wanted.includes(status)).map(({ path }) => path);
  const left = changes.flatMap(({ from }) => from ?? []);
  return {
    ...payloadCommit(commit, place, username),
    verification: null,
    added: paths('added', 'renamed'),
    removed: [...paths('removed'), ...left],
    modified: paths('modified'),
  };
}
