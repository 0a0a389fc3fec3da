import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { validateRepositoryName } from '../domain/names.ts';
import type { Git } from '../engine/git.ts';
import { buildAuthorEnvironment } from '../repositories/first-commit.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { readSize } from '../repositories/references.ts';
import { getCommitEmail } from '../repositories/commit-email.ts';
import {
  getAccount,
  readJsonBody,
  created,
  optional,
  required,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from './call.ts';
import { getRepositoryName, toRepositoryView, visibleOwner } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl'>;

const generateBody = z.object({
  owner: required,
  name: required,
  default_branch: optional(z.string()),
  description: optional(z.string().max(2048)),
  private: optional(z.boolean()),
  git_content: optional(z.boolean()),
  topics: optional(z.boolean()),
});

/** Builds the route that creates a repository from a template, with its files in one first commit. */
export function templateRoutes(deps: Dependencies): readonly Route[] {
  return [
    signedInRoute('POST', '/repos/:owner/:repo/generate', 'repository', (call) => generateRepository(deps, call)),
  ];
}

async function generateRepository(deps: Dependencies, call: Call): Promise<Answer> {
  const { access, lookup } = deps.accessControl;
  const { git, manager, owners, repositories } = deps.storage;
  const template = await lookup.require(call.caller, getRepositoryName(call), 'read');
  if (!template.template) throw new Problem('git.invalid', 422, 'this is not a template repo');
  const input = await readJsonBody(call, generateBody);
  const nameProblem = validateRepositoryName(input.name);
  if (nameProblem !== undefined) throw new Problem('git.invalid', 422, nameProblem);
  if (input.git_content !== true && input.topics !== true)
    throw new Problem('git.invalid', 422, 'must select at least one template item');
  const owner = await visibleOwner(deps, call.caller, input.owner);
  if (owner === undefined) throw buildNotFoundProblem();
  if (!(await access.administersOwner(call.caller, owner)))
    throw new Problem('git.forbidden', 403, 'Only admin can generate repository for other user.');
  const account = getAccount(call);
  const author = { name: account, email: getCommitEmail(await owners.getForAccount(account), call.base) };
  const requested = {
    owner: owner.name,
    ownerKind: owner.kind,
    name: input.name,
    defaultBranch: template.defaultBranch,
    description: input.description ?? '',
    private: input.private ?? (template.private || template.ownerVisibility !== 'public'),
  };
  const repository = await manager.create(requested, async (folder) => {
    const topics = input.topics === true ? { topics: JSON.stringify(template.topics) } : {};
    if (input.git_content !== true || template.empty) return topics;
    await copyFiles(git, { from: manager.getFolder(template), to: folder, branch: template.defaultBranch, author });
    return { ...topics, branch_count: 1, empty: 0, size: await readSize(git, folder) };
  });
  const now = (await repositories.findById(repository.id)) ?? repository;
  return created(await toRepositoryView(deps, call, now, await access.getLevel(call.caller, now)));
}

interface FileCopy {
  /** Folders of the repositories on disk. */
  readonly from: string;
  readonly to: string;
  readonly branch: string;
  readonly author: { readonly name: string; readonly email: string };
}

/** Copies the files of a branch into a first commit of another repository. */
async function copyFiles(git: Git, { from, to, branch, author }: FileCopy): Promise<void> {
  const ref = `refs/heads/${branch}`;
  const { stdout: tree } = await git.run(from, ['rev-parse', '--verify', `${ref}^{tree}`]);
  const fetch = ['fetch', '--quiet', '--no-auto-gc', '--no-write-fetch-head', '--depth=1', '--', `file://${from}`, ref];
  await git.run(to, fetch, { longRunning: true, environment: { GIT_ALLOW_PROTOCOL: 'file' } });
  const { stdout: commit } = await git.run(to, ['commit-tree', tree.toString().trim()], {
    input: 'Initial commit\n',
    environment: buildAuthorEnvironment(author),
  });
  await git.run(to, ['update-ref', ref, commit.toString().trim()]);
}
