import * as m from '#messages/state';
import { z } from 'zod';
import type { ApiRoute } from '../../../services/contracts/api.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { toProblem, waitForRenewal, notifySessionRefused } from './call.ts';
import { requestHeaders } from './request-headers.ts';
import { sessionSecret } from './session-secret.ts';
import { parseJson } from '../../../services/contracts/parse-json.ts';

/**
 * Uploads a file and reports its progress from 0 to 1, which `fetch` cannot do.
 * @throws Problem as `call` does; `page.aborted` when `signal` was aborted.
 */
export function upload<Query, Reply>(
  route: ApiRoute<Query, undefined, Reply>,
  file: Blob,
  options: {
    readonly params: Readonly<Record<string, string>>;
    readonly query: Readonly<Record<string, string>>;
    readonly progress: (fraction: number) => void;
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
      const reply = parseJson(request.responseText);
      const parsed = request.status < 300 ? z.safeParse(route.reply, reply) : undefined;
      if (parsed?.success) return resolve(parsed.data);
      if (request.status === 401) {
        void waitForRenewal().then(() => {
          if (sessionSecret.current() === secret) notifySessionRefused();
        });
      }
      reject(toProblem(request.status, reply));
    };
    request.onerror = () => {
      reject(new Problem('page.offline', 0, m.uploadFailed()));
    };
    request.onabort = () => reject(new Problem('page.aborted', 0, m.uploadStopped()));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.open(route.method, `${path}?${new URLSearchParams(query).toString()}`);
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    for (const [name, value] of Object.entries(requestHeaders())) request.setRequestHeader(name, value);
    request.send(file);
  });
}
