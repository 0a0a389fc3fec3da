import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { createCloseSignal } from '../../kit/disconnect-signal.ts';
import { readReferences } from '../repositories/references.ts';
import type { Found, Lookup } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Git } from '../engine/git.ts';
import type { SignIn } from '../sign-in/sign-in.ts';
import type { Visitor } from '../sign-in/visitor.ts';
import { packet, flushPacket } from '../transfer/pkt-line.ts';
import { protocolOf, type Service, type Transfer } from '../transfer/transfer.ts';
import { levels } from '../repositories/access.ts';

export interface SmartHttpParts {
  readonly context: Pick<Context, 'log'>;
  readonly signIn: SignIn;
  readonly lookup: Lookup;
  readonly transfer: Transfer;
  readonly git: Git;
  readonly folder: (repository: Repository) => string;
  /** Makes the repository that somebody pushes to, where that is wanted; undefined where not. */
  readonly createOnPush: (visitor: Visitor, owner: string, name: string) => Promise<Repository | undefined>;
}

const path = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack|HEAD)$/;
const uncached = {
  'Cache-Control': 'no-cache, max-age=0, must-revalidate',
  Expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  Pragma: 'no-cache',
};

/** Whether a path is one of git's own. */
export function isGitPath(pathname: string): boolean {
  return path.test(pathname);
}

/** Git's own requests: what it has, fetches and pushes. Bodies are streamed both ways. */
export async function smartHttp(
  parts: SmartHttpParts,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const [, owner = '', name = '', action = ''] = path.exec(url.pathname) ?? [];
  const asked = action === 'info/refs' ? serviceOf(url.searchParams.get('service') ?? '') : serviceOf(action);
  if (action === 'info/refs' && asked === undefined && url.searchParams.has('service')) throw bad();
  const visitor = await parts.signIn.visitor(request);
  const { repository, level } = await find(parts, visitor, [decode(owner), decode(name)], asked ?? 'upload-pack');

  const conversation = {
    output: response,
    protocol: protocolOf(headerOf(request, 'git-protocol')),
    signal: createCloseSignal(response),
  };
  if (action === 'HEAD' || asked === undefined) {
    if (!isRead(request)) throw bad();
    const type = action === 'HEAD' ? 'text/plain' : 'text/plain; charset=utf-8';
    return sendText(response, await dumbAnswer(parts, repository, action), type);
  }
  if (action === 'info/refs') {
    if (!isRead(request)) throw bad();
    head(response, `application/x-git-${asked}-advertisement`);
    response.write(Buffer.concat([packet(`# service=git-${asked}\n`), flushPacket]));
    return parts.transfer.advertise(asked, repository, conversation);
  }
  if (request.method !== 'POST' || request.headers['content-type'] !== `application/x-git-${asked}-request`) {
    response.writeHead(request.method === 'POST' ? 400 : 405, { 'Content-Length': 0 }).end();
    return;
  }
  head(response, `application/x-git-${asked}-result`);
  const input = bodyOf(request);
  if (asked === 'upload-pack') await parts.transfer.upload(repository, { ...conversation, input }, { stateless: true });
  else
    await parts.transfer.receive(
      repository,
      { account: visitor.identity?.account ?? '', administers: level === 'admin' },
      { ...conversation, input },
    );
  if (!response.writableFinished && !response.destroyed) await once(response, 'close');
}

/** What is not there and what may not be read are the same to who asks: sign in first, and then it is not there. */
async function find(
  parts: SmartHttpParts,
  visitor: Visitor,
  [owner, name]: readonly [string, string],
  service: Service,
): Promise<Found> {
  const found = await parts.lookup.find(visitor, owner, name);
  const needed = service === 'receive-pack' ? 'write' : 'read';
  const isKnown = visitor.identity !== undefined;
  if (!isKnown && needed === 'write') throw signInFirst();
  if (found === undefined) {
    const other =
      (await parts.lookup.renamed(visitor, owner, name)) ??
      (needed === 'write' ? await parts.createOnPush(visitor, owner, name) : undefined);
    if (other !== undefined) return find(parts, visitor, [other.owner, other.name], service);
    throw isKnown ? new Problem('git.unknown', 404, 'Repository not found') : signInFirst();
  }
  if (levels.indexOf(found.level) < levels.indexOf(needed)) {
    throw new Problem('git.forbidden', 403, `${visitor.identity?.account ?? ''} may not push to ${owner}/${name}.`);
  }
  return found;
}

/** What a client without the smart protocol asks first, and what people look at in a browser. */
async function dumbAnswer({ git, folder }: SmartHttpParts, repository: Repository, action: string): Promise<string> {
  if (action === 'HEAD') return `ref: refs/heads/${repository.defaultBranch}\n`;
  const references = await readReferences(git, folder(repository), 'refs/');
  return references.map(({ id, ref }) => `${id}\t${ref}\n`).join('');
}

/** Sent with the first byte, so that what goes wrong before can still be said. */
function head(response: ServerResponse, type: string): void {
  response.statusCode = 200;
  for (const [name, value] of Object.entries({ ...uncached, 'Content-Type': type })) response.setHeader(name, value);
}

function sendText(response: ServerResponse, text: string, type: string): void {
  response.writeHead(200, { ...uncached, 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
}

function bodyOf(request: IncomingMessage): Readable {
  const encoding = headerOf(request, 'content-encoding');
  if (encoding !== 'gzip' && encoding !== 'x-gzip') return request;
  const plain = createGunzip();
  // It may break while nobody reads, such as while the rules of a push are looked at; the next reader finds it so.
  plain.on('error', () => undefined);
  request.on('error', (error) => plain.destroy(error));
  request.on('close', () => {
    if (!request.readableEnded) plain.destroy();
  });
  return request.pipe(plain);
}

function serviceOf(text: string): Service | undefined {
  if (text === 'git-upload-pack') return 'upload-pack';
  return text === 'git-receive-pack' ? 'receive-pack' : undefined;
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const given = request.headers[name];
  return typeof given === 'string' ? given : undefined;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw bad();
  }
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

function bad(): Problem {
  return new Problem('git.bad_request', 400, 'Git does not ask that.');
}

/** Only this makes clients ask for a name and a password. */
function signInFirst(): Problem {
  return new Problem('git.sign_in', 401, 'Unauthorized', { headers: { 'WWW-Authenticate': 'Basic realm="Gitea"' } });
}
