import * as m from '#messages/push-texts';
import type BetterSqlite3 from 'better-sqlite3';
import { AccountName, everyone, type Accounts, type Permission } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
import { formatList } from '../../../messages/format.ts';
import { isTopicPattern } from '../domain/topics.ts';
import type { ProfileStore } from '../store/profiles.ts';
import { Preferences, Subscription } from '../wire/account.ts';
import { fromLikePattern } from './pattern.ts';
import { readRows, toText } from './rows.ts';
import { parseJson } from '../../contracts/parse-json.ts';
import { toRecord } from '../../contracts/is-record.ts';

export interface AccountImportDependencies {
  readonly accounts: Accounts;
  readonly profiles: ProfileStore;
  readonly clock: Clock;
}

/**
 * Imports users, password hashes, grants, tokens and preferences from ntfy's `auth.db`. Existing accounts keep their
 * data and receive the rest. Returns notes for the user.
 */
export async function importAccounts(
  dependencies: AccountImportDependencies,
  db: BetterSqlite3.Database,
): Promise<string[]> {
  const { accounts } = dependencies;
  const users = readRows(db, 'user').filter((row) => (row['deleted'] ?? null) === null);
  const names = new Map<string, string>();
  const invalidNames: string[] = [];
  const withoutPassword: string[] = [];
  let created = 0;
  for (const row of users) {
    const name = toText(row['user']);
    const id = toText(row['id']);
    if (name !== everyone && !AccountName.safeParse(name).success) {
      invalidNames.push(name.slice(0, 64));
      continue;
    }
    names.set(id, name);
    if (name === everyone) continue;
    if ((await accounts.find(name)) === undefined) {
      await accounts.create({ name, role: row['role'] === 'admin' ? 'admin' : 'user' });
      created += 1;
    }
    if (!(await importPassword(accounts, name, toText(row['pass'])))) withoutPassword.push(name);
    await importPreferences(dependencies, name, toText(row['prefs']));
  }
  const grants = await importGrants(dependencies, db, names);
  const tokens = await importTokens(dependencies, db, names);
  return [
    m.importedAccounts({ accounts: created, grants, tokens }),
    ...(withoutPassword.length === 0 ? [] : [m.importedWithoutPassword({ names: formatList(withoutPassword) })]),
    ...(invalidNames.length === 0 ? [] : [m.importNamesInvalid({ names: formatList(invalidNames) })]),
  ];
}

/**
 * Imports the password hash unless the account has a password. Returns false when the account has no password
 * afterwards.
 */
async function importPassword(accounts: Accounts, name: string, passwordHash: string): Promise<boolean> {
  if ((await accounts.find(name))?.hasPassword === true) return true;
  try {
    await accounts.change(name, { passwordHash });
    return true;
  } catch (error) {
    // The hash is missing or has an unknown format.
    if (!(error instanceof Problem) || error.code !== 'accounts.invalid') throw error;
    return false;
  }
}

async function importGrants(
  { accounts }: AccountImportDependencies,
  db: BetterSqlite3.Database,
  names: ReadonlyMap<string, string>,
): Promise<number> {
  let count = 0;
  for (const row of readRows(db, 'user_access')) {
    const name = names.get(toText(row['user_id']));
    const topic = fromLikePattern(toText(row['topic']));
    if (name === undefined || !isTopicPattern(topic)) continue;
    await accounts.setGrant(name, 'push', topic, toPermission(Number(row['read']) === 1, Number(row['write']) === 1));
    count += 1;
  }
  return count;
}

function toPermission(subscription: boolean, write: boolean): Permission {
  if (subscription) return write ? 'read-write' : 'read';
  return write ? 'write' : 'none';
}

async function importTokens(
  { accounts, clock }: AccountImportDependencies,
  db: BetterSqlite3.Database,
  names: ReadonlyMap<string, string>,
): Promise<number> {
  let count = 0;
  for (const row of readRows(db, 'user_token')) {
    const name = names.get(toText(row['user_id']));
    const expires = Number(row['expires'] ?? 0) * 1000;
    if (name === undefined || (expires !== 0 && expires <= clock.now())) continue;
    const [text, label] = [toText(row['token']), toText(row['label']).slice(0, 128)];
    try {
      await accounts.createToken(name, { label, expiresAt: expires === 0 ? null : expires, text });
      count += 1;
    } catch (error) {
      // The token was imported before or is invalid.
      if (!(error instanceof Problem) || error.status >= 500) throw error;
    }
  }
  return count;
}

async function importPreferences(
  { profiles, clock }: AccountImportDependencies,
  name: string,
  text: string,
): Promise<void> {
  // Unreadable preferences must not prevent the import of the account.
  const prefs = toRecord(parseJson(text));
  const preferences = Preferences.safeParse(prefs);
  if (preferences.success && Object.keys(preferences.data).length > 0)
    await profiles.updatePreferences(name, preferences.data);
  const subscriptions: unknown = prefs['subscriptions'];
  for (const entry of Array.isArray(subscriptions) ? subscriptions : []) {
    const subscription = Subscription.safeParse(entry);
    if (!subscription.success) continue;
    const { base_url, topic, display_name } = subscription.data;
    await profiles.subscribe(name, { base_url, topic, display_name: display_name || null, isOwn: false }, clock.now());
  }
}
