import { buildOutputTooLargeProblem, type Git } from '../engine/git.ts';
import type { Repository } from './repositories.ts';
import type { RepositoryManager } from './repository-manager.ts';

const archiveFormats: Readonly<Record<string, string>> = { '.zip': 'zip', '.tar.gz': 'tar.gz', '.tar': 'tar' };
/** Maximum number of files in an archive. */
const maxFiles = 1_000_000;

/** Returns true for a supported kind of archive, such as `tar.gz`. */
export function isArchiveKind(kind: string): boolean {
  return Object.hasOwn(archiveFormats, `.${kind}`);
}

/** Writes the archive of a commit to a file. @throws Problem `git.too_much` (413) */
export async function writeArchive(
  { git, manager }: { readonly git: Git; readonly manager: Pick<RepositoryManager, 'getFolder'> },
  repository: Repository,
  { commit, kind, path }: { readonly commit: string; readonly kind: string; readonly path: string },
): Promise<void> {
  const folder = manager.getFolder(repository);
  await checkArchiveSize(git, folder, commit);
  await git.run(folder, buildArchiveCommand(repository, `.${kind}`, commit, [`--output=${path}`]), {
    longRunning: true,
  });
}

/** Builds the arguments of git that write the archive of a commit. */
export function buildArchiveCommand(
  repository: Repository,
  extension: string,
  commit: string,
  options: readonly string[] = [],
): readonly string[] {
  const format = archiveFormats[extension] ?? 'zip';
  return ['archive', `--format=${format}`, `--prefix=${repository.name.toLowerCase()}/`, ...options, commit];
}

/** Splits a file name into the name of a revision and the extension, which is empty for unsupported kinds. */
export function splitArchiveName(fileName: string): { readonly name: string; readonly extension: string } {
  const extension = Object.keys(archiveFormats).find((each) => fileName.endsWith(each)) ?? '';
  return { name: fileName.slice(0, fileName.length - extension.length), extension };
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
export async function checkArchiveSize(git: Git, folder: string, commit: string): Promise<void> {
  await using child = await git.start(folder, ['ls-tree', '-r', '-z', '--name-only', commit]);
  child.stdin.end();
  child.stderr.resume();
  let files = 0;
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    for (let index = chunk.indexOf(0); index >= 0; index = chunk.indexOf(0, index + 1)) files += 1;
    if (files > maxFiles) throw buildOutputTooLargeProblem();
  }
}
