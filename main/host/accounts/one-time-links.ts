import * as m from '#messages/account-problems';
import { AccountName, everyone, Grant, Role } from '../../../services/contracts/control/accounts.ts';
import {
  OneTimeLinkKind,
  type CreatedOneTimeLink,
  type NewInvitation,
  type OneTimeLink,
  type OneTimeLinks,
  type OneTimeLinkUse,
} from '../../../services/contracts/control/one-time-links.ts';
import { parseJson } from '../../../services/contracts/parse-json.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Random } from '../../../services/contracts/service.ts';
import type { SecurityLog } from '../log/security-log.ts';
import { buildInvalidProblem, buildUnknownAccountProblem, checkFields, prepareAccount } from './account-list.ts';
import type { Changes } from './changes.ts';
import { buildDeclaredProblem } from './declared.ts';
import type { Directory } from './directory.ts';
import { refuseTakenName } from './names.ts';
import { refuseWeakPassword } from './password-rules.ts';
import type { Passwords } from './passwords.ts';
import { fingerprint, generateLinkToken, isLinkTokenShaped } from './secrets.ts';
import type { SignInThrottle } from './sign-in-throttle.ts';
import { getSource } from './source.ts';
import { deleteResetLinks, deleteSecondFactor, endCredentials, isDeclaredAccount, type Db } from './store.ts';
import type { OneTimeLinkRow } from './tables.ts';

const dayMs = 24 * 60 * 60 * 1000;
const lifetimeMs = { reset: dayMs, invitation: 7 * dayMs } as const;
/** Maximum number of unused invitations. */
const maxInvitations = 100;

export interface OneTimeLinkDependencies {
  readonly kysely: Db;
  readonly directory: Directory;
  readonly changes: Changes;
  readonly passwords: Passwords;
  readonly throttle: Pick<SignInThrottle, 'failInvalidToken'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly security: SecurityLog;
}

/**
 * Stores one-time links by the hash of their token. A link is deleted in the transaction that uses it, and changes of
 * accounts are serialized on all hosts, so it cannot be used twice.
 */
export class OneTimeLinkStore implements OneTimeLinks {
  readonly #parts: OneTimeLinkDependencies;

  constructor(parts: OneTimeLinkDependencies) {
    this.#parts = parts;
  }

