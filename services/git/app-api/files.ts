import * as m from '#messages/git-problems';
import { BytesReply, implement, type ApiHandler } from '../../contracts/api.ts';
import { gitApi } from '../../contracts/git/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { buildBlobReply } from '../../kit/http/blob-reply.ts';
import { GitError } from '../engine/git.ts';
import { isNewBranchName, normalizeTreePath } from '../domain/names.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { resolveRevision, resolveByKind } from '../repositories/revisions.ts';
import { requireNotArchived, requireWrite } from '../gitea-api/issues/issue-access.ts';
import { parsePointer } from '../lfs/pointer.ts';
import { writeFiles, type FileOperation } from '../gitea-api/write-files.ts';
import { getCommitEmail } from '../repositories/commit-email.ts';
import { getAccount, getRepository } from './issues.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<
  RouteDependencies,
  'context' | 'settings' | 'storage' | 'accessControl' | 'pushControl' | 'features'
>;

/** Builds the routes that load single files and change them by a commit. */
export function fileRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { context, settings } = deps;
  const { manager, objects, owners } = deps.storage;
  return [
    implement(gitApi.file, async ({ query, ...call }) => {
      const { repository } = await getRepository(deps.accessControl, call);
      const folder = manager.getFolder(repository);
      const path = normalizeTreePath(query.path);
      const revision = await resolveRevision(objects, folder, repository, query.ref);
      const result =
        path === undefined || revision === undefined
          ? undefined
          : await objects.contents(folder, `${revision.commit}:${path}`);
      if (result?.type !== 'blob') throw buildNotFoundProblem();
      const pointer = parsePointer(result.bytes);
      const lfsKey = pointer === undefined ? undefined : await deps.features.lfs.findKey(repository, pointer);
      const saveAs = path?.split('/').at(-1);
      if (lfsKey !== undefined)
        return buildBlobReply(context.blobs, lfsKey, { type: 'application/octet-stream', saveAs });
      return new BytesReply({ bytes: result.bytes, type: 'application/octet-stream', saveAs });
    }),
    implement(gitApi.change, async ({ body, ...call }) => {
      const result = await getRepository(deps.accessControl, call);
      requireWrite(result);
      const { repository } = result;
      requireNotArchived(repository);
      const { branch, id, newBranch, text } = body;
      const [path, from] = [normalizeTreePath(body.path), normalizeTreePath(body.from)];
      if (path === undefined || path === '' || from === undefined) throw invalid('path', m.filePathInvalid());
      const target = newBranch === '' ? branch : newBranch;
      if (newBranch !== '' && !isNewBranchName(newBranch)) throw invalid('newBranch', m.branchNameInvalid());
      const kind = getKind(from, text);
      // A moved file must not replace another one.
      const tip =
        from === '' || from === path
          ? undefined
          : await resolveByKind('branch', objects, manager.getFolder(repository), branch);
      const other =
        tip === undefined ? undefined : await objects.info(manager.getFolder(repository), `${tip.commit}:${path}`);
      if (other !== undefined) throw invalid('path', m.fileExists());
      const work = { kind, path, from: from === '' ? undefined : from, sha: id, bytes: Buffer.from(text ?? '') };
      const message = body.message === '' ? `${verbs[kind]} ${path}` : body.message;
      const account = getAccount(call);
      const base = settings.publicUrl === '' ? (context.address('git') ?? 'http://127.0.0.1') : settings.publicUrl;
      const author = { name: account, email: getCommitEmail(await owners.getForAccount(account), base) };
      const commit = { account, branch, target, author, committer: author, message, dates: {} };
      return { branch: target, commit: await writeFiles(deps, repository, commit, [work]).catch(toPageError) };
    }),
  ];
}

const verbs: Readonly<Record<FileOperation['kind'], string>> = {
  create: 'Add',
  upload: 'Add',
  update: 'Update',
  delete: 'Delete',
  rename: 'Rename',
};

function getKind(from: string, text: string | null): FileOperation['kind'] {
  if (text === null) return 'delete';
  return from === '' ? 'create' : 'update';
}

/** Converts errors of a write to problems at form fields. */
function toPageError(cause: unknown): never {
  // Another file has the path of one of the folders.
  if (cause instanceof GitError) throw invalid('path', m.filePathInvalid(), cause);
  if (!(cause instanceof Problem)) throw cause;
  if (cause.code === 'git.file_exists') throw invalid('path', m.fileExists(), cause);
  if (cause.code === 'git.path_taken') throw invalid('path', m.pathTaken(), cause);
  if (cause.code === 'git.submodule') throw invalid('path', m.pathIsSubmodule(), cause);
  if (cause.code === 'git.branch_taken') throw invalid('newBranch', m.branchExists(), cause);
  if (cause.code !== 'git.stale' && cause.code !== 'git.moved') throw cause;
  throw new Problem(cause.code, 409, m.fileChanged(), { cause });
}

function invalid(field: string, detail: string, cause?: unknown): Problem {
  return new Problem('git.invalid', 422, detail, { fields: { [field]: detail }, cause });
}
