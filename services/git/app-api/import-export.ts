import * as m from '#messages/git-problems';
import { FileReply, implement, type ApiHandler } from '../../contracts/api.ts';
import { gitMovingApi } from '../../contracts/git/moving-api.ts';
import { Problem } from '../../contracts/problem.ts';
import { GiteaProblem, PageProblem } from '../domain/page-problem.ts';
import { isNewBranchName, validateRepositoryName } from '../domain/names.ts';
import { migrate } from '../repositories/migrate.ts';
import { publishFolder, setRemote } from '../repositories/publish.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { getCommitEmail } from '../repositories/commit-email.ts';
import { getAccount, getRepository } from './issues.ts';
import { toSummary } from './routes.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl' | 'features'>;

/** Builds the routes that publish a folder, migrate, back up and restore repositories. */
export function importExportRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { context, settings } = deps;
  const { owners } = deps.storage;
  const { portable } = deps.features;

  const base = (): string =>
    settings.publicUrl === '' ? (context.address('git') ?? '') : settings.publicUrl.replace(/\/+$/, '');
  return [
    implement(gitMovingApi.publish, async ({ body, ...call }) => {
      requireName(body.name);
      const account = getAccount(call);
      const author = { name: account, email: getCommitEmail(await owners.getForAccount(account), base()) };
      const defaultBranch = isNewBranchName(settings.defaultBranch) ? settings.defaultBranch : 'main';
      const newRepository = { owner: account, name: body.name, private: body.private, defaultBranch };
      const { repository, files, folder } = await withNameTaken(
        publishFolder({ context, ...deps.storage }, body.folder, newRepository, author),
      );
      const address = `${base()}/${repository.owner}/${repository.name}.git`;
      return { repository: toSummary(repository), files, remote: await setRemote(deps.storage.git, folder, address) };
    }),
    implement(gitMovingApi.migrate, async ({ body, ...call }) => {
      requireName(body.name);
      const account = getAccount(call);
      const mayReachLocal = settings.migrateFromLocalNetwork || call.identity?.role === 'admin';
      const newRepository = {
        owner: account,
        name: body.name,
        private: body.private,
        defaultBranch: settings.defaultBranch,
      };
      const origin = {
        address: body.address,
        user: body.user === '' ? undefined : body.user,
        password: body.password === '' ? undefined : body.password,
      };
      const migrated = await withNameTaken(
        migrate({ context, ...deps.storage, mayReachLocal }, newRepository, origin),
      ).catch((cause: unknown) => {
        if (!(cause instanceof Problem) || cause.code !== 'git.migration') throw cause;
        const detail = cause instanceof GiteaProblem ? cause.pageDetail : cause.detail;
        throw new Problem(cause.code, 422, detail, { fields: { address: detail }, cause });
      });
      return toSummary(migrated);
    }),
    implement(gitMovingApi.save, async (call) => {
      const { repository, level } = await getRepository(deps.accessControl, call);
      if (level !== 'admin') throw new PageProblem('git.forbidden', 403, m.backupNeedsAdministrator());
      const { path, release } = await portable.save(repository);
      context.accounts.record({ event: 'data_exported', detail: `repository ${repository.owner}/${repository.name}` });
      return new FileReply({ path, sent: release, type: 'application/x-tar', saveAs: `${repository.name}.tar` });
    }),
    implement(gitMovingApi.restore, async ({ incoming, query, ...call }) => {
      if (query.name !== '') requireName(query.name);
      if (incoming === undefined) throw buildNotFoundProblem();
      return toSummary(await withNameTaken(portable.restore(incoming, { owner: getAccount(call), name: query.name })));
    }),
  ];
}

function requireName(name: string): void {
  if (validateRepositoryName(name) === undefined) return;
  throw new Problem('git.invalid', 422, m.repositoryNameInvalid(), { fields: { name: m.repositoryNameInvalid() } });
}

/** Reports a name that is taken as a problem at the field of the name. */
async function withNameTaken<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (!(cause instanceof Problem) || cause.code !== 'git.name_taken') throw cause;
    const detail = m.repositoryExists();
    throw new Problem(cause.code, 409, detail, { fields: { name: detail }, cause });
  }
}
