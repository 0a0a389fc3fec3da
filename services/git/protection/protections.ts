import type { Kysely } from 'kysely';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { compileGlob } from '../domain/glob.ts';
import type { ProtectionRow } from '../store/repository-relations.ts';
import type { Tables } from '../store/tables.ts';
import { zeroId, type RefChange } from '../domain/ref-change.ts';

const accounts = z.array(z.string().max(100)).max(200);

/** Options of a branch protection rule, with Gitea's names. */
export const ProtectionOptions = z.object({
  enable_push: z.boolean().default(false),
  enable_push_whitelist: z.boolean().default(false),
  push_whitelist_usernames: accounts.default([]),
  push_whitelist_deploy_keys: z.boolean().default(false),
  enable_force_push: z.boolean().default(false),
  enable_force_push_allowlist: z.boolean().default(false),
  force_push_allowlist_usernames: accounts.default([]),
  force_push_allowlist_deploy_keys: z.boolean().default(false),
  enable_merge_whitelist: z.boolean().default(false),
  merge_whitelist_usernames: accounts.default([]),
  enable_status_check: z.boolean().default(false),
  status_check_contexts: z.array(z.string().max(255)).max(100).default([]),
  required_approvals: z.int().min(0).max(100).default(0),
  enable_approvals_whitelist: z.boolean().default(false),
  approvals_whitelist_username: accounts.default([]),
  block_on_rejected_reviews: z.boolean().default(false),
  block_on_official_review_requests: z.boolean().default(false),
  block_on_outdated_branch: z.boolean().default(false),
  dismiss_stale_approvals: z.boolean().default(false),
  ignore_stale_approvals: z.boolean().default(false),
  block_admin_merge_override: z.boolean().default(false),
});
export type ProtectionOptions = z.infer<typeof ProtectionOptions>;

/** Account or deploy key that changes a branch. */
export interface Pusher {
  readonly account: string;
  /** Set for a deploy key, which belongs to no account. */
  readonly byDeployKey?: boolean;
  /** Set for administrators of the repository. Only their push options may change its settings. */
  readonly isAdministrator?: boolean;
}

/** Result of the rules for a push. */
export interface PushDecision {
  /** Reasons by rejected reference. */
  readonly rejected: ReadonlyMap<string, string>;
  /** References that must not lose commits. */
  readonly addOnly: readonly string[];
}

const branchPrefix = 'refs/heads/';

