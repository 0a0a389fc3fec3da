import { Problem } from '../../contracts/problem.ts';
import { archiveName, buildArchiveCommand, checkArchiveSize, splitArchiveName } from '../repositories/archives.ts';
import type { Repository } from '../repositories/repositories.ts';
import { resolveRevision, type Revision } from '../repositories/revisions.ts';
import { sendOutput } from '../transfer/streams.ts';
import type { Answer } from './call.ts';
import { formatFileName } from './content-disposition.ts';
import type { RepositoryStorage } from '../repositories/storage.ts';

const bundleExtension = '.bundle';

/**
 * Streams the files of a commit as one archive, `NAME.zip` or `NAME.tar.gz`, or the history of a branch or tag as
 * `NAME.bundle`.
 *
 * @throws Problem `git.unknown` (404), `git.too_much` (413)
 */
export async function archive(
  { git, manager, objects }: Pick<RepositoryStorage, 'git' | 'manager' | 'objects'>,
  base: string,
  repository: Repository,
  fileName: string,
): Promise<Answer> {
  const isBundle = fileName.endsWith(bundleExtension);
  const { name, extension } = isBundle
    ? { name: fileName.slice(0, -bundleExtension.length), extension: bundleExtension }
    : splitArchiveName(fileName);
  const folder = manager.getFolder(repository);
  const revision = extension === '' ? undefined : await resolveRevision(objects, folder, repository, name);
  // A bundle contains references, so a commit without a name has none.
  if (revision === undefined || (isBundle && revision.kind === 'commit'))
    throw new Problem('git.unknown', 404, `unrecognized repository reference: ${name}`);
  const { commit } = revision;
  await checkArchiveSize(git, folder, commit);
  const full = `${repository.owner}/${repository.name}`;
  return {
    status: 200,
    headers: {
      'Content-Type': 'application/octet-stream',
      'Content-Disposition': `attachment; ${formatFileName(archiveName(repository, name, extension))}`,
      'Access-Control-Expose-Headers': 'Content-Disposition',
      Link: `<${base}/api/v1/repos/${full}/archive/${commit}${extension}?rev=${commit}>; rel="immutable"`,
    },
    send: async (response) => {
      const command = isBundle
        ? bundleCommand(repository, revision)
        : buildArchiveCommand(repository, extension, commit);
      await sendOutput(await git.start(folder, command), response);
    },
  };
}

/** Builds the arguments of git for a bundle. That of the default branch names it as `HEAD`, so that `git clone` checks it out. */
function bundleCommand(repository: Repository, { kind, name }: Revision): readonly string[] {
  const ref = kind === 'tag' ? `refs/tags/${name}` : `refs/heads/${name}`;
  const head = kind === 'branch' && name === repository.defaultBranch ? ['HEAD'] : [];
  return ['bundle', 'create', '-q', '-', ...head, ref];
}
