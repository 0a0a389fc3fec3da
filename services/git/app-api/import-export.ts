import { FileReply, implement, type ApiHandler } from '../../contracts/api.ts';
import { gitMovingApi } from '../../contracts/git/moving-api.ts';
import { Problem } from '../../contracts/problem.ts';
import { PageProblem } from '../domain/page-problem.ts';
import { isNewBranchName, repositoryNameProblem } from '../domain/names.ts';
import type { Portable } from '../portable/portable.ts';
import { migrate } from '../repositories/migrate.ts';
import { publishFolder, setRemote } from '../repositories/publish.ts';
import { unknown } from '../repositories/lookup.ts';
import type { PullRestParts } from '../gitea-api/pulls/pull-views.ts';
import { emailOf } from '../wire/users.ts';
import { ownAccount, ownRepository } from './issues.ts';
import { summary } from './routes.ts';

/** How repositories come from elsewhere and go there. */
export function movingRoutes(parts: PullRestParts & { readonly portable: Portable }): readonly ApiHandler[] {
  const { context, owners, portable, settings } = parts;

  const base = (): string =>
    settings.publicUrl === '' ? (context.address('git') ?? '') : settings.publicUrl.replace(/\/+$/, '');
  return [
    implement(gitMovingApi.publish, async ({ body, ...asked }) => {
      needName(body.name);
      const account = ownAccount(asked);
      const author = { name: account, email: emailOf(await owners.ofAccount(account), base()) };
      const defaultBranch = isNewBranchName(settings.defaultBranch) ? settings.defaultBranch : 'main';
      const wanted = { owner: account, name: body.name, private: body.private, defaultBranch };
      const { repository, files, folder } = await taken(publishFolder(parts, body.folder, wanted, author));
      const address = `${base()}/${repository.owner}/${repository.name}.git`;
      return { repository: summary(repository), files, remote: await setRemote(parts.git, folder, address) };
    }),
    implement(gitMovingApi.migrate, async ({ body, ...asked }) => {
      needName(body.name);
      const account = ownAccount(asked);
      const mayReachLocal = settings.migrateFromLocalNetwork || asked.identity?.role === 'admin';
      const wanted = { owner: account, name: body.name, private: body.private, defaultBranch: settings.defaultBranch };
      const origin = {
        address: body.address,
        user: body.user === '' ? undefined : body.user,
        password: body.password === '' ? undefined : body.password,
      };
      const made = await taken(migrate({ ...parts, mayReachLocal }, wanted, origin)).catch((cause: unknown) => {
        if (!(cause instanceof Problem) || cause.code !== 'git.migration') throw cause;
        throw new Problem(cause.code, 422, cause.detail, { fields: { address: cause.detail }, cause });
      });
      return summary(made);
    }),
    implement(gitMovingApi.save, async (asked) => {
      const { repository, level } = await ownRepository(parts, asked);
      if (level !== 'admin') throw new PageProblem('git.forbidden', 403, 'Only who administers it may back it up.');
      const { path, release } = await portable.save(repository);
      context.accounts.record({ event: 'data_exported', detail: `repository ${repository.owner}/${repository.name}` });
      return new FileReply({ path, sent: release, type: 'application/x-tar', saveAs: `${repository.name}.tar` });
    }),
    implement(gitMovingApi.restore, async ({ incoming, query, ...asked }) => {
      if (query.name !== '') needName(query.name);
      if (incoming === undefined) throw unknown();
      return summary(await taken(portable.restore(incoming, { owner: ownAccount(asked), name: query.name })));
    }),
  ];
}

function needName(name: string): void {
  if (repositoryNameProblem(name) === undefined) return;
  throw new Problem('git.invalid', 422, 'Use letters, digits, dots, - and _ for the name.', {
    fields: { name: 'Use letters, digits, dots, - and _.' },
  });
}

/** Says at the field for the name that it is taken. */
async function taken<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (!(cause instanceof Problem) || cause.code !== 'git.name_taken') throw cause;
    const detail = 'You have a repository of this name already.';
    throw new Problem(cause.code, 409, detail, { fields: { name: detail }, cause });
  }
}
