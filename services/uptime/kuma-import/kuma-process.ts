import { Problem } from '../../contracts/problem.ts';
import { foreignDatabaseCode, openKumaDatabase } from './kuma-database.ts';
import type { KumaAnswer, KumaRequest } from './kuma-messages.ts';

let opened: { readonly file: string; readonly database: ReturnType<typeof openKumaDatabase> } | undefined;

/** Handles a request. Runs in a limited process, which keeps the file open. */
export function run({ file, history }: KumaRequest): KumaAnswer {
  try {
    if (opened?.file !== file) opened = { file, database: openKumaDatabase(file) };
    const { database } = opened;
    if (history === undefined) return { kind: 'holding', holding: database.contents };
    return { kind: 'past', past: database.readHistory(history.monitor, history.now) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { kind: 'refused', reason: error.code === foreignDatabaseCode ? 'foreign' : 'unreadable' };
  }
}
