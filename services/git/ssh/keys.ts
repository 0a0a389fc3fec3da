import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import ssh2 from 'ssh2';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { PublicKeyRow, Tables } from '../store/tables.ts';

const keyTypePattern = /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521))$/;
/** Shorter RSA keys are insecure. */
const minRsaBits = 2048;
const lastUsedIntervalMs = 60_000;

/** Account or repository that a key gives access to. */
export type KeyOwner = { readonly account: string } | { readonly repository: number; readonly readOnly: boolean };

/** Public keys of accounts, and of repositories (deploy keys). */
export class Keys {
  readonly #context: Pick<Context, 'clock' | 'commit'>;
  readonly #db: Kysely<Tables>;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db'>) {
    this.#context = context;
    this.#db = context.db;
  }

  listForAccount(account: string): Promise<PublicKeyRow[]> {
    return this.#db.selectFrom('public_keys').selectAll().where('account', '=', account).orderBy('id').execute();
  }

  listForRepository(repository: number): Promise<PublicKeyRow[]> {
    return this.#db
      .selectFrom('public_keys')
      .selectAll()
      .where('repository_id', '=', repository)
      .orderBy('id')
      .execute();
  }

  /** Lists the accounts that have keys. */
  async listAccounts(): Promise<string[]> {
    const rows = await this.#db.selectFrom('public_keys').select('account').distinct().execute();
    return rows.flatMap(({ account }) => account ?? []);
  }

  /** @throws Problem `git.bad_key`, `git.key_taken` (422) */
  async add(owner: KeyOwner, title: string, text: string): Promise<PublicKeyRow> {
    const key = parseKey(text);
    const now = this.#context.clock.now();
    return this.#context.commit(async (transaction: Kysely<Tables>) => {
      const rows = await transaction
        .selectFrom('public_keys')
        .select(['account', 'repository_id'])
        .where('fingerprint', '=', key.fingerprint)
        .execute();
      // An account key identifies one account; a deploy key may be used for several repositories.
      const isTaken =
        'account' in owner
          ? rows.length > 0
          : rows.some((row) => row.account !== null || row.repository_id === owner.repository);
      if (isTaken) {
        const detail =
          'account' in owner || rows.some((row) => row.account !== null)
            ? 'Key content has been used as non-deploy key'
            : 'A key with the same name or content already exists';
        throw new Problem('git.key_taken', 422, detail);
      }
      return transaction
        .insertInto('public_keys')
        .values({
          account: 'account' in owner ? owner.account : null,
          repository_id: 'account' in owner ? null : owner.repository,
          title,
          text: key.text,
          fingerprint: key.fingerprint,
          read_only: 'account' in owner ? 0 : Number(owner.readOnly),
          created_at: now,
          last_used_at: null,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
    });
  }

  /** Returns false if the holder has no key with this ID. */
  async remove(owner: { readonly account: string } | { readonly repository: number }, id: number): Promise<boolean> {
    const removed = await this.#context.commit((transaction: Kysely<Tables>) => {
      const statement = transaction.deleteFrom('public_keys').where('id', '=', id);
      return (
        'account' in owner
          ? statement.where('account', '=', owner.account)
          : statement.where('repository_id', '=', owner.repository)
      )
        .returning('id')
        .execute();
    });
    return removed.length > 0;
  }

  /** Finds the rows with this key. An account key has exactly one row. */
  async findByKey(blob: Buffer): Promise<readonly PublicKeyRow[]> {
    return this.#db.selectFrom('public_keys').selectAll().where('fingerprint', '=', computeFingerprint(blob)).execute();
  }

  async exists(id: number): Promise<boolean> {
    return (
      (await this.#db.selectFrom('public_keys').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
    );
  }

  async recordUse({ id, last_used_at }: PublicKeyRow): Promise<void> {
    const now = this.#context.clock.now();
    if (now - (last_used_at ?? 0) < lastUsedIntervalMs) return;
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.updateTable('public_keys').set({ last_used_at: now }).where('id', '=', id).execute(),
    );
  }
}

/** Formats the fingerprint as `ssh-keygen -l` does. */
function computeFingerprint(blob: Buffer): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}

function parseKey(text: string): { readonly text: string; readonly fingerprint: string } {
  const [line = '', ...more] = text.trim().split(/\r?\n/);
  const [type = '', blob = ''] = line.split(/\s+/);
  if (more.length > 0 || line.length > 16_384 || !keyTypePattern.test(type)) throw buildInvalidKeyProblem();
  const publicKey = ssh2.utils.parseKey(`${type} ${blob}`);
  if (publicKey instanceof Error || publicKey.isPrivateKey()) throw buildInvalidKeyProblem();
  const bytes = publicKey.getPublicSSH();
  if (type === 'ssh-rsa' && modulusBits(bytes) < minRsaBits) {
    throw new Problem('git.bad_key', 422, `Invalid key content: an RSA key must have ${minRsaBits} bits at least`);
  }
  return { text: line, fingerprint: computeFingerprint(bytes) };
}

/** Reads the size of the modulus, which is the third field of an RSA key. */
function modulusBits(blob: Buffer): number {
  let offset = 0;
  let length = 0;
  for (let part = 0; part < 3; part += 1) {
    length = blob.readUInt32BE(offset);
    offset += 4 + length;
  }
  return (length - 1) * 8;
}

function buildInvalidKeyProblem(): Problem {
  return new Problem(
    'git.bad_key',
    422,
    'Invalid key content: extractTypeFromBase64Key: invalid key format: %!w(<nil>)',
  );
}
