import type { IncomingMessage } from 'node:http';
import { isPull } from '../pulls/pulls.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import type { Answer } from '../gitea-api/call.ts';
import { pullText } from '../gitea-api/pulls/changes.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'storage' | 'accessControl' | 'collaboration'>;

const address = /^\/([\w.-]+)\/([\w.-]+)\/pulls\/(\d{1,9})\.(diff|patch)$/;

/** Answers `diff_url` and `patch_url` of a pull request; undefined for other paths. */
export async function pullTextAnswer(
  deps: Dependencies,
  request: IncomingMessage,
  url: URL,
): Promise<Answer | undefined> {
  const [, owner, name, number, kind] = address.exec(url.pathname) ?? [];
  if (owner === undefined || name === undefined || (request.method !== 'GET' && request.method !== 'HEAD'))
    return undefined;
  const result = await deps.accessControl.lookup.find(
    await deps.accessControl.signIn.authenticate(request),
    owner,
    name,
  );
  const issue = result && (await deps.collaboration.issues.find(result.repository.id, Number(number)));
  if (result === undefined || issue === undefined || !isPull(issue)) throw buildNotFoundProblem();
  return pullText(deps, { ...result, issue }, kind === 'diff' ? 'diff' : 'patch');
}
