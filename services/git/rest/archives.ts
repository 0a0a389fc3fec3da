import type { ServerResponse } from 'node:http';
import type { RunningChild } from '../../contracts/children.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Repository } from '../repositories/repositories.ts';
import { resolve } from '../repositories/revisions.ts';
import { forward } from '../transfer/flow.ts';
import type { Answer } from './call.ts';
import { fileName } from './file-name.ts';
import type { RestParts } from './parts.ts';

const archives: Readonly<Record<string, string>> = { '.zip': 'zip', '.tar.gz': 'tar.gz', '.tar': 'tar' };

/** All files of a commit in one, `NAME.zip` or `NAME.tar.gz`. @throws Problem (404) in the peer's words */
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
  const shown = `${repository.name}-${name.replaceAll('/', '-')}`;
  const full = `${repository.owner}/${repository.name}`;
  return {
    status: 200,
    headers: {
      'Content-Type': 'application/octet-stream',
      'Content-Disposition': `attachment; ${fileName(`${shown}${ending}`)}`,
      'Access-Control-Expose-Headers': 'Content-Disposition',
      Link: `<${base}/api/v1/repos/${full}/archive/${commit}${ending}?rev=${commit}>; rel="immutable"`,
    },
    send: async (response) => {
      const args = [
        'archive',
        `--format=${archives[ending] ?? 'zip'}`,
        `--prefix=${repository.name.toLowerCase()}/`,
        commit,
      ];
      await pour(await git.start(folder, args), response);
    },
  };
}

/** Git's own output as the body; one that breaks off breaks the answer off. */
export async function pour(child: RunningChild, response: ServerResponse): Promise<void> {
  child.stdin.end();
  child.stderr.resume();
  response.once('close', () => void child.stop());
  await forward(child.stdout, response);
}
