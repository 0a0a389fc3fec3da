import * as m from '#messages/account-problems';
import {
  everyone,
  TokenScopes,
  type AccessToken,
  type Accounts,
} from '../../../services/contracts/control/accounts.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Random } from '../../../services/contracts/service.ts';
import type { SecurityLog } from '../log/security-log.ts';
import {
  getExistingAccount,
  buildInvalidProblem,
  buildReservedProblem,
  buildUnknownAccountProblem,
} from './account-list.ts';
import { isTokenShaped } from './authorization-header.ts';
import type { Changes } from './changes.ts';
import { buildDeclaredProblem } from './declared.ts';
import type { Directory, Member } from './directory.ts';
import { fingerprint, generateToken } from './secrets.ts';
import { hasAccount, deleteOldest } from './store.ts';
import type { TokenRow } from './tables.ts';

/** Maximum number of tokens per account, as in ntfy; a new one replaces the oldest. */
const maxTokens = 60;

export interface TokenDependencies {
  readonly directory: Directory;
  readonly changes: Changes;
  readonly clock: Clock;
  readonly random: Random;
  readonly security: SecurityLog;
}

/** Manages access tokens, which are listed without their text. */
export function accessTokens(
  dependencies: TokenDependencies,
): Pick<Accounts, 'tokens' | 'findToken' | 'createToken' | 'changeToken' | 'removeToken'> {
  const { directory, changes, security } = dependencies;
  return {
    async tokens(account) {
      getExistingAccount(directory, account);
      return [...(directory.member(account)?.tokens.values() ?? [])].map(({ row, member }) =>
        toAccessToken(row, member),
      );
    },

    async findToken(account, text) {
      const hash = fingerprint(text);
      const all = [...(directory.member(account)?.tokens.values() ?? [])];
      const match = all.find(({ row }) => row.hash === hash);
      return match === undefined ? undefined : toAccessToken(match.row, match.member);
    },

    createToken: (account, token) => createToken(account, token, dependencies),

    changeToken: (account, id, change) => changeToken(account, id, change, dependencies),

    async removeToken(account, id) {
      refuseDeclared(directory, account, id);
      const label = directory.member(account)?.tokens.get(id)?.row.label;
      await changes.create([account], async (db) => {
        const match = await db
          .deleteFrom('tokens')
          .where('account', '=', account)
          .where('id', '=', id)
          .returning('id')
          .execute();
        if (match.length === 0) throw buildUnknownTokenProblem();
      });
      security.record({ event: 'token_revoked', account, detail: label || id });
    },
  };
}

async function createToken(
  account: string,
  input: Parameters<Accounts['createToken']>[1],
  { changes, clock, random, security }: TokenDependencies,
): Promise<{ token: AccessToken; text: string }> {
  const { label, expiresAt, text = generateToken(random), scopes } = input;
  if (account === everyone) throw buildReservedProblem();
  const now = clock.now();
  checkExpiry(expiresAt, now);
  checkLabel(label);
  if (!isTokenShaped(text)) throw buildInvalidProblem('text', m.tokenFormat());
  const row: TokenRow = {
    id: random.text(16),
    hash: fingerprint(text),
    account,
    label: plainLabel(label),
    created_at: now,
    expires_at: expiresAt,
    last_used_at: null,
    last_used_from: null,
    scopes: scopes === undefined ? null : JSON.stringify(TokenScopes.parse(scopes)),
  };
  await changes.create([account], async (db) => {
    if (!(await hasAccount(db, account))) throw buildUnknownAccountProblem(account);
    const duplicate = await db.selectFrom('tokens').select('id').where('hash', '=', row.hash).executeTakeFirst();
    if (duplicate !== undefined) throw new Problem('accounts.token_exists', 409, m.tokenExists());
    await deleteOldest(db, 'tokens', account, maxTokens);
    await db.insertInto('tokens').values(row).execute();
  });
  security.record({ event: 'token_created', account, detail: describeToken(row) });
  return { token: toAccessToken(row), text };
}

async function changeToken(
  account: string,
  id: string,
  { label, expiresAt }: Parameters<Accounts['changeToken']>[2],
  { directory, changes, clock }: TokenDependencies,
): Promise<AccessToken> {
  if (expiresAt !== undefined) checkExpiry(expiresAt, clock.now());
  if (label !== undefined) checkLabel(label);
  refuseDeclared(directory, account, id);
  await changes.create([account], async (db) => {
    const changed = await db
      .updateTable('tokens')
      .set({
        id,
        ...(label === undefined ? {} : { label: plainLabel(label) }),
        ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
      })
      .where('account', '=', account)
      .where('id', '=', id)
      .returning('id')
      .execute();
    if (changed.length === 0) throw buildUnknownTokenProblem();
  });
  const token = directory.member(account)?.tokens.get(id);
  if (token === undefined) throw buildUnknownTokenProblem();
  return toAccessToken(token.row, token.member);
}

function describeToken({ label, scopes, expires_at }: TokenRow): string {
  const limits = scopes === null ? 'all rights' : 'limited rights';
  const end = expires_at === null ? 'never expires' : `expires ${new Date(expires_at).toISOString()}`;
  return `${label || 'no label'}, ${limits}, ${end}`;
}

function checkExpiry(expiresAt: number | null, now: number): void {
  if (expiresAt !== null && !(Number.isSafeInteger(expiresAt) && expiresAt > now)) {
    throw buildInvalidProblem('expiresAt', m.expiryInPast());
  }
}

function checkLabel(label: string): void {
  if (label.length > 128) throw buildInvalidProblem('label', m.labelTooLong());
}

function plainLabel(label: string): string {
  return label.replaceAll(/\p{Cc}/gu, ' ');
}

function buildUnknownTokenProblem(): Problem {
  return new Problem('accounts.unknown_token', 404, m.tokenNotFound());
}

function refuseDeclared(directory: Directory, account: string, id: string): void {
  const member = directory.member(account);
  if (!member?.declared.has(`token ${id}`)) return;
  throw buildDeclaredProblem('token', member.tokens.get(id)?.row.label || account);
}

function toAccessToken(
  { id, account, label, created_at, expires_at, last_used_at, last_used_from, scopes }: TokenRow,
  member?: Member,
): AccessToken {
  return {
    id,
    account,
    label,
    createdAt: created_at,
    expiresAt: expires_at,
    lastUsedAt: last_used_at,
    lastUsedFrom: last_used_from,
    ...(scopes === null ? {} : { scopes: TokenScopes.parse(JSON.parse(scopes)) }),
    ...(member?.declared.has(`token ${id}`) ? { provisioned: true } : {}),
  };
}
