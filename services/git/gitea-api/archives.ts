import { Problem } from '../../contracts/problem.ts';
import { archiveName, buildArchiveCommand, checkArchiveSize, splitArchiveName } from '../repositories/archives.ts';
import type { Repository } from '../repositories/repositories.ts';
import { resolveRevision } from '../repositories/revisions.ts';
import { sendOutput } from '../transfer/streams.ts';
import type { Answer } from './call.ts';
import { formatFileName } from './content-disposition.ts';
import type { ApiDependencies } from './api-dependencies.ts';

/**
 * Streams the files of a commit as one archive, `NAME.zip` or `NAME.tar.gz`.
 *
 * @throws Problem `git.unknown` (404), `git.too_much` (413)
 */
export async function archive(
  { git, manager, objects }: Pick<ApiDependencies, 'git' | 'manager' | 'objects'>,
  base: string,
  repository: Repository,
  fileName: string,
): Promise<Answer> {
  const { name, extension } = splitArchiveName(fileName);
  const folder = manager.getFolder(repository);
  const revision = extension === '' ? undefined : await resolveRevision(objects, folder, repository, name);
  if (revision === undefined) throw new Problem('git.unknown', 404, `unrecognized repository reference: ${name}`);
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
      await sendOutput(await git.start(folder, buildArchiveCommand(repository, extension, commit)), response);
    },
  };
}
