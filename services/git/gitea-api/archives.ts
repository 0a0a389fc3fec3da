import { Problem } from '../../contracts/problem.ts';
import { tooMuch, type Git } from '../engine/git.ts';
import type { Repository } from '../repositories/repositories.ts';
import { resolve } from '../repositories/revisions.ts';
import { pour } from '../transfer/flow.ts';
import type { Answer } from './call.ts';
import { fileName } from './content-disposition.ts';
import type { RestParts } from './api-dependencies.ts';

const archives: Readonly<Record<string, string>> = { '.zip': 'zip', '.tar.gz': 'tar.gz', '.tar': 'tar' };
/** As many as an archive may hold. */
const mostFiles = 1_000_000;

/** All files of a commit in one, `NAME.zip` or `NAME.tar.gz`. @throws Problem (404) in the peer's words, `git.too_much` (413) */
export async function archive(
  { git, keeper, objects }: Pick<RestParts, 'git' | 'keeper' | 'objects'>,
  base: string,
  repository: Repository,
  asked: string,
): Promise<Answer> {
  const ending = Object.keys(archives).find((each) => asked.endsWith(each)) ?? '';
  const name = asked.slice(0, asked.length - ending.length);
  const folder = keeper.folder(repository);
  const revision = ending === '' ? undefined : await resolve(objects, folder, repository, name);
  if (revision === undefined) throw new Problem('git.unknown', 404, `unrecognized repository reference: ${name}`);
  const { commit } = revision;
  await checkSize(git, folder, commit);
  const full = `${repository.owner}/${repository.name}`;
  return {
    status: 200,
    headers: {
      'Content-Type': 'application/octet-stream',
      'Content-Disposition': `attachment; ${fileName(archiveName(repository, name, ending))}`,
      'Access-Control-Expose-Headers': 'Content-Disposition',
      Link: `<${base}/api/v1/repos/${full}/archive/${commit}${ending}?rev=${commit}>; rel="immutable"`,
    },
    send: async (response) => {
      await pour(await git.start(folder, ['archive', ...optionsFor(repository, ending), commit]), response);
    },
  };
}

/** Whether there are archives of that kind, such as `tar.gz`. */
export function isArchiveKind(kind: string): boolean {
  return Object.hasOwn(archives, `.${kind}`);
}

/** The same of a commit, written into a file. @throws Problem `git.too_much` (413) */
export async function writeArchive(
  { git, keeper }: Pick<RestParts, 'git' | 'keeper'>,
  repository: Repository,
  { commit, kind, path }: { readonly commit: string; readonly kind: string; readonly path: string },
): Promise<void> {
  const folder = keeper.folder(repository);
  await checkSize(git, folder, commit);
  await git.run(folder, ['archive', ...optionsFor(repository, `.${kind}`), `--output=${path}`, commit], { long: true });
}

function optionsFor(repository: Repository, ending: string): readonly string[] {
  return [`--format=${archives[ending] ?? 'zip'}`, `--prefix=${repository.name.toLowerCase()}/`];
}

/** What it is called where it is saved: `lamp-v1.zip`. */
export function archiveName(repository: Repository, name: string, ending: string): string {
  return `${repository.name}-${name.replaceAll('/', '-')}${ending}`;
}

/**
 * A few objects can make a tree without end, of folders that name the same one over and over.
 * @throws Problem `git.too_much` (413)
 */
async function checkSize(git: Git, folder: string, commit: string): Promise<void> {
  await using child = await git.start(folder, ['ls-tree', '-r', '-z', '--name-only', commit]);
  child.stdin.end();
  child.stderr.resume();
  let files = 0;
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(0); at >= 0; at = chunk.indexOf(0, at + 1)) files += 1;
    if (files > mostFiles) throw tooMuch();
  }
}
