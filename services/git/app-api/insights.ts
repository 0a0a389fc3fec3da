import * as m from '#messages/git-problems';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { gitInsightsApi, type GitLanguage } from '../../contracts/git/insights-api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { RouteDependencies } from '../components.ts';
import { ignoreTooLarge } from '../repositories/commits.ts';
import { readHeatmap } from '../repositories/heatmap.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { resolveRevision } from '../repositories/revisions.ts';
import { anonymousCaller, type Caller } from '../sign-in/caller.ts';
import { getAccount, getRepository, type AppCall } from './issues.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl' | 'features'>;

const maxFiles = 50_000;
const yearMs = 366 * 24 * 3600 * 1000;

/** Builds the routes of the languages, the file list and the activity of repositories. */
export function insightRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { git } = deps.storage;
  return [
    implement(gitInsightsApi.languages, async ({ query, ...call }) => {
      const { folder, commit } = await getCommit(deps, call, query.ref);
      // A repository whose list of files is too long has no languages.
      const sizes = (await deps.features.languageSizes.read(folder, commit).catch(ignoreTooLarge)) ?? {};
      return { languages: Object.entries(sizes).map(([name, bytes]) => ({ name, bytes })) };
    }),
    implement(gitInsightsApi.listLanguages, async ({ identity, query }) => {
      const caller = { ...anonymousCaller, identity };
      const repositories: { readonly id: number; readonly languages: GitLanguage[] }[] = [];
      for (const id of new Set(query.ids.split(',').map(Number))) {
        const languages = await readDefaultLanguages(deps, caller, id);
        if (languages !== undefined) repositories.push({ id, languages });
      }
      return { repositories };
    }),
    implement(gitInsightsApi.files, async ({ query, ...call }) => {
      const { folder, commit } = await getCommit(deps, call, query.ref);
      const list = await git.run(folder, ['ls-tree', '-r', '-z', '--name-only', commit]).catch(ignoreTooLarge);
      if (list === undefined) throw new Problem('git.too_much', 413, m.repositoryTooLargeToSearch());
      const paths = list.stdout.toString().split('\0').filter(Boolean);
      return { paths: paths.slice(0, maxFiles), commit, more: paths.length > maxFiles };
    }),
    implement(gitInsightsApi.activity, async ({ identity }) => {
      getAccount({ identity });
      const visibility = await deps.accessControl.access.getVisibility({ ...anonymousCaller, identity });
      const parts = await readHeatmap(deps.storage, { visibility, since: deps.context.clock.now() - yearMs });
      return { parts: parts.map(({ timestamp, contributions }) => ({ time: timestamp * 1000, count: contributions })) };
    }),
  ];
}

/** Returns undefined for a repository that is empty, damaged, too large or not visible to the caller. */
async function readDefaultLanguages(
  { accessControl: { access }, features, storage: { manager, objects, repositories } }: Dependencies,
  caller: Caller,
  id: number,
): Promise<GitLanguage[] | undefined> {
  const repository = await repositories.findById(id);
  if (repository === undefined || repository.empty || !(await access.hasLevel(caller, repository, 'read')))
    return undefined;
  const folder = manager.getFolder(repository);
  try {
    const revision = await resolveRevision(objects, folder, repository, '');
    const sizes = revision === undefined ? {} : await features.languageSizes.read(folder, revision.commit);
    return Object.entries(sizes).map(([name, bytes]) => ({ name, bytes }));
  } catch {
    // The page of the repository shows the error.
    return undefined;
  }
}

/** Returns the commit of a revision and the folder of its repository. @throws Problem (404) */
async function getCommit(deps: Dependencies, call: AppCall, ref: string) {
  const { manager, objects } = deps.storage;
  const { repository } = await getRepository(deps.accessControl, call);
  const folder = manager.getFolder(repository);
  const revision = await resolveRevision(objects, folder, repository, ref);
  if (revision === undefined) throw buildNotFoundProblem();
  return { folder, commit: revision.commit };
}
