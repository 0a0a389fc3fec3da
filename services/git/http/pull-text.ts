import type { IncomingMessage } from 'node:http';
import { isPull } from '../pulls/pulls.ts';
import { unknown } from '../repositories/lookup.ts';
import type { Answer } from '../gitea-api/call.ts';
import { pullText } from '../gitea-api/pulls/changes.ts';
import type { PullRestParts } from '../gitea-api/pulls/pull-views.ts';

const address = /^\/([\w.-]+)\/([\w.-]+)\/pulls\/(\d{1,9})\.(diff|patch)$/;

/** A pull request as text, where its `diff_url` and `patch_url` lead. Undefined: the address is none of these. */
export async function pullTextAnswer(
  parts: PullRestParts,
  request: IncomingMessage,
  url: URL,
): Promise<Answer | undefined> {
  const [, owner, name, number, kind] = address.exec(url.pathname) ?? [];
  if (owner === undefined || name === undefined || (request.method !== 'GET' && request.method !== 'HEAD'))
    return undefined;
  const found = await parts.lookup.find(await parts.signIn.visitor(request), owner, name);
  const issue = found && (await parts.issues.find(found.repository.id, Number(number)));
  if (found === undefined || issue === undefined || !isPull(issue)) throw unknown();
  return pullText(parts, { ...found, issue }, kind === 'diff' ? 'diff' : 'patch');
}
