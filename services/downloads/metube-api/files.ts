import { readdir, realpath } from 'node:fs/promises';
import type { RequestHandler } from 'express';
import { escapeHtml } from '../../kit/escape-html.ts';
import { resolveFile } from '../run/resolve-file.ts';

/** Serves a folder of finished files as a list of links, without hidden files and links out of the root. */
export function createListHandler(root: string): RequestHandler {
  return async (request, response, next) => {
    const { path = [] } = request.params;
    const parts = (Array.isArray(path) ? path : [path]).filter((part) => part !== '');
    const folder = parts.length === 0 ? root : await resolveFile(root, parts);
    const entries =
      folder === undefined ? undefined : await readdir(folder, { withFileTypes: true }).catch(() => undefined);
    if (entries === undefined) return next();
    const [currentPath = '', query] = request.originalUrl.split('?', 2);
    if (!currentPath.endsWith('/')) {
      const name = encodeURIComponent(parts.at(-1) ?? currentPath.slice(currentPath.lastIndexOf('/') + 1));
      return void response.redirect(302, `${name}/${query === undefined ? '' : `?${query}`}`);
    }
    const visibleEntries = entries.filter(({ name }) => !name.startsWith('.'));
    const names = visibleEntries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).toSorted();
    response.setHeader('Content-Security-Policy', 'sandbox');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.type('html').send(renderList([...(parts.length === 0 ? [] : ['../']), ...names]));
  };
}

function renderList(names: readonly string[]): string {
  const links = names.map((name) => {
    const href = name === '../' ? name : `./${name.split('/').map(encodeURIComponent).join('/')}`;
    return `<li><a href="${escapeHtml(href)}">${escapeHtml(name)}</a></li>`;
  });
  return `<!doctype html>\n<meta charset="utf-8">\n<title>Downloads</title>\n<ul>\n${links.join('\n')}\n</ul>\n`;
}

/** Serves finished files with ranges. Paths and links out of the download folder are not found. */
export function createFileHandler(root: string): RequestHandler {
  return async (request, response, next) => {
    const { path } = request.params;
    const parts = (Array.isArray(path) ? path : [path ?? '']).flatMap((part) => part.split(/[/\\]/));
    const realRoot = await realpath(root).catch(() => undefined);
    const file = await resolveFile(root, parts);
    if (realRoot === undefined || file === undefined) return next();
    // An HTML file must not run as a page of this app.
    response.setHeader('Content-Security-Policy', 'sandbox');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.sendFile(
      file.slice(realRoot.length),
      { root: realRoot, dotfiles: 'deny', acceptRanges: true },
      (error?: Error) => {
        // A client that closes the connection is not an error.
        if (error !== undefined && !response.headersSent) next();
      },
    );
  };
}
