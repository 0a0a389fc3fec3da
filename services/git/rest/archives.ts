import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '../../contracts/problem.ts';
import { tooMuch, type Git } from '../engine/git.ts';
import { passingFolder } from '../portable/passing.ts';
import type { Repository } from '../repositories/repositories.ts';
import { unknown } from '../repositories/lookup.ts';
import { resolve, resolveAs } from '../repositories/revisions.ts';
import { pour } from '../transfer/flow.ts';
import type { Answer } from './call.ts';
import { fileName } from './file-name.ts';
import type { RestParts } from './parts.ts';

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
      'Content-Disposition': `attachment; ${fileName(savedAs(repository, name, ending))}`,
      'Access-Control-Expose-Headers': 'Content-Disposition',
      Link: `<${base}/api/v1/repos/${full}/archive/${commit}${ending}?rev=${commit}>; rel="immutable"`,
    },
    send: async (response) => {
      await pour(await git.start(folder, argsFor(repository, ending, commit)), response);
    },
  };
}

/**
 * The same of a tag as a file, for who sends files alone; `kind` is `zip` or `tar.gz`. Nobody has it but the caller, who removes
 * it; what a sudden end leaves is removed with the folder at the next start.
 * @throws Problem `git.unknown` (404), `git.too_much` (413)
 */
export async function archiveFile(
  { context, git, keeper, objects }: Pick<RestParts, 'context' | 'git' | 'keeper' | 'objects'>,
  repository: Repository,
  tag: string,
  kind: string,
): Promise<{ readonly path: string; readonly name: string; readonly remove: () => void }> {
  const ending = `.${kind}`;
  const folder = keeper.folder(repository);
  const revision = ending in archives ? await resolveAs('tag', objects, folder, tag) : undefined;
  if (revision === undefined) throw unknown();
  await checkSize(git, folder, revision.commit);
  const passing = passingFolder(context.files);
  await mkdir(passing, { recursive: true });
  const made = await mkdtemp(join(passing, 'archive-'));
  const remove = (): void => void rm(made, { recursive: true, force: true }).catch(() => undefined);
  const path = join(made, 'archive');
  try {
    const [command = '', ...args] = argsFor(repository, ending, revision.commit);
    await git.run(folder, [command, `--output=${path}`, ...args], { long: true });
  } catch (error) {
    remove();
    throw error;
  }
  return { path, name: savedAs(repository, tag, ending), remove };
}

function argsFor(repository: Repository, ending: string, commit: string): readonly string[] {
  return ['archive', `--format=${archives[ending] ?? 'zip'}`, `--prefix=${repository.name.toLowerCase()}/`, commit];
}

function savedAs(repository: Repository, name: string, ending: string): string {
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
