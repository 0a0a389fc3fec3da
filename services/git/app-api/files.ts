import { BytesReply, FileReply, implement, type ApiHandler } from '../../contracts/api.ts';
import { gitApi } from '../../contracts/git/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { GitFailed } from '../engine/git.ts';
import { isNewBranchName, treePath } from '../domain/names.ts';
import { unknown } from '../repositories/lookup.ts';
import { resolve, resolveAs } from '../repositories/revisions.ts';
import { needOpen, needWrite } from '../gitea-api/issues/issue-access.ts';
import { readPointer } from '../lfs/pointer.ts';
import type { ContentParts } from '../gitea-api/contents.ts';
import type { PullRestParts } from '../gitea-api/pulls/pull-views.ts';
import { writeFiles, type FileWork } from '../gitea-api/write-files.ts';
import { emailOf } from '../wire/users.ts';
import { ownAccount, ownRepository } from './issues.ts';

/** Single files for the pages: loaded as they are, and changed by a commit each. */
export function ownFileRoutes(parts: PullRestParts & Pick<ContentParts, 'lfs'>): readonly ApiHandler[] {
  const { context, keeper, objects, owners, settings } = parts;
  return [
    implement(gitApi.file, async ({ query, ...call }) => {
      const { repository } = await ownRepository(parts, call);
      const folder = keeper.folder(repository);
      const path = treePath(query.path);
      const revision = await resolve(objects, folder, repository, query.ref);
      const found =
        path === undefined || revision === undefined
          ? undefined
          : await objects.contents(folder, `${revision.commit}:${path}`);
      if (found?.type !== 'blob') throw unknown();
      const pointer = readPointer(found.bytes);
      const large = pointer === undefined ? undefined : await parts.lfs.fileOf(repository, pointer);
      const saveAs = path?.split('/').at(-1);
      if (large !== undefined) return new FileReply({ path: large, type: 'application/octet-stream', saveAs });
      return new BytesReply({ bytes: found.bytes, type: 'application/octet-stream', saveAs });
    }),
    implement(gitApi.change, async ({ body, ...call }) => {
      const place = await ownRepository(parts, call);
      needWrite(place);
      const { repository } = place;
      needOpen(repository);
      const { branch, id, newBranch, text } = body;
      const [path, from] = [treePath(body.path), treePath(body.from)];
      if (path === undefined || path === '' || from === undefined)
        throw invalid('path', 'Git takes no such name for a file.');
      const target = newBranch === '' ? branch : newBranch;
      if (newBranch !== '' && !isNewBranchName(newBranch))
        throw invalid('newBranch', 'Git takes no such name for a branch.');
      const kind = kindOf(from, text);
      // One that moves takes the place of no other.
      const tip =
        from === '' || from === path
          ? undefined
          : await resolveAs('branch', objects, keeper.folder(repository), branch);
      const other =
        tip === undefined ? undefined : await objects.info(keeper.folder(repository), `${tip.commit}:${path}`);
      if (other !== undefined) throw invalid('path', 'There is such a file already.');
      const work = { kind, path, from: from === '' ? undefined : from, sha: id, bytes: Buffer.from(text ?? '') };
      const message = body.message === '' ? `${words[kind]} ${path}` : body.message;
      const account = ownAccount(call);
      const base = settings.publicUrl === '' ? (context.address('git') ?? 'http://127.0.0.1') : settings.publicUrl;
      const author = { name: account, email: emailOf(await owners.ofAccount(account), base) };
      const wanted = { account, branch, target, author, committer: author, message, dates: {} };
      return { branch: target, commit: await writeFiles(parts, repository, wanted, [work]).catch(inOurWords) };
    }),
  ];
}

const words: Readonly<Record<FileWork['kind'], string>> = {
  create: 'Add',
  upload: 'Add',
  update: 'Update',
  delete: 'Delete',
  rename: 'Rename',
};

function kindOf(from: string, text: string | null): FileWork['kind'] {
  if (text === null) return 'delete';
  return from === '' ? 'create' : 'update';
}

/** The peer's words are for programs. */
function inOurWords(cause: unknown): never {
  // Another file is where this one has a folder.
  if (cause instanceof GitFailed) throw invalid('path', 'Git takes no such name for a file here.', cause);
  if (!(cause instanceof Problem)) throw cause;
  if (cause.code === 'git.file_exists') throw invalid('path', 'There is such a file already.', cause);
  if (cause.code === 'git.path_taken') throw invalid('path', 'A file and a folder cannot have the same name.', cause);
  if (cause.code === 'git.submodule') throw invalid('path', 'Another repository stands there, as a submodule.', cause);
  if (cause.code === 'git.branch_taken') throw invalid('newBranch', 'There is such a branch already.', cause);
  if (cause.code !== 'git.stale' && cause.code !== 'git.moved') throw cause;
  throw new Problem(cause.code, 409, 'Somebody else changed it meanwhile. Open it anew, and make the change again.', {
    cause,
  });
}

function invalid(field: string, detail: string, cause?: unknown): Problem {
  return new Problem('git.invalid', 422, detail, { fields: { [field]: detail }, cause });
}
