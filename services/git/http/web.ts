import type { IncomingMessage } from 'node:http';
import { attachment } from './attachments.ts';
import { unknown } from '../repositories/lookup.ts';
import { resolveAs } from '../repositories/revisions.ts';
import type { Answer } from '../rest/call.ts';
import { archive } from '../rest/archives.ts';
import { rawFile, type ContentParts } from '../rest/contents.ts';

const raw = /^\/([^/]+)\/([^/]+)\/raw\/(branch|tag|commit)\/(.+)$/;
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
  const file = raw.exec(url.pathname);
  if (file !== null) {
    const repository = await find(file[1], file[2]);
    const rest = decodeURIComponent(file[4] ?? '').split('/');
    const kind = file[3] === 'branch' || file[3] === 'tag' ? file[3] : 'commit';
    // A branch may have slashes in its name: the first that is there counts.
    for (let parted = 1; parted < rest.length; parted += 1) {
      const name = rest.slice(0, parted).join('/');
      const there = await resolveAs(kind, parts.objects, parts.keeper.folder(repository), name);
      if (there === undefined) continue;
      return rawFile(parts, repository, there, rest.slice(parted).join('/'), request.headers['if-none-match']);
    }
    throw unknown();
  }
  const whole = archived.exec(url.pathname);
  if (whole !== null) return archive(parts, base, await find(whole[1], whole[2]), decodeURIComponent(whole[3] ?? ''));
  if (url.searchParams.get('go-get') === '1') return goGetPage(goGet.exec(url.pathname), base);
  return undefined;
}

/** The same for every name, so that it tells nothing of what is there. */
function goGetPage(match: RegExpExecArray | null, base: string): Answer | undefined {
  const [, owner = '', name = ''] = match ?? [];
  if (!/^[\w.-]+$/.test(owner) || !/^[\w.-]+$/.test(name)) return undefined;
  const module = `${new URL(base).host}/${owner}/${name}`;
  const text = `<!doctype html>\n<html>\n\t<head>\n\t\t<meta name="go-import" content="${module} git ${base}/${owner}/${name}.git">\n\t</head>\n\t<body>\n\t\tgo get ${module}\n\t</body>\n</html>`;
  return { status: 200, text, headers: { 'Content-Type': 'text/html', 'Content-Length': Buffer.byteLength(text) } }; // prettier-ignore
}

function isDecodable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== '';
  } catch {
    return false; // No address of anything.
  }
}
