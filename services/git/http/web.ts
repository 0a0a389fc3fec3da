import type { IncomingMessage } from 'node:http';
import { attachment } from './attachments.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { checkChangeCount, findMergeBase } from '../repositories/commits.ts';
import { resolveRange } from '../repositories/revision-range.ts';
import { resolveByKind } from '../repositories/revisions.ts';
import type { Caller } from '../sign-in/caller.ts';
import { sendOutput } from '../transfer/streams.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Answer } from '../gitea-api/call.ts';
import { archive } from '../gitea-api/archives.ts';
import { fileInTree, objectFile } from '../gitea-api/file-answers.ts';
import { decodePercentEncoding } from '../../contracts/percent-encoding.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl' | 'features'>;

const filePattern = /^\/([^/]+)\/([^/]+)\/(raw|media)\/(?:(branch|tag|commit)\/)?(.+)$/;
const objectPattern = /^\/([^/]+)\/([^/]+)\/(raw|media)\/blob\/([0-9a-f]{40})$/;
const comparePattern = /^\/([^/]+)\/([^/]+)\/compare\/(.+)\.(diff|patch)$/;
const changePattern = /^\/([^/]+)\/([^/]+)\/commit\/([0-9a-f]{7,40})\.(diff|patch)$/;
const accountKeysPattern = /^\/([^/]+)\.(keys|gpg)$/;
const archivePattern = /^\/([^/]+)\/([^/]+)\/archive\/(.+)$/;
const goGetPattern = /^\/([^/]+)\/([^/]+?)(?:\.git)?(?:\/.*)?$/;

/** Answers web addresses that programs use: raw files, archives, SSH keys and `go get`. */
export async function webAnswer(
  deps: Dependencies,
  request: IncomingMessage,
  url: URL,
  base: string,
): Promise<Answer | undefined> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
  const find = async (owner = '', name = '') => {
    const caller = await deps.accessControl.signIn.authenticate(request);
    return deps.accessControl.lookup.require(caller, [decodeURIComponent(owner), decodeURIComponent(name)], 'read');
  };
  if (!decodePercentEncoding(url.pathname)) throw buildNotFoundProblem();
  const attachmentResponse = await attachment(deps, request, url);
  if (attachmentResponse !== undefined) return attachmentResponse;
  const keysMatch = accountKeysPattern.exec(url.pathname);
  if (keysMatch !== null)
    return keyList(deps, request, decodeURIComponent(keysMatch[1] ?? ''), keysMatch[2] === 'keys');
  const objectMatch = objectPattern.exec(url.pathname);
  if (objectMatch !== null) {
    const repository = await find(objectMatch[1], objectMatch[2]);
    const etag = request.headers['if-none-match'];
    return objectFile(deps, repository, { id: objectMatch[4] ?? '', isMedia: objectMatch[3] === 'media', etag });
  }
  const fileMatch = filePattern.exec(url.pathname);
  if (fileMatch !== null) {
    const repository = await find(fileMatch[1], fileMatch[2]);
    const rest = (fileMatch[5] ?? '').split('/').map(decodeURIComponent);
    const isMedia = fileMatch[3] === 'media';
    return fileInTree(deps, repository, { kind: fileMatch[4], rest, isMedia, etag: request.headers['if-none-match'] });
  }
  const commit = changePattern.exec(url.pathname);
  if (commit !== null) return commitText(deps, await find(commit[1], commit[2]), commit[3] ?? '', commit[4] === 'diff');
  const compareMatch = comparePattern.exec(url.pathname);
  if (compareMatch !== null) {
    const repository = await find(compareMatch[1], compareMatch[2]);
    return rangeText(deps, await deps.accessControl.signIn.authenticate(request), repository, {
      range: decodeURIComponent(compareMatch[3] ?? ''),
      isDiff: compareMatch[4] === 'diff',
    });
  }
  const archiveMatch = archivePattern.exec(url.pathname);
  if (archiveMatch !== null)
    return archive(
      deps.storage,
      base,
      await find(archiveMatch[1], archiveMatch[2]),
      decodeURIComponent(archiveMatch[3] ?? ''),
    );
  if (url.searchParams.get('go-get') === '1') return goGetPage(goGetPattern.exec(url.pathname), base);
  return undefined;
}

