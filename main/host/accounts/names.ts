import * as m from '#messages/account-problems';
import { sql } from 'kysely';
import type { Accounts } from '../../../services/contracts/control/accounts.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Changes } from './changes.ts';
import type { Db } from './store.ts';

/** Service id of reservations for the names of data kept of removed accounts. */
export const keptDataService = 'host';

type Reservations = Pick<Accounts, 'reserveName' | 'releaseName' | 'synchronizeNames'>;

/** Manages names that services use in the namespace of the accounts. */
export function nameReservations({ changes }: { readonly changes: Changes }): Reservations {
  return {
    async reserveName(service, { name, kind }) {
      await changes.create([], async (db) => {
        const account = await findAccountName(db, name);
        if (account !== undefined) throw accountExists(account);
        const other = await findReservation(db, name);
        if (other?.service === service) return;
        if (other !== undefined) throw buildNameReservedProblem(other);
        await db.insertInto('reserved_names').values({ lower_name: name.toLowerCase(), name, service, kind }).execute();
      });
    },

    async releaseName(service, name) {
      await changes.create([], async (db) => {
        await db
          .deleteFrom('reserved_names')
          .where('lower_name', '=', name.toLowerCase())
          .where('service', '=', service)
          .execute();
      });
    },

    async synchronizeNames(service, reservations) {
      return changes.create([], async (db) => {
        const unique = new Map(reservations.map((each) => [each.name.toLowerCase(), each]));
        await db.deleteFrom('reserved_names').where('service', '=', service).execute();
        const collisions: string[] = [];
        for (const [lower_name, { name, kind }] of unique) {
          const takenNames = (await findAccountName(db, name)) ?? (await findReservation(db, name));
          if (takenNames !== undefined) collisions.push(name);
          await db.insertInto('reserved_names').values({ lower_name, name, service, kind }).execute();
        }
        return collisions;
      });
    },
  };
}

/**
 * Rejects a name that an account, a service or the pending data of a removed account has, ignoring case.
 * @throws Problem `accounts.exists`, `accounts.name_reserved` or `accounts.data_pending` (409)
 */
export async function refuseTakenName(db: Db, name: string): Promise<void> {
  const account = await findAccountName(db, name);
  if (account !== undefined) throw accountExists(account);
  const reservation = await findReservation(db, name);
  if (reservation !== undefined) throw buildNameReservedProblem(reservation);
  const pending = await db
    .selectFrom('releases')
    .select('service')
    .where(sql`lower(account)`, '=', name.toLowerCase())
    .where('failed', '=', 1)
    .executeTakeFirst();
  if (pending === undefined) return;
  const detail = m.nameStillHasData({ name, service: pending.service });
  throw new Problem('accounts.data_pending', 409, detail);
}

/** Finds the account with a name, ignoring case. */
export async function findAccountName(db: Db, name: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('accounts')
    .select('name')
    .where(sql`lower(name)`, '=', name.toLowerCase())
    .executeTakeFirst();
  return row?.name;
}

/** Reserves a name for kept data of an account: `temp.removed`, or `temp.removed-2` when that is taken. */
export async function reserveKeptName(db: Db, account: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? '.removed' : `.removed-${String(number)}`;
    const name = `${account.slice(0, 64 - suffix.length)}${suffix}`;
    const takenNames = (await findAccountName(db, name)) ?? (await findReservation(db, name));
    if (takenNames !== undefined) continue;
    const row = { lower_name: name.toLowerCase(), name, service: keptDataService, kind: 'removed account' };
    await db.insertInto('reserved_names').values(row).execute();
    return name;
  }
}

/** Finds groups of account names and reservations that differ only in case. */
export async function findCollisions(db: Db): Promise<readonly (readonly string[])[]> {
  const accounts = await db.selectFrom('accounts').select('name').orderBy('name').execute();
  const reserved = await db.selectFrom('reserved_names').selectAll().orderBy('name').execute();
  const entries = [
    ...accounts.map(({ name }) => ({ lower: name.toLowerCase(), label: name })),
    ...reserved.map(({ lower_name, name, kind }) => ({ lower: lower_name, label: `${name} (${kind})` })),
  ];
  const groups = Map.groupBy(entries, ({ lower }) => lower);
  return [...groups.values()].filter((group) => group.length > 1).map((group) => group.map(({ label }) => label));
}

interface Reservation {
  readonly name: string;
  readonly service: string;
  readonly kind: string;
}

function findReservation(db: Db, name: string): Promise<Reservation | undefined> {
  return db
    .selectFrom('reserved_names')
    .select(['name', 'service', 'kind'])
    .where('lower_name', '=', name.toLowerCase())
    .executeTakeFirst();
}

function accountExists(name: string): Problem {
  return new Problem('accounts.exists', 409, m.accountExists({ name }));
}

function buildNameReservedProblem({ name, service, kind }: Reservation): Problem {
  const detail =
    service === keptDataService ? m.nameReserved({ name, kind }) : m.nameReservedIn({ name, kind, service });
  return new Problem('accounts.name_reserved', 409, detail);
}
