import { readdir } from 'node:fs/promises';
import { escapeHtml } from '../../kit/escape-html.ts';
import type { Exchange } from '../../kit/http/listener.ts';
import { redirectReply, type Reply } from '../../kit/http/respond.ts';
import { sendStoredFile } from '../../kit/http/send-file.ts';
import { resolveFile } from '../files/resolve-file.ts';

/** An HTML file must not run as a page of this app. */
const sandboxHeaders = { 'Content-Security-Policy': 'sandbox', 'X-Content-Type-Options': 'nosniff' };

/**
 * Builds a list of links to the finished files of a folder, without hidden files and links out of the root; undefined
 * for a path that is no folder.
 */
export async function listFolder(root: string, exchange: Exchange): Promise<Reply | undefined> {
  const parts = getParts(exchange);
  const folder = parts.length === 0 ? root : await resolveFile(root, parts);
  if (folder === undefined) return undefined;
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return undefined;
  const { path, request } = exchange;
  if (!path.endsWith('/')) {
    const name = encodeURIComponent(parts.at(-1) ?? path.slice(path.lastIndexOf('/') + 1));
    return redirectReply(302, `${name}/${(request.url ?? '').slice(path.length)}`);
  }
  const visibleEntries = entries.filter(({ name }) => !name.startsWith('.'));
  const names = visibleEntries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).toSorted();
  const body = renderList([...(parts.length === 0 ? [] : ['../']), ...names]);
  return { status: 200, headers: { ...sandboxHeaders, 'Content-Type': 'text/html; charset=utf-8' }, body };
}

function renderList(names: readonly string[]): string {
  const links = names.map((name) => {
    const href = name === '../' ? name : `./${name.split('/').map(encodeURIComponent).join('/')}`;
    return `<li><a href="${escapeHtml(href)}">${escapeHtml(name)}</a></li>`;
  });
  return `<!doctype html>\n<meta charset="utf-8">\n<title>Downloads</title>\n<ul>\n${links.join('\n')}\n</ul>\n`;
}

/**
 * Sends a finished file, with ranges. Paths and links out of the download folder are not found.
 * @returns false, without a response, when there is no file
 */
export async function sendDownload(root: string, exchange: Exchange): Promise<boolean> {
  const { request, response, path } = exchange;
  if (path.endsWith('/')) return false;
  const file = await resolveFile(root, getParts(exchange));
  if (file === undefined) return false;
  const { contentType } = await import('mime-types');
  return sendStoredFile(request, response, file, {
    always: { ...sandboxHeaders, 'Cache-Control': 'public, max-age=0' },
    content: { 'Content-Type': contentType(file.slice(file.lastIndexOf('/') + 1)) || 'application/octet-stream' },
  });
}

function getParts({ params: { path = '' } }: Exchange): readonly string[] {
  return path === '' ? [] : path.split(/[/\\]/);
}
