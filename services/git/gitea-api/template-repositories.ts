import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { repositoryNameProblem } from '../domain/names.ts';
import { authorship } from '../repositories/first-commit.ts';
import { unknown } from '../repositories/lookup.ts';
import { sizeOf } from '../repositories/references.ts';
import { emailOf } from '../wire/users.ts';
import { accountOf, bodyOf, created, optional, required, type Route } from './call.ts';
import { named, shown, visibleOwner, type RestParts } from './api-dependencies.ts';

const generateBody = z.object({
  owner: required,
  name: required,
  default_branch: optional(z.string()),
  description: optional(z.string().max(2048)),
  private: optional(z.boolean()),
  git_content: optional(z.boolean()),
  topics: optional(z.boolean()),
});

/** New repositories from a template: its files in one first commit. */
export function templateRoutes(parts: RestParts): readonly Route[] {
  const { access, git, keeper, lookup, owners, repositories } = parts;
  return [
    {
      method: 'POST',
      path: '/repos/:owner/:repo/generate',
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const template = await lookup.need(call.visitor, named(call), 'read');
        if (!template.template) throw new Problem('git.invalid', 422, 'this is not a template repo');
        const asked = await bodyOf(call, generateBody);
        const wrong = repositoryNameProblem(asked.name);
        if (wrong !== undefined) throw new Problem('git.invalid', 422, wrong);
        if (asked.git_content !== true && asked.topics !== true)
          throw new Problem('git.invalid', 422, 'must select at least one template item');
        const owner = await visibleOwner(parts, call.visitor, asked.owner);
        if (owner === undefined) throw unknown();
        if (!(await access.administersOwner(call.visitor, owner)))
          throw new Problem('git.forbidden', 403, 'Only admin can generate repository for other user.');
        const account = accountOf(call);
        const author = { name: account, email: emailOf(await owners.ofAccount(account), call.base) };
        const from = keeper.folder(template);
        const { defaultBranch } = template;
        const description = asked.description ?? '';
        const wanted = {
          ...{ owner: owner.name, ownerKind: owner.kind, name: asked.name, defaultBranch, description },
          private: asked.private ?? (template.private || template.ownerVisibility !== 'public'),
        };
        const made = await keeper.create(wanted, async (folder) => {
          const topics = asked.topics === true ? { topics: JSON.stringify(template.topics) } : {};
          if (asked.git_content !== true || template.empty) return topics;
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
          await git.run(folder, fetch, { long: true, environment: { GIT_ALLOW_PROTOCOL: 'file' } });
          const args = ['commit-tree', tree.toString().trim()];
          const { stdout } = await git.run(folder, args, {
            input: 'Initial commit\n',
            environment: authorship(author),
          });
          await git.run(folder, ['update-ref', ref, stdout.toString().trim()]);
          return { ...topics, branch_count: 1, empty: 0, size: await sizeOf(git, folder) };
        });
        const now = (await repositories.byId(made.id)) ?? made;
        return created(await shown(parts, call, now, await access.level(call.visitor, now)));
      },
    },
  ];
}
