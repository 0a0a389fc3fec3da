import Database from 'better-sqlite3';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessPassword, openAccessHost, type AccessHost } from '../support/access.ts';
import { adminAuthorization, openTestHost } from '../support/host.ts';
import { accountGrants, createOwnedData, ownedData, send } from './account-data-rows.ts';

/** Names of columns that may contain the name of an account. */
const namePattern = new RegExp(
  'account|author(?!iz)|(?<!lease_)owner|user(?!_agent)|person|people|member(?!s_only)|sender|followed|everyone|' +
    '_by$|made_elsewhere|recipient',
);

/**
 * Columns that contain the name of an account, by service and table. No row of them names an account after it was
 * removed with its data.
 */
const accountColumns: Readonly<Record<string, readonly string[]>> = {
  addons: ['profiles.owner'],
  data: ['saved_queries.account'],
  gateway: ['second_factors.account', 'sessions.account'],
  git: [
    'collaborators.account',
    'commit_statuses.account',
    'follows.account',
    'follows.followed',
    'issue_assignees.account',
    'issue_attachments.account',
    'issue_entries.author',
    'issue_mentions.account',
    'issue_notifications.account',
    'issue_reactions.account',
    'issue_watches.account',
    'issues.author',
    'lfs_locks.account',
    'organization_members.account',
    'owners.lower_name',
    'owners.name',
    'protections.options',
    'public_keys.account',
    'pull_merges.account',
    'pulls.merged_by',
    'push_history.account',
    'pushes.account',
    'releases.author',
    'repository_watches.account',
    'review_requests.account',
    'reviews.author',
    'stars.account',
    'stopwatches.account',
    'tag_protections.accounts',
    'tokens.account',
    'tracked_times.account',
    'transfers.account',
  ],
  host: [
    'accounts.name',
    'declared.account',
    'grants.account',
    'one_time_links.account',
    'one_time_links.created_by',
    'passkeys.account',
    'provider_identities.account',
    'releases.account',
    'second_factors.account',
    'sessions.account',
    'tokens.account',
  ],
  push: [
    'profiles.account',
    'quiet_held.account',
    'quiet_people.account',
    'quiet_urgent.account',
    'recurring.account',
    'reservations.account',
    'scheduled.account',
    'subscriptions.account',
    'topic_preferences.account',
    'web_push.account',
  ],
  sync: ['runs.account', 'tasks.account'],
  uptime: ['incidents.acknowledged_by', 'incidents.notes'],
};

/** Columns whose names resemble those above. */
const unrelatedColumns: Readonly<Record<string, string>> = {
  'gateway acme_orders.issued_by': 'is an authority for certificates',
  'host leases.owner': 'is a process',
  'addons profiles.made_elsewhere': 'is a flag of imported configurations',
  'git former_names.owner_id': 'is the id of an owner',
  'git organization_members.owner_id': 'is the id of an owner',
  'git repositories.owner_id': 'is the id of an owner',
  'git transfers.owner_id': 'is the id of an owner',
  'git webhooks.owner_id': 'is the id of an owner',
  'mail messages.sender': 'is a mail address',
  'mail messages.recipients': 'are mail addresses',
  'push attachments.sender': 'is a network address, or an account for its limits, and expires within hours',
  'push reservations.everyone': 'is a permission',
};

/** Texts that were already sent. */
const sentTexts: ReadonlySet<string> = new Set([
  'inbox items.body',
  'inbox items.link',
  'inbox items.title',
  'notify notices.body',
  'notify notices.link',
  'notify notices.title',
  'push messages.text',
]);

const name = 'zoe-the-removed';
let folder: string;
let dataDir: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-columns-'));
  dataDir = join(folder, 'data');
  for (const entry of ['from', 'data']) mkdirSync(join(folder, entry));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Opens the database of each service in turn. The host must not run. */
function eachDatabase<T>(work: (service: string, db: Database.Database) => readonly T[]): T[] {
  return readdirSync(dataDir).flatMap((service) => {
    const file = join(dataDir, service, 'db.sqlite');
    if (!existsSync(file)) return [];
    const db = new Database(file);
    try {
      return work(service, db);
    } finally {
      db.close();
    }
  });
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly dflt_value: string | null;
  readonly pk: number;
}

function readTables(db: Database.Database): { readonly table: string; readonly columns: readonly Column[] }[] {
  const query = db.prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'");
  const tables = query.pluck().all() as string[];
  const isShadow = (table: string): boolean => /_words(?:_|$)/.test(table);
  return tables
    .filter((table) => !isShadow(table))
    .map((table) => ({ table, columns: db.pragma(`table_info("${table}")`) as Column[] }));
}