  async list(): Promise<readonly OneTimeLink[]> {
    const rows = await this.#parts.kysely
      .selectFrom('one_time_links')
      .selectAll()
      .where('expires_at', '>', this.#parts.clock.now())
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .execute();
    return rows.filter((row) => this.#isAuthorized(row)).map(toLink);
  }

  readonly createReset: OneTimeLinks['createReset'] = async (account, { removesSecondFactor, createdBy }) => {
    const created = this.#build('reset', {
      account,
      role: 'user',
      grants: '[]',
      removes_second_factor: removesSecondFactor ? 1 : 0,
      created_by: createdBy,
    });
    await this.#parts.changes.create([account], async (db) => {
      await requireResettable(db, account);
      await deleteResetLinks(db, account);
      await db.insertInto('one_time_links').values(created.row).execute();
    });
    return this.#announce(created, removesSecondFactor ? 'reset, second factor' : 'reset');
  };

  readonly createInvitation: OneTimeLinks['createInvitation'] = async (
    { name, role, grants }: NewInvitation,
    createdBy,
  ) => {
    if (name !== '' && !AccountName.safeParse(name).success) throw buildInvalidProblem('name', m.nameInvalid());
    checkFields({ grants });
    const created = this.#build('invitation', {
      account: name,
      role,
      grants: JSON.stringify(grants),
      removes_second_factor: 0,
      created_by: createdBy,
    });
    // The event of the creator's account lets open pages reload their list of links.
    await this.#parts.changes.create(createdBy === '' ? [] : [createdBy], async (db) => {
      if (name !== '') await refuseTakenName(db, name);
      const { count } = await db
        .selectFrom('one_time_links')
        .select(({ fn }) => fn.countAll<number | string>().as('count'))
        .where('kind', '=', 'invitation')
        .where('expires_at', '>', this.#parts.clock.now())
        .executeTakeFirstOrThrow();
      if (Number(count) >= maxInvitations)
        throw new Problem('accounts.too_many_links', 409, m.tooManyInvitations({ max: maxInvitations }));
      await db.insertInto('one_time_links').values(created.row).execute();
    });
    return this.#announce(created, `invitation, ${role}`);
  };

  async revoke(id: string): Promise<void> {
    const row = await this.#parts.changes.create([], async (db, alsoChanged) => {
      const [revoked] = await db.deleteFrom('one_time_links').where('id', '=', id).returningAll().execute();
      // The command line has no account, but its links reset one.
      const changed = revoked?.created_by === '' && revoked.kind === 'reset' ? revoked.account : revoked?.created_by;
      if (changed !== undefined && changed !== '') alsoChanged(changed);
      return revoked;
    });
    if (row === undefined) throw new Problem('accounts.unknown_link', 404, m.oneTimeLinkNotFound());
    this.#parts.security.record({ event: 'link_revoked', account: row.account || '-', detail: row.kind });
  }

  readonly open: OneTimeLinks['open'] = async (token, remoteAddress) => {
    const { kind, account, expiresAt } = toLink(await this.#find(token, remoteAddress));
    return { kind, account, expiresAt };
  };

  readonly use: OneTimeLinks['use'] = async (token, input, remoteAddress) => {
    const row = await this.#find(token, remoteAddress);
    return row.kind === 'reset' ? this.#setPassword(row, input) : this.#createAccount(row, input);
  };

  async #setPassword(row: OneTimeLinkRow, { password }: OneTimeLinkUse): Promise<string> {
    const { changes, passwords, security } = this.#parts;
    const { account } = row;
    await refuseWeakPassword(account, password);
    checkFields({ password });
    const passwordHash = await passwords.hash(password);
    const hadFactor = await changes.create([account], async (db) => {
      await this.#take(db, row);
      await deleteResetLinks(db, account);
      await db.updateTable('accounts').set({ password_hash: passwordHash }).where('name', '=', account).execute();
      // As after any new password: sessions end, and tokens of programs keep working.
      await endCredentials(db, account, 'sessions');
      return Number(row.removes_second_factor) === 1 && (await deleteSecondFactor(db, account));
    });
    security.record({ event: 'link_used', account, by: account, detail: 'reset' });
    security.record({ event: 'password_changed', account, by: account, detail: 'one-time link' });
    if (hadFactor)
      security.record({ event: 'second_factor_disabled', account, by: account, detail: 'reset by a one-time link' });
    return account;
  }

  async #createAccount(row: OneTimeLinkRow, { name, password }: OneTimeLinkUse): Promise<string> {
    const { changes, security } = this.#parts;
    const { role, grants } = toLink(row);
    await refuseWeakPassword(name, password);
    const prepared = await prepareAccount({ name, password, role, grants }, this.#parts);
    await changes.create([name], async (db) => {
      await this.#take(db, row);
      await prepared.insert(db);
    });
    security.record({ event: 'link_used', account: name, by: name, detail: 'invitation' });
    security.record({ event: 'account_created', account: name, detail: `person, ${role}, invitation` });
    return name;
  }

  /**
   * Deletes a link within the transaction that uses it.
   * @throws Problem `accounts.link_invalid` (403) when it was used or revoked in the meantime
   */
  async #take(db: Db, { id }: OneTimeLinkRow): Promise<void> {
    const [row] = await db.deleteFrom('one_time_links').where('id', '=', id).returningAll().execute();
    if (row === undefined || Number(row.expires_at) <= this.#parts.clock.now()) throw buildLinkInvalidProblem();
    const names = [row.created_by, ...(row.kind === 'reset' ? [row.account] : [])].filter((name) => name !== '');
    const accounts =
      names.length === 0 ? [] : await db.selectFrom('accounts').selectAll().where('name', 'in', names).execute();
    const isEnabled = (name: string, role?: string): boolean =>
      accounts.some((each) => each.name === name && Number(each.enabled) === 1 && (role ?? each.role) === each.role);
    const isAuthorized = row.created_by === '' || isEnabled(row.created_by, 'admin');
    const isUsable = row.kind !== 'reset' || (isEnabled(row.account) && !(await isDeclaredAccount(db, row.account)));
    if (!isAuthorized || !isUsable) throw buildLinkInvalidProblem();
  }

  /** @throws Problem `accounts.link_invalid` (403), `accounts.too_many_attempts` (429) */
  async #find(token: string, remoteAddress: string): Promise<OneTimeLinkRow> {
    const row = isLinkTokenShaped(token)
      ? await this.#parts.kysely
          .selectFrom('one_time_links')
          .selectAll()
          .where('hash', '=', fingerprint(token))
          .where('expires_at', '>', this.#parts.clock.now())
          .executeTakeFirst()
      : undefined;
    if (row !== undefined && this.#isAuthorized(row)) return row;
    const event = { account: '-', address: remoteAddress, detail: 'one-time link' } as const;
    try {
      this.#parts.throttle.failInvalidToken(getSource({ remoteAddress }));
    } catch (error) {
      this.#parts.security.record({ ...event, event: 'sign_in_blocked' });
      throw error;
    }
    this.#parts.security.record({ ...event, event: 'sign_in_failed' });
    throw buildLinkInvalidProblem();
  }

  /**
   * Links of an account that is no longer an administrator, and resets of a disabled account or of one that the
   * settings declare in the meantime, do not work.
   */
  #isAuthorized({ kind, account, created_by }: OneTimeLinkRow): boolean {
    const { directory } = this.#parts;
    const creator = created_by === '' ? undefined : directory.member(created_by)?.account;
    if (created_by !== '' && (creator?.enabled !== true || creator.role !== 'admin')) return false;
    if (kind !== 'reset') return true;
    const member = directory.member(account);
    return member?.account.enabled === true && !member.declared.has('account');
  }

  #build(
    kind: OneTimeLinkKind,
    fields: Pick<OneTimeLinkRow, 'account' | 'role' | 'grants' | 'removes_second_factor' | 'created_by'>,
  ): { readonly row: OneTimeLinkRow; readonly token: string } {
    const { clock, random } = this.#parts;
    const token = generateLinkToken(random);
    const createdAt = clock.now();
    const row: OneTimeLinkRow = {
      ...fields,
      id: random.text(16),
      hash: fingerprint(token),
      kind,
      created_at: createdAt,
      expires_at: createdAt + lifetimeMs[kind],
    };
    return { row, token };
  }

  #announce({ row, token }: { readonly row: OneTimeLinkRow; readonly token: string }, detail: string) {
    this.#parts.security.record({ event: 'link_created', account: row.account || '-', detail });
    return { link: toLink(row), token } satisfies CreatedOneTimeLink;
  }
}

