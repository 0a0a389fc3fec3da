import * as m from '#messages/account-problems';
import { z } from 'zod';
import {
  AccountKind,
  AccountLanguage,
  AccountName,
  everyone,
  Grant,
  Role,
  TokenScopes,
} from '../../../services/contracts/control/accounts.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Vault } from '../../../services/contracts/service.ts';
import type { Changes } from './changes.ts';
import type { Directory, Member } from './directory.ts';
import { findAccountName, refuseTakenName } from './names.ts';
import { isPasswordHash } from './passwords.ts';
import type { AccountReleases } from './releases.ts';
import {
  deleteAccount,
  deleteCreatedLinks,
  deleteResetLinks,
  endCredentials,
  hasAccount,
  insertAccount,
  load,
  slices,
  type Db,
  type StoredAccount,
} from './store.ts';
import type { TokenRow } from './tables.ts';

const purpose = 'accounts.export';

const Secrets = z.object({
  passwordHash: z.string().refine(isPasswordHash, { error: m.hashUnknown }).nullable(),
  tokens: z
    .array(
      z.object({
        id: z.string().regex(/^[A-Za-z0-9]{1,32}$/),
        hash: z.string().regex(/^[0-9a-f]{64}$/),
        label: z.string().max(128),
        createdAt: z.int(),
        expiresAt: z.int().nullable(),
        scopes: TokenScopes.optional(),
      }),
    )
    .max(60),
});
type Secrets = z.infer<typeof Secrets>;

/** Accounts as `homeport config export` writes them. Secrets are hashes only, in plain text or sealed by the vault. */
const ExportedAccounts = z.array(
  z.object({
    name: z.union([AccountName, z.literal(everyone)]),
    kind: AccountKind,
    role: Role,
    enabled: z.boolean(),
    description: z.string().max(1000),
    grants: z.array(Grant).max(1000),
    createdAt: z.int(),
    language: AccountLanguage.optional(),
    secrets: z.union([Secrets, z.string()]).optional(),
  }),
);
type ExportedAccount = z.infer<typeof ExportedAccounts>[number];

export interface PortableDependencies {
  readonly directory: Directory;
  readonly changes: Changes;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly releases: AccountReleases;
}

export interface Portable {
  /**
   * Exports all accounts with grants, password hashes and token hashes. Hashes are sealed by the vault unless
   * `secrets`.
   */
  exportAccounts(options: { readonly secrets: boolean }): Promise<unknown>;
  /**
   * Replaces all accounts in one transaction. Accounts with an unchanged password keep their sessions; entries
   * without `secrets` keep the existing ones.
   * @throws Problem `accounts.invalid` (400, with `fields`), `accounts.sealed_elsewhere` (400), `accounts.last_admin`
   * (409).
   */
  importAccounts(data: unknown): Promise<void>;
}

export function portableAccounts({ directory, changes, clock, vault, releases }: PortableDependencies): Portable {
  return {
    async exportAccounts({ secrets }) {
      return directory.members().map((member): ExportedAccount => {
        const { name, kind, role, enabled, description, grants, createdAt, language } = member.account;
        const plain = getSecrets(member);
        const keptSessions = secrets ? plain : vault.seal(JSON.stringify(plain), purpose);
        return {
          name,
          kind,
          role,
          enabled,
          description,
          grants,
          createdAt,
          ...(language === undefined ? {} : { language }),
          ...(name === everyone ? {} : { secrets: keptSessions }),
        };
      });
    },

    async importAccounts(data) {
      const imported = read(data).map((account) => ({ account, secrets: openSecrets(account, vault) }));
      refuseDuplicates(
        // Names that differ only in case would share data that services store by name.
        imported.map(({ account }) => account.name.toLowerCase()),
        m.accountsWithSameName,
      );
      const tokens = imported.flatMap(({ secrets }) => secrets?.tokens ?? []);
      refuseDuplicates(
        tokens.map(({ id }) => id),
        m.accountsWithSameToken,
      );
      refuseDuplicates(
        tokens.map(({ hash }) => hash),
        m.accountsWithSameToken,
      );
      await changes.create([], async (db, alsoChanged) => {
        const before = new Map((await load(db)).map((keptSessions) => [keptSessions.account.name, keptSessions]));
        for (const name of before.keys()) {
          alsoChanged(name);
          if (name === everyone || imported.some(({ account }) => account.name === name)) continue;
          await deleteAccount(db, name);
          await releases.request(db, name, { action: 'keep' });
        }
        for (const { account, secrets } of imported) {
          alsoChanged(account.name);
          const isNew = account.name !== everyone && (await findAccountName(db, account.name)) !== account.name;
          if (isNew) await refuseTakenName(db, account.name);
          await insertExported(db, account, secrets, before.get(account.name), clock.now());
        }
      });
      await releases.carryOut();
    },
  };
}

