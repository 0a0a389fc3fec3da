import type { IncomingMessage } from 'node:http';
import { attachment } from './attachments.ts';
import { unknown } from '../repositories/lookup.ts';
import { resolveAs } from '../repositories/revisions.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Answer } from '../gitea-api/call.ts';
import { archive } from '../gitea-api/archives.ts';
import { fileInTree, type ContentParts } from '../gitea-api/contents.ts';

const file = /^\/([^/]+)\/([^/]+)\/(raw|media)\/(?:(branch|tag|commit)\/)?(.+)$/;
const change = /^\/([^/]+)\/([^/]+)\/commit\/([0-9a-f]{7,40})\.(diff|patch)$/;
const accountKeys = /^\/([^/]+)\.(keys|gpg)$/;
const archived = /^\/([^/]+)\/([^/]+)\/archive\/(.+)$/;
const goGet = /^\/([^/]+)\/([^/]+?)(?:\.git)?(?:\/.*)?$/;

/** The addresses below a repository's own that programs follow: raw files, archives, and what `go get` asks for. */
export async function webAnswer(
  parts: ContentParts,
  request: IncomingMessage,
  url: URL,
  base: string,
): Promise<Answer | undefined> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
  const find = async (owner = '', name = '') => {
    const visitor = await parts.signIn.visitor(request);
    return parts.lookup.need(visitor, [decodeURIComponent(owner), decodeURIComponent(name)], 'read');
  };
  if (!isDecodable(url.pathname)) throw unknown();
  const attached = await attachment(parts, request, url);
  if (attached !== undefined) return attached;
  const keysOf = accountKeys.exec(url.pathname);
  if (keysOf !== null) return keyList(parts, request, decodeURIComponent(keysOf[1] ?? ''), keysOf[2] === 'keys');
  const inTree = file.exec(url.pathname);
  if (inTree !== null) {
    const repository = await find(inTree[1], inTree[2]);
    const rest = (inTree[5] ?? '').split('/').map(decodeURIComponent);
    const isMedia = inTree[3] === 'media';
    return fileInTree(parts, repository, { kind: inTree[4], rest, isMedia, known: request.headers['if-none-match'] });
  }
  const commit = change.exec(url.pathname);
  if (commit !== null)
    return commitText(parts, await find(commit[1], commit[2]), commit[3] ?? '', commit[4] === 'diff');
  const whole = archived.exec(url.pathname);
  if (whole !== null) return archive(parts, base, await find(whole[1], whole[2]), decodeURIComponent(whole[3] ?? ''));
  if (url.searchParams.get('go-get') === '1') return goGetPage(goGet.exec(url.pathname), base);
  return undefined;
}

/** The public SSH keys of an account, one a line, as cloud-init and ssh-import-id read them. No OpenPGP keys are stored. */
async function keyList(parts: ContentParts, request: IncomingMessage, name: string, isSsh: boolean): Promise<Answer> {
  const visitor = await parts.signIn.visitor(request);
  if (parts.settings.requireSignIn && visitor.identity === undefined) throw unknown();
  const owner = await parts.owners.find(name);
  if (owner?.kind !== 'account') throw unknown();
  const keys = isSsh ? await parts.keys.ofAccount(owner.name) : [];
  return plainText(keys.map(({ text }) => `${text}\n`).join(''));
}

/** A commit as text, where its addresses with `.diff` and `.patch` lead. */
async function commitText(parts: ContentParts, repository: Repository, id: string, isDiff: boolean): Promise<Answer> {
  const folder = parts.keeper.folder(repository);
  const revision = await resolveAs('commit', parts.objects, folder, id);
  if (revision === undefined) throw unknown();
  const args = isDiff
    ? ['diff-tree', '-p', '--root', '--no-commit-id', '--diff-merges=first-parent', revision.commit]
    : ['format-patch', '--stdout', '--root', '-1', revision.commit];
  const { stdout } = await parts.git.run(folder, args, { modest: true });
  return plainText(stdout.toString());
}

function plainText(text: string): Answer {
  const headers = {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'X-Content-Type-Options': 'nosniff',
  };
  return { status: 200, text, headers };
}

/** The same for every name, so that it tells nothing of what is there. */
function goGetPage(match: RegExpExecArray | null, base: string): Answer | undefined {
  const [, owner = '', name = ''] = match ?? [];
  if (!/^[\w.-]+$/.test(owner) || !/^[\w.-]+$/.test(name)) return undefined;
  const module = `${new URL(base).host}/${owner}/${name}`;
  const text = `<!doctype html>\n<html>\n\t<head>\n\t\t<meta name="go-import" content="${module} git ${base}/${owner}/${name}.git">\n\t</head>\n\t<body>\n\t\tgo get ${module}\n\t</body>\n</html>`;
  return { status: 200, text, headers: { 'Content-Type': 'text/html', 'Content-Length': Buffer.byteLength(text) } };
}

function isDecodable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== '';
  } catch {
    return false; // No address of anything.
  }
}
