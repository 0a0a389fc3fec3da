import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Tables, TokenRow } from '../store/tables.ts';

const tokenPattern = /^[0-9a-f]{40}$/;
/** Minimum time between two updates of a token's last use, ms. */
const lastUsedIntervalMs = 60_000;

/** Returns true if a text has the format of an access token, which is Gitea's format. */
export function isGitToken(text: string): boolean {
  return tokenPattern.test(text);
}

/** Access tokens in Gitea's format with its scopes. They are valid only for this service. */
export class Tokens {
  readonly #context: Pick<Context, 'clock' | 'commit' | 'random'>;
  readonly #db: Kysely<Tables>;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db' | 'random'>) {
    this.#context = context;
    this.#db = context.db;
  }

  /** Lists the tokens of an account, newest first. */
  list(account: string): Promise<TokenRow[]> {
    return this.#db.selectFrom('tokens').selectAll().where('account', '=', account).orderBy('id', 'desc').execute();
  }

  /** Lists the accounts that have tokens. */
  async listAccounts(): Promise<string[]> {
    return (await this.#db.selectFrom('tokens').select('account').distinct().execute()).map(({ account }) => account);
  }

  /**
   * Creates a token. Its text cannot be read again.
   *
   * @throws Problem `git.token_name_taken` (400)
   */
  async create(
    account: string,
    name: string,
    scopes: readonly string[],
  ): Promise<{ readonly row: TokenRow; readonly text: string }> {
    const { clock, commit, random } = this.#context;
    const text = Buffer.from(random.bytes(20)).toString('hex');
    const row = await commit((transaction: Kysely<Tables>) =>
      transaction
        .insertInto('tokens')
        .values({
          account,
          name,
          hash: hashToken(text),
          last_eight: text.slice(-8),
          scopes: JSON.stringify(scopes),
          created_at: clock.now(),
          last_used_at: null,
        })
        .onConflict((conflict) => conflict.columns(['account', 'name']).doNothing())
        .returningAll()
        .executeTakeFirst(),
    );
    if (row === undefined) throw new Problem('git.token_name_taken', 400, 'access token name has been used already');
    return { row, text };
  }

  /** Removes a token by ID or name. Returns false if there is no such token. */
  async remove(account: string, idOrName: string): Promise<boolean> {
    const rows = await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .deleteFrom('tokens')
        .where('account', '=', account)
        .where((is) =>
          /^\d{1,15}$/.test(idOrName)
            ? is.or([is('id', '=', Number(idOrName)), is('name', '=', idOrName)])
            : is('name', '=', idOrName),
        )
        .returning('id')
        .execute(),
    );
    return rows.length > 0;
  }

  /** Finds a token by its text and records its use. */
  async find(text: string): Promise<TokenRow | undefined> {
    const row = await this.#db.selectFrom('tokens').selectAll().where('hash', '=', hashToken(text)).executeTakeFirst();
    const now = this.#context.clock.now();
    if (row !== undefined && now - (row.last_used_at ?? 0) > lastUsedIntervalMs) {
      await this.#context.commit((transaction: Kysely<Tables>) =>
        transaction.updateTable('tokens').set({ last_used_at: now }).where('id', '=', row.id).execute(),
      );
    }
    return row;
  }
}

function hashToken(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
