import { readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { RequestHandler } from 'express';
import { escapeHtml } from '../../kit/escape-html.ts';

/** Real path of what lies below the root by these names; undefined for what is not there, hidden, or led out of it. */
export async function fileInside(root: string, parts: readonly string[]): Promise<string | undefined> {
  if (parts.some((part) => part === '' || part === '..' || part.startsWith('.') || part.includes('\0')))
    return undefined;
  const base = await realpath(root).catch(() => undefined);
  const file = await realpath(join(root, ...parts)).catch(() => undefined);
  return base !== undefined && file?.startsWith(base + sep) === true ? file : undefined;
}

/** What lies in a folder of finished files, as a page of links. Nothing hidden, and nothing that leads out of the root. */
export function listRoute(root: string): RequestHandler {
  return async (request, response, next) => {
    const { path = [] } = request.params;
    const parts = (Array.isArray(path) ? path : [path]).filter((part) => part !== '');
    const folder = parts.length === 0 ? root : await fileInside(root, parts);
    const entries =
      folder === undefined ? undefined : await readdir(folder, { withFileTypes: true }).catch(() => undefined);
    if (entries === undefined) return next();
    const [here = '', query] = request.originalUrl.split('?', 2);
    if (!here.endsWith('/')) {
      const name = encodeURIComponent(parts.at(-1) ?? here.slice(here.lastIndexOf('/') + 1));
      return void response.redirect(302, `${name}/${query === undefined ? '' : `?${query}`}`);
    }
    const shown = entries.filter(({ name }) => !name.startsWith('.'));
    const names = shown.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).toSorted();
    response.setHeader('Content-Security-Policy', 'sandbox');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.type('html').send(listPage([...(parts.length === 0 ? [] : ['../']), ...names]));
  };
}

function listPage(names: readonly string[]): string {
  const links = names.map((name) => {
    const href = name === '../' ? name : `./${name.split('/').map(encodeURIComponent).join('/')}`;
    return `<li><a href="${escapeHtml(href)}">${escapeHtml(name)}</a></li>`;
  });
  return `<!doctype html>\n<meta charset="utf-8">\n<title>Downloads</title>\n<ul>\n${links.join('\n')}\n</ul>\n`;
}

/** Finished files with ranges. Whatever leads out of the download folder, by name or by link, is not there. */
export function fileRoute(root: string): RequestHandler {
  return async (request, response, next) => {
    const { path } = request.params;
    const parts = (Array.isArray(path) ? path : [path ?? '']).flatMap((part) => part.split(/[/\\]/));
    const base = await realpath(root).catch(() => undefined);
    const file = await fileInside(root, parts);
    if (base === undefined || file === undefined) return next();
    // A page among the files must not run as a page of this app.
    response.setHeader('Content-Security-Policy', 'sandbox');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.sendFile(
      file.slice(base.length),
      { root: base, dotfiles: 'deny', acceptRanges: true },
      (error?: Error) => {
        // A client that goes away in the middle is no error of ours.
        if (error !== undefined && !response.headersSent) next();
      },
    );
  };
}
