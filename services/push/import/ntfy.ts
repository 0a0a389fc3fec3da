import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { Problem } from '../../contracts/problem.ts';
import type { Context, ImportResult } from '../../contracts/service.ts';
import type { MessageStore } from '../store/messages.ts';
import { ProfileStore } from '../store/profiles.ts';
import { takeAccounts } from './accounts.ts';
import { findAttachments } from './files.ts';
import { takeMessages } from './messages.ts';
import { readSettings } from './settings.ts';

export interface TakeOverParts {
  readonly context: Context;
  readonly messages: MessageStore;
  readonly keepInInbox: boolean;
}

/**
 * Takes over what an ntfy server left in a folder: `auth.db` (or `user.db`), `cache.db` and `server.yml`, those that are
 * there, and the files of messages. Doing it twice changes nothing more.
 *
 * @throws Problem `push.nothing_to_take_over` (404), `push.unreadable` (422)
 */
export async function takeOverNtfy(
  { context, messages, keepInInbox }: TakeOverParts,
  folder: string,
): Promise<ImportResult> {
  const find = (...files: string[]): string | undefined =>
    files.map((file) => join(folder, file)).find((file) => existsSync(file));
  const [auth, cache, yaml] = [find('auth.db', 'user.db'), find('cache.db'), find('server.yml', 'server.yaml')];
  if (auth === undefined && cache === undefined && yaml === undefined) {
    const detail = `There is no auth.db, user.db, cache.db or server.yml in ${folder}.`;
    throw new Problem('push.nothing_to_take_over', 404, detail);
  }
  const profiles = new ProfileStore(context);
  const read =
    yaml === undefined ? undefined : await inFile(yaml, async () => readSettings(await readFile(yaml, 'utf8')));
  const { accounts, clock } = context;
  const taken = [
    ...(auth === undefined ? [] : await inDatabase(auth, (db) => takeAccounts({ accounts, profiles, clock }, db))),
    ...(cache === undefined
      ? []
      : await inDatabase(cache, (db) => {
          const attachments = findAttachments(folder, read?.attachments);
          return takeMessages({ context, messages, keepInInbox, attachments }, db);
        })),
  ];
  return { settings: read?.settings ?? {}, notes: [...taken, ...(read?.notes ?? [])] };
}

async function inDatabase<T>(file: string, work: (db: BetterSqlite3.Database) => Promise<T>): Promise<T> {
  return inFile(file, async () => {
    const { default: Database } = await import('better-sqlite3');
    const db = new Database(file, { readonly: true, fileMustExist: true });
    try {
      return await work(db);
    } finally {
      db.close();
    }
  });
}

async function inFile<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem('push.unreadable', 422, `${file} cannot be read as a file of an ntfy server.`, { cause });
  }
}
