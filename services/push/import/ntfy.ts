import * as m from '#messages/push-problems';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { Problem } from '../../contracts/problem.ts';
import type { Context, ImportResult } from '../../contracts/service.ts';
import type { MessageStore } from '../store/messages.ts';
import { ProfileStore } from '../store/profiles.ts';
import { importAccounts } from './accounts.ts';
import { findAttachments } from './files.ts';
import { importMessages } from './messages.ts';
import { readSettings } from './settings.ts';

export interface ImportDependencies {
  readonly context: Context;
  readonly messages: MessageStore;
  readonly keepInInbox: boolean;
}

/**
 * Imports the data of an ntfy server from a folder: `auth.db` (or `user.db`), `cache.db`, `server.yml` and attachments,
 * as far as they exist. Repeated imports add nothing.
 *
 * @throws Problem `push.nothing_to_take_over` (404), `push.unreadable` (422)
 */
export async function importNtfy(
  { context, messages, keepInInbox }: ImportDependencies,
  folder: string,
): Promise<ImportResult> {
  const find = (...files: string[]): string | undefined =>
    files.map((file) => join(folder, file)).find((file) => existsSync(file));
  const [auth, cache, yaml] = [find('auth.db', 'user.db'), find('cache.db'), find('server.yml', 'server.yaml')];
  if (auth === undefined && cache === undefined && yaml === undefined) {
    throw new Problem('push.nothing_to_take_over', 404, m.importFilesMissing({ folder }));
  }
  const profiles = new ProfileStore(context);
  const serverConfig =
    yaml === undefined ? undefined : await withReadError(yaml, async () => readSettings(await readFile(yaml, 'utf8')));
  const { accounts, clock } = context;
  const notes = [
    ...(auth === undefined ? [] : await withDatabase(auth, (db) => importAccounts({ accounts, profiles, clock }, db))),
    ...(cache === undefined
      ? []
      : await withDatabase(cache, (db) => {
          const attachments = findAttachments(folder, serverConfig?.attachments);
          return importMessages({ context, messages, keepInInbox, attachments }, db);
        })),
  ];
  return { settings: serverConfig?.settings ?? {}, notes: [...notes, ...(serverConfig?.notes ?? [])] };
}

async function withDatabase<T>(file: string, work: (db: BetterSqlite3.Database) => Promise<T>): Promise<T> {
  return withReadError(file, async () => {
    const { default: Database } = await import('better-sqlite3');
    const db = new Database(file, { readonly: true, fileMustExist: true });
    try {
      return await work(db);
    } finally {
      db.close();
    }
  });
}

async function withReadError<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem('push.unreadable', 422, m.importFileInvalid({ file }), { cause });
  }
}
