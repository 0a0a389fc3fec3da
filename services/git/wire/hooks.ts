import type { Commit, FileChange } from '../repositories/commits.ts';
import type { WebhookRow } from '../store/hooks.ts';
import { payloadCommit, type RepositoryAddress } from './commits.ts';
import { formatTime } from './time.ts';

/** Converts a hook to JSON without its secret and without the password in its URL. */
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
    updated_at: formatTime(row.updated_at),
    created_at: formatTime(row.created_at),
  };
}

/** Converts a commit to the form in a push payload, with the changed files. */
export function hookCommit(
  commit: Commit,
  changes: readonly FileChange[],
  address: RepositoryAddress,
  username: (email: string) => string,
) {
  const paths = (...statuses: readonly FileChange['status'][]): string[] =>
    changes.filter(({ status }) => statuses.includes(status)).map(({ path }) => path);
  const formerPaths = changes.flatMap(({ from }) => from ?? []);
  return {
    ...payloadCommit(commit, address, username),
    verification: null,
    added: paths('added', 'renamed'),
    removed: [...paths('removed'), ...formerPaths],
    modified: paths('modified'),
  };
}