/** Protected branches of repositories. */
export class Protections {
  readonly #context: Pick<Context, 'clock' | 'commit'>;
  readonly #db: Kysely<Tables>;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db'>) {
    this.#context = context;
    this.#db = context.db;
  }

  list(repository: number): Promise<ProtectionRow[]> {
    return this.#db
      .selectFrom('protections')
      .selectAll()
      .where('repository_id', '=', repository)
      .orderBy('id')
      .execute();
  }

  async find(repository: number, rule: string): Promise<ProtectionRow | undefined> {
    return (await this.list(repository)).find((row) => row.rule === rule);
  }

  /**
   * Creates a rule.
   * @throws Problem `git.invalid` (422), `git.rule_taken` (403), as Gitea
   */
  async create(repository: number, rule: string, options: ProtectionOptions): Promise<ProtectionRow> {
    if (rule === '' || compileGlob(rule, { bySegment: true }) === undefined)
      throw new Problem('git.invalid', 422, '[RuleName]: GlobPattern');
    const now = this.#context.clock.now();
    const row = await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .insertInto('protections')
        .values({ repository_id: repository, rule, options: JSON.stringify(options), created_at: now, updated_at: now })
        .onConflict((conflict) => conflict.columns(['repository_id', 'rule']).doNothing())
        .returningAll()
        .executeTakeFirst(),
    );
    if (row === undefined) throw new Problem('git.rule_taken', 403, 'Branch protection already exist');
    return row;
  }

  async change({ id }: ProtectionRow, options: ProtectionOptions): Promise<ProtectionRow> {
    return this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .updateTable('protections')
        .set({ options: JSON.stringify(options), updated_at: this.#context.clock.now() })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
  }

  async remove({ id }: ProtectionRow): Promise<void> {
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.deleteFrom('protections').where('id', '=', id).execute(),
    );
  }

  /** Returns the rule for a branch: the rule with its name, else the first rule with a matching pattern. */
  async findRule(repository: number, branch: string): Promise<ProtectionRow | undefined> {
    return matchRule(await this.list(repository), branch);
  }

  /** Applies the rules to the changes of a push. */
  async evaluate(repository: number, changes: readonly RefChange[], pusher: Pusher): Promise<PushDecision> {
    const rules = await this.list(repository);
    const rejected = new Map<string, string>();
    const addOnly: string[] = [];
    if (rules.length === 0) return { rejected, addOnly };
    for (const { ref, before, after } of changes) {
      if (!ref.startsWith(branchPrefix)) continue;
      const branch = ref.slice(branchPrefix.length);
      const rule = matchRule(rules, branch);
      if (rule === undefined) continue;
      const options = parseProtectionOptions(rule);
      if (after === zeroId) rejected.set(ref, `branch ${branch} is protected from deletion`);
      else if (!mayPush(options, pusher)) rejected.set(ref, `Not allowed to push to protected branch ${branch}`);
      else if (before !== zeroId && !mayForcePush(options, pusher)) addOnly.push(ref);
    }
    return { rejected, addOnly };
  }

  /**
   * Checks that a commit may be added to a branch.
   * @throws Problem `git.protected` (403)
   */
  async checkCommit(repository: number, branch: string, pusher: Pusher): Promise<void> {
    const rule = await this.findRule(repository, branch);
    if (rule === undefined || mayPush(parseProtectionOptions(rule), pusher)) return;
    throw new Problem('git.protected', 403, `user cannot commit to protected branch [branch: ${branch}]`);
  }

  /**
   * Checks that commits may be removed from a branch.
   * @throws Problem `git.protected` (403)
   */
  async checkRewrite(repository: number, branch: string, pusher: Pusher): Promise<void> {
    await this.checkCommit(repository, branch, pusher);
    const rule = await this.findRule(repository, branch);
    if (rule === undefined || mayForcePush(parseProtectionOptions(rule), pusher)) return;
    throw new Problem('git.protected', 403, `commits cannot be removed from protected branch [branch: ${branch}]`);
  }

  /**
   * Checks that a branch may be deleted.
   * @throws Problem `git.protected` (403)
   */
  async checkRemoval(repository: number, branch: string): Promise<void> {
    if ((await this.findRule(repository, branch)) === undefined) return;
    throw new Problem('git.protected', 403, 'branch protected');
  }
}

export function parseProtectionOptions({ options }: Pick<ProtectionRow, 'options'>): ProtectionOptions {
  return ProtectionOptions.parse(JSON.parse(options));
}

export function mayPush(options: ProtectionOptions, { account, byDeployKey = false }: Pusher): boolean {
  if (!options.enable_push) return false;
  if (!options.enable_push_whitelist) return true;
  return byDeployKey ? options.push_whitelist_deploy_keys : options.push_whitelist_usernames.includes(account);
}

function mayForcePush(options: ProtectionOptions, { account, byDeployKey = false }: Pusher): boolean {
  if (!options.enable_force_push) return false;
  if (!options.enable_force_push_allowlist) return true;
  return byDeployKey
    ? options.force_push_allowlist_deploy_keys
    : options.force_push_allowlist_usernames.includes(account);
}

function matchRule(rules: readonly ProtectionRow[], branch: string): ProtectionRow | undefined {
  return (
    rules.find(({ rule }) => rule === branch) ??
    rules.find(({ rule }) => compileGlob(rule, { bySegment: true })?.test(branch) === true)
  );
}
