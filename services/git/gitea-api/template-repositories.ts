import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { validateRepositoryName } from '../domain/names.ts';
import { buildAuthorEnvironment } from '../repositories/first-commit.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { readSize } from '../repositories/references.ts';
import { getCommitEmail } from '../wire/users.ts';
import { getAccount, readJsonBody, created, optional, required, type Route } from './call.ts';
import { getRepositoryName, toRepositoryView, visibleOwner, type ApiDependencies } from './api-dependencies.ts';

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
export function templateRoutes(deps: ApiDependencies): readonly Route[] {
  const { access, git, manager, lookup, owners, repositories } = deps;
  return [
    {
      method: 'POST',
      path: '/repos/:owner/:repo/generate',
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
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
        const from = manager.getFolder(template);
        const { defaultBranch } = template;
        const description = input.description ?? '';
        const requested = {
          owner: owner.name,
          ownerKind: owner.kind,
          name: input.name,
          defaultBranch,
          description,
          private: input.private ?? (template.private || template.ownerVisibility !== 'public'),
        };
        const repository = await manager.create(requested, async (folder) => {
          const topics = input.topics === true ? { topics: JSON.stringify(template.topics) } : {};
          if (input.git_content !== true || template.empty) return topics;
          const ref = `refs/heads/${defaultBranch}`;
          const { stdout: tree } = await git.run(from, ['rev-parse', '--verify', `${ref}^{tree}`]);
          const fetch = [
            'fetch',
            '--quiet',
            '--no-auto-gc',
            '--no-write-fetch-head',
            '--depth=1',
            '--',
            `file://${from}`,
            ref,
          ];
          await git.run(folder, fetch, { longRunning: true, environment: { GIT_ALLOW_PROTOCOL: 'file' } });
          const args = ['commit-tree', tree.toString().trim()];
          const { stdout } = await git.run(folder, args, {
            input: 'Initial commit\n',
            environment: buildAuthorEnvironment(author),
          });
          await git.run(folder, ['update-ref', ref, stdout.toString().trim()]);
          return { ...topics, branch_count: 1, empty: 0, size: await readSize(git, folder) };
        });
        const now = (await repositories.findById(repository.id)) ?? repository;
        return created(await toRepositoryView(deps, call, now, await access.getLevel(call.caller, now)));
      },
    },
  ];
}
