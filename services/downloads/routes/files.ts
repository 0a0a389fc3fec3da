import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { RequestHandler } from 'express';

/** Real path of what lies below the root by these names; undefined for what is not there, hidden, or led out of it. */
export async function fileInside(root: string, parts: readonly string[]): Promise<string | undefined> {
  if (parts.some((part) => part === '' || part === '..' || part.startsWith('.') || part.includes('\0')))
    return undefined;
  const base = await realpath(root).catch(() => undefined);
  const file = await realpath(join(root, ...parts)).catch(() => undefined);
  return base !== undefined && file?.startsWith(base + sep) === true ? file : undefined;
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
