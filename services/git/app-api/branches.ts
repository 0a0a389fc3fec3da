import * as m from '#messages/git-problems';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { gitBranchesApi, type GitBranch } from '../../contracts/git/branches-api.ts';
import { Problem } from '../../contracts/problem.ts';
import { PageProblem } from '../domain/page-problem.ts';
import { isNewBranchName } from '../domain/names.ts';
import { readBranches, type Branch } from '../repositories/branches.ts';
import { BranchDivergence } from '../repositories/branch-divergence.ts';
import type { Repository } from '../repositories/repositories.ts';
import { resolveRevision } from '../repositories/revisions.ts';
import { changeReference } from '../gitea-api/change-reference.ts';
import { mayWrite, requireNotArchived, requireWrite } from '../gitea-api/issues/issue-access.ts';
import { zeroId } from '../domain/ref-change.ts';
import { getAccount, getRepository } from './issues.ts';
import type { RouteDependencies } from '../components.ts';
import type { RepositoryStorage } from '../repositories/storage.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl' | 'pushControl'>;

const perPage = 30;
const heads = 'refs/heads/';
const ok = { ok: true } as const;

/** Builds the routes of branches for the pages. */
export function branchRoutes(deps: Dependencies): readonly ApiHandler[] {
  return [...listRoute(deps), ...changeRoutes(deps)];
}

function listRoute(deps: Dependencies): readonly ApiHandler[] {
  const { context } = deps;
  const { git, manager } = deps.storage;
  const { protections } = deps.pushControl;
  const distances = new BranchDivergence(git, context.clock);
  return [
    implement(gitBranchesApi.list, async ({ query, ...call }) => {
      const { repository, level } = await getRepository(deps.accessControl, call);
      const folder = manager.getFolder(repository);
      const all = await readBranches(git, folder);
      const main = all.find(({ name }) => name === repository.defaultBranch);
      const searchText = query.q.trim().toLowerCase();
      const result = all
        .filter(({ name }) => name.toLowerCase().includes(searchText))
        .toSorted((one, other) => Number(other === main) - Number(one === main));
      const page = result.slice(query.offset, query.offset + perPage);
      const pulls = await openPulls(deps.storage, repository);
      const view = async ({ name, commit, title, author, time }: Branch): Promise<GitBranch> => ({
        name,
        commit: { id: commit, title, author, time },
        isDefault: name === main?.name,
        rule: (await protections.findRule(repository.id, name))?.rule ?? null,
        ...((await distances.get(folder, main?.commit ?? commit, commit)) ?? { ahead: null, behind: null }),
        pulls: [...(pulls.get(name) ?? [])],
      });
      return {
        branches: await Promise.all(page.map(view)),
        total: result.length,
        more: result.length > query.offset + perPage,
        mayWrite: mayWrite(level) && !repository.archived,
        mayAdminister: level === 'admin',
      };
    }),
  ];
}

function changeRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { manager, objects } = deps.storage;
  const { protections } = deps.pushControl;
  return [
    implement(gitBranchesApi.create, async ({ body: { name, from }, ...call }) => {
      const target = await getRepository(deps.accessControl, call);
      requireWrite(target);
      const { repository } = target;
      requireNotArchived(repository);
      if (!isNewBranchName(name)) throw invalid('name', m.branchNameInvalid());
      const account = getAccount(call);
      await protections
        .checkCommit(repository.id, name, { account })
        .catch(toFieldProblem('name', m.branchCreationProtected()));
      const folder = manager.getFolder(repository);
      const start = await resolveRevision(objects, folder, repository, from);
      if (start === undefined) throw invalid('from', m.startNotFound());
      if ((await objects.findCommit(folder, heads + name)) !== undefined) throw invalid('name', m.branchExists());
      const change = { ref: heads + name, before: zeroId, after: start.commit };
      await changeReference(deps, repository, account, change).catch(toFieldProblem('name', m.nameCollides()));
      return ok;
    }),
    implement(gitBranchesApi.remove, async ({ query: { name, commit }, ...call }) => {
      const target = await getRepository(deps.accessControl, call);
      requireWrite(target);
      const { repository } = target;
      requireNotArchived(repository);
      if (name === repository.defaultBranch) throw new PageProblem('git.forbidden', 403, m.defaultBranchNotRemovable());
      await protections.checkRemoval(repository.id, name).catch((cause: unknown) => {
        throw cause instanceof Problem ? new PageProblem('git.protected', 403, m.branchProtected(), { cause }) : cause;
      });
      const current = await objects.findCommit(manager.getFolder(repository), heads + name);
      if (current === undefined) throw new PageProblem('git.unknown', 404, m.branchGone());
      if (current !== commit) throw branchMoved();
      await changeReference(deps, repository, getAccount(call), {
        ref: heads + name,
        before: commit,
        after: zeroId,
      }).catch((cause: unknown) => {
        throw cause instanceof Problem && cause.code === 'git.moved' ? branchMoved(cause) : cause;
      });
      return ok;
    }),
  ];
}

/** Returns the numbers of open pull requests by head and base branch. */
async function openPulls(
  { db }: Pick<RepositoryStorage, 'db'>,
  { id }: Repository,
): Promise<ReadonlyMap<string, ReadonlySet<number>>> {
  const rows = await db
    .selectFrom('pulls')
    .innerJoin('issues', 'issues.id', 'pulls.issue_id')
    .select(['issues.number', 'pulls.base_branch', 'pulls.head_branch', 'pulls.head_repository_id'])
    .where('issues.repository_id', '=', id)
    .where('issues.closed', '=', 0)
    .orderBy('issues.number')
    .execute();
  const result = new Map<string, Set<number>>();
  for (const { number, base_branch, head_branch, head_repository_id } of rows) {
    for (const branch of head_repository_id === id ? [head_branch, base_branch] : [base_branch]) {
      const numbers = result.get(branch) ?? new Set();
      result.set(branch, numbers.add(number));
    }
  }
  return result;
}

function branchMoved(cause?: unknown): Problem {
  return new Problem('git.moved', 409, m.branchMoved(), { cause });
}

/** Converts refusals of the Gitea API to a problem at a form field. */
function toFieldProblem(field: string, detail: string): (cause: unknown) => never {
  return (cause) => {
    if (!(cause instanceof Problem)) throw cause;
    if (cause.code === 'git.name_collides') throw invalid(field, cause.detail, cause);
    if (cause.code === 'git.protected' || cause.code === 'git.moved') throw invalid(field, detail, cause);
    throw cause;
  };
}

function invalid(field: string, detail: string, cause?: unknown): Problem {
  return new Problem('git.invalid', 422, detail, { fields: { [field]: detail }, cause });
}