/**
 * Checks within a transaction that a link may set the password of an account.
 * @throws Problem `accounts.unknown` (404), `accounts.link_not_possible` (409), `accounts.provisioned` (409)
 */
async function requireResettable(db: Db, name: string): Promise<void> {
  const account = await db.selectFrom('accounts').selectAll().where('name', '=', name).executeTakeFirst();
  if (account === undefined) throw buildUnknownAccountProblem(name);
  if (await isDeclaredAccount(db, name)) throw buildDeclaredProblem('account', name);
  if (name === everyone || account.kind !== 'person')
    throw new Problem('accounts.link_not_possible', 409, m.resetNeedsPerson({ name }));
  if (Number(account.enabled) !== 1)
    throw new Problem('accounts.link_not_possible', 409, m.resetNeedsEnabled({ name }));
}

function toLink(row: OneTimeLinkRow): OneTimeLink {
  return {
    id: row.id,
    kind: OneTimeLinkKind.parse(row.kind),
    account: row.account,
    role: Role.parse(row.role),
    grants: Grant.array().parse(parseJson(row.grants)),
    removesSecondFactor: Number(row.removes_second_factor) === 1,
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
    createdBy: row.created_by,
  };
}

function buildLinkInvalidProblem(): Problem {
  return new Problem('accounts.link_invalid', 403, m.oneTimeLinkInvalid());
}