/** Finds the columns that contain the name of the account. */
function findReferences(): string[] {
  return eachDatabase((service, db) =>
    readTables(db).flatMap(({ table, columns }) =>
      columns
        .filter((column) => {
          const match = db
            .prepare(`select 1 from "${table}" where instr(lower("${column.name}"), ?) limit 1`)
            .get(name);
          return match !== undefined;
        })
        .map((column) => `${service} ${table}.${column.name}`),
    ),
  ).filter((column) => !sentTexts.has(column));
}

/** Inserts a row that names the account into each table of the list that has none yet. */
function fillColumns(existing: ReadonlySet<string>): void {
  eachDatabase((service, db) => {
    db.pragma('foreign_keys = off');
    for (const { table, columns } of readTables(db)) {
      for (const column of columns) {
        const id = `${service} ${table}.${column.name}`;
        if (existing.has(id) || accountColumns[service]?.includes(`${table}.${column.name}`) !== true) continue;
        insertRow(db, table, columns, column.name);
      }
    }
    return [];
  });
}

/** Texts that services parse when they start. */
const contents: Readonly<Record<string, string>> = {
  'incidents.notes': JSON.stringify([{ at: 1, by: name, text: 'Seen' }]),
  'protections.options': JSON.stringify({ push_whitelist_usernames: [name] }),
  'tag_protections.accounts': JSON.stringify([name]),
  'second_factors.recovery': '[]',
  'releases.service': 'push',
  'releases.action': 'delete',
};

let lastKey = 987_654;

function insertRow(db: Database.Database, table: string, columns: readonly Column[], filled: string): void {
  lastKey += 1;
  const key = lastKey;
  const values = columns.map((column) => {
    if (column.name === filled) return contents[`${table}.${column.name}`] ?? name;
    if (!column.notnull && column.pk === 0) return null;
    const isNumber = /int|real|bigint/i.test(column.type);
    return contents[`${table}.${column.name}`] ?? (isNumber ? (column.pk > 0 ? key : 0) : `${filled}-${String(key)}`);
  });
  const names = columns.map((column) => `"${column.name}"`).join(', ');
  db.prepare(`insert into "${table}" (${names}) values (${columns.map(() => '?').join(', ')})`).run(...values);
}

const listed = Object.entries(accountColumns).flatMap(([service, columns]) =>
  columns.map((column) => `${service} ${column}`),
);

describe('a column with the name of an account', () => {
  let access: AccessHost;
  let before: readonly string[];

  it('is listed here, so that a new one cannot be left out', async () => {
    access = await openAccessHost({}, { dataDir });
    const create = (account: object): Promise<string> =>
      send(access, ['admin', 'control'], ['POST', '/api/accounts'], account);
    await create({ name, role: 'admin', password: accessPassword, grants: accountGrants });
    const shared = { name: 'public', private: false, auto_init: true };
    await send(access, ['admin', 'git'], ['POST', '/api/v1/user/repos'], shared);
    for (const data of Object.values(ownedData)) await createOwnedData(access, data, { name, folder, label: 'label' });
    await access[Symbol.asyncDispose]();
    const named = eachDatabase((service, db) =>
      readTables(db).flatMap(({ table, columns }) =>
        columns.filter((column) => namePattern.test(column.name)).map((column) => `${service} ${table}.${column.name}`),
      ),
    );
    before = findReferences();
    const isUnlisted = (column: string): boolean => !listed.includes(column) && !(column in unrelatedColumns);
    expect(named.filter(isUnlisted)).toEqual([]);
    expect(before.filter(isUnlisted)).toEqual([]);
  });

  it('names no account that was removed with its data', async () => {
    fillColumns(new Set(before));
    expect(listed.filter((column) => !findReferences().includes(column))).toEqual([]);
    const host = await openTestHost({ dataDir });
    expect(host.host.failures()).toEqual({});
    const url = `${host.url('control')}/api/accounts/${name}?data=delete`;
    const reply = await fetch(url, { method: 'DELETE', headers: { Authorization: adminAuthorization } });
    await host[Symbol.asyncDispose]();
    expect([reply.status, host.log.filter((line) => line.includes('release failed'))]).toEqual([200, []]);
    expect(findReferences()).toEqual([]);
    const files = (readdirSync(dataDir, { recursive: true }) as string[]).filter((file) => file.endsWith('.json'));
    expect(files.filter((file) => readFileSync(join(dataDir, file), 'utf8').includes(name))).toEqual([]);
  });
});
