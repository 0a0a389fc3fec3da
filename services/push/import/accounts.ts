import type BetterSqlite3 from 'better-sqlite3';
import { AccountName, everyone, type Accounts, type Permission } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
import { counted } from '../../kit/counted.ts';
import { isTopicPattern } from '../domain/topics.ts';
import type { ProfileStore } from '../store/profiles.ts';
import { Preferences, Subscription } from '../wire/account.ts';
import { patternOf } from './pattern.ts';
import { rowsOf, textOf } from './rows.ts';

export interface AccountsParts {
  readonly accounts: Accounts;
  readonly profiles: ProfileStore;
  readonly clock: Clock;
}

/**
 * Takes over people, passwords, grants, tokens and preferences from the peer's `auth.db`. Who is there already keeps what
 * he has and gains the rest. Answers sentences about it.
 */
export async function takeAccounts(parts: AccountsParts, db: BetterSqlite3.Database): Promise<string[]> {
  const { accounts } = parts;
  const users = rowsOf(db, 'user').filter((row) => (row['deleted'] ?? null) === null);
  const names = new Map<string, string>();
  const refused: string[] = [];
  const without: string[] = [];
  let made = 0;
  for (const row of users) {
    const name = textOf(row['user']);
    const id = textOf(row['id']);
    if (name !== everyone && !AccountName.safeParse(name).success) {
      refused.push(name.slice(0, 64));
      continue;
    }
    names.set(id, name);
    if (name === everyone) continue;
    if ((await accounts.find(name)) === undefined) {
      await accounts.create({ name, role: row['role'] === 'admin' ? 'admin' : 'user' });
      made += 1;
    }
    if (!(await takePassword(accounts, name, textOf(row['pass'])))) without.push(name);
    await takePreferences(parts, name, textOf(row['prefs']));
  }
  const grants = await takeGrants(parts, db, names);
  const tokens = await takeTokens(parts, db, names);
  return [
    `Taken over: ${counted(made, 'account')}, ${counted(grants, 'grant')}, ${counted(tokens, 'token')}.`,
    ...(without.length === 0 ? [] : [`Set a password for those that came without one: ${without.join(', ')}.`]),
    ...(refused.length === 0 ? [] : [`Names that cannot be used here: ${refused.join(', ')}.`]),
  ];
}

/** The peer's password goes on, unless there is one already. False when there is none to sign in with. */
async function takePassword(accounts: Accounts, name: string, passwordHash: string): Promise<boolean> {
  if ((await accounts.find(name))?.hasPassword === true) return true;
  try {
    await accounts.change(name, { passwordHash });
    return true;
  } catch (error) {
    // No hash, or none of the peer's.
    if (!(error instanceof Problem) || error.code !== 'accounts.invalid') throw error;
    return false;
  }
}

async function takeGrants(
  { accounts }: AccountsParts,
  db: BetterSqlite3.Database,
  names: ReadonlyMap<string, string>,
): Promise<number> {
  let count = 0;
  for (const row of rowsOf(db, 'user_access')) {
    const name = names.get(textOf(row['user_id']));
    const topic = patternOf(textOf(row['topic']));
    if (name === undefined || !isTopicPattern(topic)) continue;
    await accounts.setGrant(name, 'push', topic, permissionOf(Number(row['read']) === 1, Number(row['write']) === 1));
    count += 1;
  }
  return count;
}

function permissionOf(read: boolean, write: boolean): Permission {
  if (read) return write ? 'read-write' : 'read';
  return write ? 'write' : 'none';
}

async function takeTokens(
  { accounts, clock }: AccountsParts,
  db: BetterSqlite3.Database,
  names: ReadonlyMap<string, string>,
): Promise<number> {
  let count = 0;
  for (const row of rowsOf(db, 'user_token')) {
    const name = names.get(textOf(row['user_id']));
    const expires = Number(row['expires'] ?? 0) * 1000;
    if (name === undefined || (expires !== 0 && expires <= clock.now())) continue;
    const [text, label] = [textOf(row['token']), textOf(row['label']).slice(0, 128)];
    try {
      await accounts.createToken(name, { label, expiresAt: expires === 0 ? null : expires, text });
      count += 1;
    } catch (error) {
      // One that was taken over before, or that is none.
      if (!(error instanceof Problem) || error.status >= 500) throw error;
    }
  }
  return count;
}

async function takePreferences({ profiles, clock }: AccountsParts, name: string, text: string): Promise<void> {
  const prefs = parseObject(text);
  const preferences = Preferences.safeParse(prefs);
  if (preferences.success && Object.keys(preferences.data).length > 0)
    await profiles.updatePreferences(name, preferences.data);
  const listed: unknown = prefs['subscriptions'];
  for (const each of Array.isArray(listed) ? listed : []) {
    const read = Subscription.safeParse(each);
    if (!read.success) continue;
    const { base_url, topic, display_name } = read.data;
    await profiles.subscribe(name, { base_url, topic, display_name: display_name || null }, clock.now());
  }
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // Preferences that cannot be read are the peer's loss, not a reason to leave the account behind.
    return {};
  }
}
