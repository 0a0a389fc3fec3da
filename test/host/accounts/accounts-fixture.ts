import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registry } from '../../../main/host/services/registry.ts';
import { openAccounts, type HostAccounts } from '../../../main/host/accounts/accounts.ts';
import { accountsMigrations } from '../../../main/host/accounts/tables.ts';
import { createBus } from '../../../main/host/services/bus.ts';
import { createSecurityLog } from '../../../main/host/log/security-log.ts';
import { openDatabase, type Database } from '../../../main/host/database/open.ts';
import { systemRandom } from '../../../main/host/runtime/random.ts';
import { openVault } from '../../../main/host/vault/vault.ts';
import { accountsChanged, accountsRemoved, type Credentials } from '../../../services/contracts/control/accounts.ts';
import type { Log, Vault } from '../../../services/contracts/service.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';

export interface AccountsFixture extends AsyncDisposable {
  readonly accounts: HostAccounts;
  readonly database: Database;
  readonly clock: FakeClock;
  readonly vault: Vault;
  /** Names in change events, in order. */
  readonly changed: string[];
  /** Names in removal events, in order. */
  readonly removed: string[];
  /** All logged entries. */
  readonly logged: string[];
  /** Opens a second host on the same database, with its own connection and bus. */
  another(): Promise<HostAccounts>;
}

/** @param connect opens another connection to the same database for each call; default: a new SQLite file */
export async function openAccountsFixture(
  connect?: () => Promise<Database>,
  passwordCost = 8,
): Promise<AccountsFixture> {
  const open = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'accounts-'));
  open.defer(() => rm(folder, { recursive: true, force: true }));
  const logged: string[] = [];
  const keep = (message: string, fields?: Record<string, unknown>) =>
    void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep };
  const vault = await openVault({ folder, create: true, log });
  const connectHere = connect ?? (async () => open.use(await openDatabase({ folder, schema: 'accounts', log })));
  const database = await connectHere();
  await database.migrate(accountsMigrations);
  const clock = createFakeClock();

  const openOne = async (database: Database, changed: string[], removed: string[] = []): Promise<HostAccounts> => {
    const bus = createBus(log);
    open.use(bus.subscribe(accountsChanged, ({ account }) => void changed.push(account)));
    open.use(bus.subscribe(accountsRemoved, ({ account }) => void removed.push(account)));
    return open.use(
      await openAccounts({
        database,
        services: registry,
        vault,
        clock,
        random: systemRandom,
        bus,
        observation: { log, security: createSecurityLog(log, clock) },
        policy: { passwordCost },
      }),
    );
  };
  const changed: string[] = [];
  const removed: string[] = [];
  const accounts = await openOne(database, changed, removed);
  return {
    accounts,
    database,
    clock,
    vault,
    changed,
    removed,
    logged,
    another: async () => openOne(await connectHere(), []),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

export const address = '192.0.2.7';

export function basic(name: string, password: string, remoteAddress = address): Credentials {
  return { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`, remoteAddress };
}

export function bearer(token: string, remoteAddress = address): Credentials {
  return { authorization: `Bearer ${token}`, remoteAddress };
}

export function session(secret: string, remoteAddress = address): Credentials {
  return { session: secret, remoteAddress };
}

export const badCredentials = { code: 'accounts.bad_credentials', status: 401 };
export const tooMany = { code: 'accounts.too_many_attempts', status: 429 };