/** Lists the public SSH keys of an account, one a line, for cloud-init and ssh-import-id. OpenPGP keys are not stored. */
async function keyList(deps: Dependencies, request: IncomingMessage, name: string, isSsh: boolean): Promise<Answer> {
  const caller = await deps.accessControl.signIn.authenticate(request);
  if (deps.settings.requireSignIn && caller.identity === undefined) throw buildNotFoundProblem();
  const owner = await deps.storage.owners.find(name);
  if (owner?.kind !== 'account') throw buildNotFoundProblem();
  const keys = isSsh ? await deps.accessControl.keys.listForAccount(owner.name) : [];
  return plainText(keys.map(({ text }) => `${text}\n`).join(''));
}

/** Answers the `.diff` and `.patch` addresses of a commit. */
async function commitText(deps: Dependencies, repository: Repository, id: string, isDiff: boolean): Promise<Answer> {
  const folder = deps.storage.manager.getFolder(repository);
  const revision = await resolveByKind('commit', deps.storage.objects, folder, id);
  if (revision === undefined) throw buildNotFoundProblem();
  const args = isDiff
    ? ['diff-tree', '-p', '--root', '--no-commit-id', '--diff-merges=first-parent', revision.commit]
    : ['format-patch', '--stdout', '--root', '-1', revision.commit];
  const { stdout } = await deps.storage.git.run(folder, args, { limitedMemory: true });
  return plainText(stdout.toString());
}

/** Answers the `.diff` and `.patch` addresses of a comparison; undefined when a branch is named like that. */
async function rangeText(
  deps: Dependencies,
  caller: Caller,
  repository: Repository,
  { range, isDiff }: { readonly range: string; readonly isDiff: boolean },
): Promise<Answer | undefined> {
  if ((await resolveRange(deps, caller, repository, `${range}.${isDiff ? 'diff' : 'patch'}`)) !== undefined)
    return undefined;
  const resolved = await resolveRange(deps, caller, repository, range);
  if (resolved === undefined) throw buildNotFoundProblem();
  const folder = deps.storage.manager.getFolder(repository);
  const { from, to, isDirect } = resolved;
  const mergeBase = isDirect ? from.commit : await findMergeBase(deps.storage.git, folder, from.commit, to.commit);
  const start = mergeBase ?? from.commit;
  await checkChangeCount(deps.storage.git, folder, start, to.commit);
  const args = isDiff
    ? ['diff-tree', '--patch', '-M', '-r', start, to.commit]
    : ['format-patch', '--stdout', `${start}..${to.commit}`];
  return {
    status: 200,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
    send: async (response) => sendOutput(await deps.storage.git.start(folder, args), response),
  };
}

function plainText(text: string): Answer {
  const headers = {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'X-Content-Type-Options': 'nosniff',
  };
  return { status: 200, text, headers };
}

/** Builds the same page for every name, so that it does not reveal which repositories exist. */
function goGetPage(match: RegExpExecArray | null, base: string): Answer | undefined {
  const [, owner = '', name = ''] = match ?? [];
  if (!/^[\w.-]+$/.test(owner) || !/^[\w.-]+$/.test(name)) return undefined;
  const module = `${new URL(base).host}/${owner}/${name}`;
  const meta = `<meta name="go-import" content="${module} git ${base}/${owner}/${name}.git">`;
  const head = `\t<head>\n\t\t${meta}\n\t</head>`;
  const text = `<!doctype html>\n<html>\n${head}\n\t<body>\n\t\tgo get ${module}\n\t</body>\n</html>`;
  return { status: 200, text, headers: { 'Content-Type': 'text/html', 'Content-Length': Buffer.byteLength(text) } };
}
