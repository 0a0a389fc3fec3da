import { z } from 'zod';
import type { ApiRoute } from '../../../services/contracts/api.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { fromJson, problemFrom, sessionSettled, tellRefused } from './call.ts';
import { sessionSecret } from './session-secret.ts';

/**
 * Sends a file to a route that takes bytes, telling how far it is: from 0 to 1. `fetch` tells nothing of that.
 *
 * @throws Problem as `call` does; `page.aborted` when `signal` stopped it.
 */
export function upload<Query, Reply>(
  route: ApiRoute<Query, undefined, Reply>,
  file: Blob,
  options: {
    readonly params: Readonly<Record<string, string>>;
    readonly query: Readonly<Record<string, string>>;
    readonly progress: (part: number) => void;
    readonly signal: AbortSignal;
  },
): Promise<Reply> {
  const { params, query, progress, signal } = options;
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const secret = sessionSecret.current();
  const request = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    request.upload.onprogress = ({ loaded, total }) => progress(total > 0 ? loaded / total : 0);
    request.onload = () => {
      const reply = fromJson(request.responseText);
      const parsed = request.status < 300 ? z.safeParse(route.reply, reply) : undefined;
      if (parsed?.success) return resolve(parsed.data);
      if (request.status === 401) {
        void sessionSettled().then(() => {
          if (sessionSecret.current() === secret) tellRefused();
        });
      }
      reject(problemFrom(request.status, reply));
    };
    request.onerror = () => {
      reject(new Problem('page.offline', 0, 'The file did not arrive. Is Homeport still running?'));
    };
    request.onabort = () => reject(new Problem('page.aborted', 0, 'The upload was stopped.'));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.open(route.method, `${path}?${new URLSearchParams(query).toString()}`);
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    for (const [name, value] of Object.entries(sessionSecret.headers())) request.setRequestHeader(name, value);
    request.send(file);
  });
}