async function insertExported(
  db: Db,
  account: ExportedAccount,
  secrets: Secrets | undefined,
  before: StoredAccount | undefined,
  now: number,
): Promise<void> {
  const { name, kind, role, description, enabled, grants, createdAt, language = null } = account;
  const passwordHash = secrets === undefined ? (before?.passwordHash ?? null) : secrets.passwordHash;
  if (!enabled || passwordHash !== (before?.passwordHash ?? null)) {
    await endCredentials(db, name, 'sessions');
    await deleteResetLinks(db, name);
  }
  if (!enabled || role !== 'admin') await deleteCreatedLinks(db, name);
  if (await hasAccount(db, name)) {
    await db.deleteFrom('accounts').where('name', '=', name).execute();
  }
  const row = {
    name,
    kind,
    role,
    description,
    enabled: enabled ? 1 : 0,
    password_hash: passwordHash,
    created_at: createdAt,
    language,
  };
  await insertAccount(
    db,
    name === everyone ? { ...row, kind: 'service', role: 'user', enabled: 1, password_hash: null } : row,
    grants,
  );
  if (secrets === undefined || name === everyone) return;
  await db.deleteFrom('tokens').where('account', '=', name).execute();
  const rows = secrets.tokens
    .filter((token) => enabled && (token.expiresAt === null || token.expiresAt > now))
    .map(({ id, hash, label, createdAt: created_at, expiresAt, scopes }): TokenRow => {
      const used = before?.tokens.find((token) => token.id === id);
      const last = { last_used_at: used?.last_used_at ?? null, last_used_from: used?.last_used_from ?? null };
      const limits = { scopes: scopes === undefined ? null : JSON.stringify(scopes) };
      return { id, hash, account: name, label, created_at, expires_at: expiresAt, ...last, ...limits };
    });
  for (const chunk of slices(rows, 30)) await db.insertInto('tokens').values(chunk).execute();
}

function getSecrets({ passwordHash, tokens }: Member): Secrets {
  return {
    passwordHash,
    tokens: [...tokens.values()].map(({ row }) => ({
      id: row.id,
      hash: row.hash,
      label: row.label,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      ...(row.scopes === null ? {} : { scopes: TokenScopes.parse(JSON.parse(row.scopes)) }),
    })),
  };
}

function openSecrets({ name, secrets }: ExportedAccount, vault: Vault): Secrets | undefined {
  if (typeof secrets !== 'string') return secrets;
  let text: string;
  try {
    text = vault.open(secrets, purpose);
  } catch (cause) {
    const detail = m.passwordsSealed({ name });
    throw new Problem('accounts.sealed_elsewhere', 400, detail, { cause });
  }
  return Secrets.parse(JSON.parse(text));
}

function read(data: unknown): readonly ExportedAccount[] {
  const parsed = ExportedAccounts.safeParse(data);
  if (!parsed.success) throw toProblem(parsed.error);
  return parsed.data;
}

/** Reports duplicates by name, before they violate a constraint of the tables. */
function refuseDuplicates(all: readonly string[], detail: () => string): void {
  if (new Set(all).size === all.length) return;
  throw new Problem('accounts.invalid', 400, detail());
}

function toProblem(error: z.ZodError): Problem {
  const fields = Object.fromEntries(error.issues.map((issue) => [issue.path.join('.'), issue.message]));
  return new Problem('accounts.invalid', 400, m.accountsNotImported(), { fields });
}
