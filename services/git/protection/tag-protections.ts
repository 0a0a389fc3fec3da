import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { compileGlob } from '../domain/glob.ts';
import type { Tables } from '../store/tables.ts';
import type { TagProtectionRow } from '../store/tag-protections.ts';
import type { RefChange } from '../domain/ref-change.ts';
import type { Pusher } from './protections.ts';

const tagPrefix = 'refs/tags/';

/** Protected tags of repositories. Only the listed accounts may create, move and delete matching tags. */
export class TagProtections {
  readonly #context: Pick<Context, 'clock' | 'commit'>;
  readonly #db: Kysely<Tables>;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db'>) {
    this.#context = context;
    this.#db = context.db;
  }

  list(repository: number): Promise<TagProtectionRow[]> {
    return this.#db
      .selectFrom('tag_protections')
      .selectAll()
      .where('repository_id', '=', repository)
      .orderBy('id')
      .execute();
  }

  /**
   * Creates a protection.
   * @throws Problem `git.invalid` (422) for an invalid pattern
   */
  create(repository: number, pattern: string, accounts: readonly string[]): Promise<TagProtectionRow> {
    checkPattern(pattern);
    const now = this.#context.clock.now();
    const row = {
      repository_id: repository,
      pattern,
      accounts: JSON.stringify(accounts),
      created_at: now,
      updated_at: now,
    };
    return this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.insertInto('tag_protections').values(row).returningAll().executeTakeFirstOrThrow(),
    );
  }

  /**
   * Changes a protection.
   * @throws Problem `git.invalid` (422) for an invalid pattern
   */
  change({ id }: TagProtectionRow, pattern: string, accounts: readonly string[]): Promise<TagProtectionRow> {
    checkPattern(pattern);
    const set = { pattern, accounts: JSON.stringify(accounts), updated_at: this.#context.clock.now() };
    return this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.updateTable('tag_protections').set(set).where('id', '=', id).returningAll().executeTakeFirstOrThrow(),
    );
  }

  async remove({ id }: TagProtectionRow): Promise<void> {
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.deleteFrom('tag_protections').where('id', '=', id).execute(),
    );
  }

  /** Returns the references of a push that are rejected, with the reasons. */
  async findRejected(
    repository: number,
    changes: readonly RefChange[],
    pusher: Pusher,
  ): Promise<ReadonlyMap<string, string>> {
    const tagChanges = changes.filter(({ ref }) => ref.startsWith(tagPrefix));
    const rules = tagChanges.length === 0 ? [] : await this.list(repository);
    return new Map(
      tagChanges
        .map(({ ref }) => [ref, ref.slice(tagPrefix.length)] as const)
        .filter(([, tag]) => !isAllowed(rules, tag, pusher))
        .map(([ref, tag]) => [ref, `Tag ${tag} is protected`]),
    );
  }

  /**
   * Checks that an account may change a reference.
   * @throws Problem `git.protected` (405)
   */
  async check(repository: number, ref: string, account: string): Promise<void> {
    if (!ref.startsWith(tagPrefix) || isAllowed(await this.list(repository), ref.slice(tagPrefix.length), { account }))
      return;
    throw new Problem(
      'git.protected',
      405,
      `user not allowed to change protected tag [tag: ${ref.slice(tagPrefix.length)}]`,
    );
  }
}

/** Returns true if no rule matches the tag or a matching rule lists the account. */
function isAllowed(rules: readonly TagProtectionRow[], tag: string, { account, byDeployKey = false }: Pusher): boolean {
  const matching = rules.filter(({ pattern }) => compileGlob(pattern, { bySegment: false })?.test(tag) === true);
  if (matching.length === 0) return true;
  return !byDeployKey && matching.some(({ accounts }) => (JSON.parse(accounts) as string[]).includes(account));
}

/**
 * Rejects regular expressions, which Gitea accepts between slashes: an account could write one that runs for a very
 * long time.
 */
function checkPattern(pattern: string): void {
  const isRegularExpression = pattern.length > 1 && pattern.startsWith('/') && pattern.endsWith('/');
  if (pattern === '' || isRegularExpression || compileGlob(pattern, { bySegment: false }) === undefined)
    throw new Problem('git.invalid', 422, '[NamePattern]: GlobPattern');
}
