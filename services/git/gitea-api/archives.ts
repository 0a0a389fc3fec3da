import { Problem } from '../../contracts/problem.ts';
import { buildOutputTooLargeProblem, type Git } from '../engine/git.ts';
import type { Repository } from '../repositories/repositories.ts';
import { resolveRevision, type Revision } from '../repositories/revisions.ts';
import { sendOutput } from '../transfer/streams.ts';
import type { Answer } from './call.ts';
import { formatFileName } from './content-disposition.ts';
import type { ApiDependencies } from './api-dependencies.ts';

const archiveFormats: Readonly<Record<string, string>> = { '.zip': 'zip', '.tar.gz': 'tar.gz', '.tar': 'tar' };
const bundleExtension = '.bundle';
/** Maximum number of files in an archive. */
const maxFiles = 1_000_000;

/**
 * Streams the files of a commit as one archive, `NAME.zip` or `NAME.tar.gz`, or the history of a branch or tag as
 * `NAME.bundle`.
 *
 * @throws Problem `git.unknown` (404), `git.too_much` (413)
 */
export async function archive(
  { git, manager, objects }: Pick<ApiDependencies, 'git' | 'manager' | 'objects'>,
  base: string,
  repository: Repository,
  fileName: string,
): Promise<Answer> {
  const extension = [...Object.keys(archiveFormats), bundleExtension].find((each) => fileName.endsWith(each)) ?? '';
  const name = fileName.slice(0, fileName.length - extension.length);
  const folder = manager.getFolder(repository);
  const revision = extension === '' ? undefined : await resolveRevision(objects, folder, repository, name);
  const isBundle = extension === bundleExtension;
  // A bundle contains references, so a commit without a name has none.
  if (revision === undefined || (isBundle && revision.kind === 'commit'))
    throw new Problem('git.unknown', 404, `unrecognized repository reference: ${name}`);
  const { commit } = revision;
  await checkSize(git, folder, commit);
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
      const args = isBundle
        ? bundleArgs(repository, revision)
        : ['archive', ...optionsFor(repository, extension), commit];
      await sendOutput(await git.start(folder, args), response);
    },
  };
}

/** Returns true for a supported kind of archive, such as `tar.gz`. */
export function isArchiveKind(kind: string): boolean {
  return Object.hasOwn(archiveFormats, `.${kind}`);
}

/** Writes the archive of a commit to a file. @throws Problem `git.too_much` (413) */
export async function writeArchive(
  { git, manager }: Pick<ApiDependencies, 'git' | 'manager'>,
  repository: Repository,
  { commit, kind, path }: { readonly commit: string; readonly kind: string; readonly path: string },
): Promise<void> {
  const folder = manager.getFolder(repository);
  await checkSize(git, folder, commit);
  await git.run(folder, ['archive', ...optionsFor(repository, `.${kind}`), `--output=${path}`, commit], {
    longRunning: true,
  });
}

function optionsFor(repository: Repository, extension: string): readonly string[] {
  return [`--format=${archiveFormats[extension] ?? 'zip'}`, `--prefix=${repository.name.toLowerCase()}/`];
}

/** The bundle of the default branch names it as `HEAD`, so that `git clone` checks it out. */
function bundleArgs(repository: Repository, { kind, name }: Revision): readonly string[] {
  const ref = kind === 'tag' ? `refs/tags/${name}` : `refs/heads/${name}`;
  const head = kind === 'branch' && name === repository.defaultBranch ? ['HEAD'] : [];
  return ['bundle', 'create', '-q', '-', ...head, ref];
}

/** Builds the file name of an archive: `lamp-v1.zip`. */
export function archiveName(repository: Repository, name: string, extension: string): string {
  return `${repository.name}-${name.replaceAll('/', '-')}${extension}`;
}

/**
 * Counts the files of a commit. A few objects can describe an enormous tree of folders that contain the same folder repeatedly.
 *
 * @throws Problem `git.too_much` (413)
 */
async function checkSize(git: Git, folder: string, commit: string): Promise<void> {
  await using child = await git.start(folder, ['ls-tree', '-r', '-z', '--name-only', commit]);
  child.stdin.end();
  child.stderr.resume();
  let files = 0;
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    for (let index = chunk.indexOf(0); index >= 0; index = chunk.indexOf(0, index + 1)) files += 1;
    if (files > maxFiles) throw buildOutputTooLargeProblem();
  }
}
