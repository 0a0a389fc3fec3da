import { implement, type ApiHandler, type ApiRequest } from '../../contracts/api.ts';
import { fileRoutes } from '../../contracts/sync/files.ts';
import type { Access, Caller } from '../access/access.ts';
import type { Engine } from '../engine/engine.ts';
import type { FileJobs } from '../files/file-jobs.ts';
import { toListingProblem, withFileProblems } from '../files/file-problem.ts';
import type { Files } from '../files/files.ts';
import type { Trash } from '../files/trash.ts';
import { browse } from './browse.ts';

/** Reads and changes files of remotes and folders. */
export interface FileManager {
  readonly files: Files;
  readonly fileJobs: FileJobs;
  readonly trash: Trash;
}

export interface FileDependencies {
  readonly access: Access;
  readonly engine: Engine;
  readonly fileManager: FileManager;
}

type FileRequest = Pick<ApiRequest<unknown, unknown>, 'identity' | 'rights'>;
const done = { ok: true } as const;

function toCaller({ identity, rights }: FileRequest): Caller {
  return { account: identity?.account ?? '', all: rights.all };
}

/** Returns the handlers of the file manager. */
export function fileHandlers(dependencies: FileDependencies): readonly ApiHandler[] {
  return [...readHandlers(dependencies), ...changeHandlers(dependencies)];
}

function readHandlers({ access, engine, fileManager: { files, trash } }: FileDependencies): readonly ApiHandler[] {
  return [
    implement(fileRoutes.browse, async ({ query: { at }, ...request }) => {
      const caller = toCaller(request);
      try {
        const entries = await browse(engine, await access.checkListing(caller, at));
        return {
          entries,
          canWrite: await files.canWrite(caller, at),
          hasTrash: await trash.isAvailable(caller, at),
        };
      } catch (error) {
        throw toListingProblem(error, at);
      }
    }),
    implement(fileRoutes.fileContent, ({ params, query, ...request }) => {
      const path = params['path'] ?? '';
      return withFileProblems(path, () => files.read(toCaller(request), path, query.save === 'yes'));
    }),
    implement(fileRoutes.storage, ({ params }) => {
      const name = params['name'] ?? '';
      return withFileProblems(`${name}:`, () => files.getStorage(name));
    }),
  ];
}

function changeHandlers({ fileManager: { files, fileJobs } }: FileDependencies): readonly ApiHandler[] {
  return [
    implement(fileRoutes.createFolder, async ({ body: { at, name }, ...request }) => {
      await withFileProblems(at, () => files.createFolder(toCaller(request), at, name));
      return done;
    }),
    implement(fileRoutes.transferFiles, ({ body, ...request }) =>
      withFileProblems(body.to, async () => ({ id: (await fileJobs.transfer(toCaller(request), body)).id })),
    ),
    implement(fileRoutes.deleteFiles, ({ body: { items, permanently }, ...request }) =>
      withFileProblems(items[0]?.path ?? '', async () => {
        const caller = toCaller(request);
        const job = permanently ? fileJobs.remove(caller, items) : fileJobs.moveToTrash(caller, items);
        return { id: (await job).id };
      }),
    ),
    implement(fileRoutes.uploadFile, async ({ query: { at, name, replace }, incoming, ...request }) => {
      if (incoming === undefined) return done;
      const target = { at, name, replace: replace === 'yes' };
      await withFileProblems(at, () => files.upload(toCaller(request), target, incoming));
      return done;
    }),
    implement(fileRoutes.publicLink, ({ body: { path } }) =>
      withFileProblems(path, async () => ({ url: await files.createPublicLink(path) })),
    ),
  ];
}
