import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { RequestHandler } from 'express';

/** Finished files with ranges. Whatever leads out of the download folder, by name or by link, is not there. */
export function fileRoute(root: string): RequestHandler {
  return async (request, response, next) => {
    const { path } = request.params;
    const parts = (Array.isArray(path) ? path : [path ?? '']).flatMap((part) => part.split(/[/\\]/));
    if (parts.some((part) => part === '' || part === '..' || part.startsWith('.') || part.includes('\0')))
      return next();
    const base = await realpath(root).catch(() => undefined);
    const file = await realpath(join(root, ...parts)).catch(() => undefined);
    if (base === undefined || file?.startsWith(base + sep) !== true) return next();
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
