import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { createCloseSignal } from '../../kit/http/disconnect-signal.ts';
import { addHeaders, sendReply, textReply } from '../../kit/http/respond.ts';
import { readReferences } from '../repositories/references.ts';
import type { RepositoryAccess, Lookup } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Git } from '../engine/git.ts';
import type { SignIn } from '../sign-in/sign-in.ts';
import type { Caller } from '../sign-in/caller.ts';
import { encodePacket, flushPacket } from '../transfer/pkt-line.ts';
import { parseProtocol, type Service, type Transfer } from '../transfer/transfer.ts';
import { levels } from '../repositories/access.ts';
import { decodePercentEncoding } from '../../contracts/percent-encoding.ts';

export interface SmartHttpDependencies {
  readonly context: Pick<Context, 'log'>;
  readonly signIn: SignIn;
  readonly lookup: Lookup;
  readonly transfer: Transfer;
  readonly git: Git;
  readonly folder: (repository: Repository) => string;
  /** Creates a missing repository on a push; undefined when that is disabled or not allowed. */
  readonly createOnPush: (caller: Caller, owner: string, name: string) => Promise<Repository | undefined>;
}

const pathPattern = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack|HEAD)$/;
const noCacheHeaders = {
  'Cache-Control': 'no-cache, max-age=0, must-revalidate',
  Expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  Pragma: 'no-cache',
};

/** Returns true for a path of the git protocol. */
export function isGitPath(pathname: string): boolean {
  return pathPattern.test(pathname);
}

/** Answers the smart HTTP protocol: advertisement, fetches and pushes. Bodies are streamed in both directions. */
export async function smartHttp(
  deps: SmartHttpDependencies,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const [, owner = '', name = '', action = ''] = pathPattern.exec(url.pathname) ?? [];
  const service = action === 'info/refs' ? parseService(url.searchParams.get('service') ?? '') : parseService(action);
  if (action === 'info/refs' && service === undefined && url.searchParams.has('service'))
    throw buildBadRequestProblem();
  const caller = await deps.signIn.authenticate(request);
  const { repository, level } = await find(deps, caller, [decode(owner), decode(name)], service ?? 'upload-pack');
  await deps.transfer.ensureAvailable();

  const conversation = {
    output: response,
    protocol: parseProtocol(getHeader(request, 'git-protocol')),
    signal: createCloseSignal(response),
  };
  if (action === 'HEAD' || service === undefined) {
    if (!isRead(request)) throw buildBadRequestProblem();
    const type = action === 'HEAD' ? 'text/plain' : 'text/plain; charset=utf-8';
    return sendText(response, await getDumbResponse(deps, repository, action), type);
  }
  if (action === 'info/refs') {
    if (!isRead(request)) throw buildBadRequestProblem();
    prepareStream(response, `application/x-git-${service}-advertisement`);
    response.write(Buffer.concat([encodePacket(`# service=git-${service}\n`), flushPacket]));
    return deps.transfer.advertise(service, repository, conversation);
  }
  if (request.method !== 'POST' || request.headers['content-type'] !== `application/x-git-${service}-request`) {
    return sendReply(response, { status: request.method === 'POST' ? 400 : 405 });
  }
  prepareStream(response, `application/x-git-${service}-result`);
  const input = getBody(request);
  if (service === 'upload-pack')
    await deps.transfer.upload(repository, { ...conversation, input }, { stateless: true });
  else
    await deps.transfer.receive(
      repository,
      { account: caller.identity?.account ?? '', isAdministrator: level === 'admin' },
      { ...conversation, input },
    );
  if (!response.writableFinished && !response.destroyed) await once(response, 'close');
}

/** Finds the repository. Missing and unreadable repositories return the same error: 401 to visitors and 404 to accounts. */
async function find(
  deps: SmartHttpDependencies,
  caller: Caller,
  [owner, name]: readonly [string, string],
  service: Service,
): Promise<RepositoryAccess> {
  const result = await deps.lookup.find(caller, owner, name);
  const required = service === 'receive-pack' ? 'write' : 'read';
  const isSignedIn = caller.identity !== undefined;
  if (!isSignedIn && required === 'write') throw buildSignInProblem();
  if (result === undefined) {
    const renamed =
      (await deps.lookup.findRenamed(caller, owner, name)) ??
      (required === 'write' ? await deps.createOnPush(caller, owner, name) : undefined);
    if (renamed !== undefined) return find(deps, caller, [renamed.owner, renamed.name], service);
    throw isSignedIn ? new Problem('git.unknown', 404, 'Repository not found') : buildSignInProblem();
  }
  if (levels.indexOf(result.level) < levels.indexOf(required)) {
    throw new Problem(
      'git.forbidden',
      403,
      `${caller.identity?.account ?? ''} is not allowed to push to ${owner}/${name}.`,
    );
  }
  return result;
}

/** Answers the dumb HTTP protocol. */
async function getDumbResponse(
  { git, folder }: SmartHttpDependencies,
  repository: Repository,
  action: string,
): Promise<string> {
  if (action === 'HEAD') return `ref: refs/heads/${repository.defaultBranch}\n`;
  const references = await readReferences(git, folder(repository), 'refs/');
  return references.map(({ id, ref }) => `${id}\t${ref}\n`).join('');
}

/** Sets the headers, which are sent with the first byte, so that an earlier error can still change the status. */
function prepareStream(response: ServerResponse, type: string): void {
  response.statusCode = 200;
  addHeaders(response, { ...noCacheHeaders, 'Content-Type': type });
}

function sendText(response: ServerResponse, text: string, type: string): void {
  sendReply(response, textReply(200, text, { ...noCacheHeaders, 'Content-Type': type }));
}

function getBody(request: IncomingMessage): Readable {
  const encoding = getHeader(request, 'content-encoding');
  if (encoding !== 'gzip' && encoding !== 'x-gzip') return request;
  const decompressed = createGunzip();
  // The stream can fail while it is not read, such as during rule checks; the next read reports the error.
  decompressed.on('error', () => undefined);
  request.on('error', (error) => decompressed.destroy(error));
  request.on('close', () => {
    if (!request.readableEnded) decompressed.destroy();
  });
  return request.pipe(decompressed);
}

function parseService(text: string): Service | undefined {
  if (text === 'git-upload-pack') return 'upload-pack';
  return text === 'git-receive-pack' ? 'receive-pack' : undefined;
}

function getHeader(request: IncomingMessage, name: string): string | undefined {
  const input = request.headers[name];
  return typeof input === 'string' ? input : undefined;
}

function decode(part: string): string {
  const decoded = decodePercentEncoding(part);
  if (decoded === undefined) throw buildBadRequestProblem();
  return decoded;
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

function buildBadRequestProblem(): Problem {
  return new Problem('git.bad_request', 400, 'Unsupported Git request.');
}

/** Builds the 401 problem that makes clients request credentials. */
function buildSignInProblem(): Problem {
  return new Problem('git.sign_in', 401, 'Unauthorized', { headers: { 'WWW-Authenticate': 'Basic realm="Gitea"' } });
}
