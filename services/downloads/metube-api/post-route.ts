import type { Route } from '../../kit/http/listener.ts';
import { jsonReply } from '../../kit/http/respond.ts';
import { readBody, type RequestBody } from './request-body.ts';

/** Builds a route that reads an object and answers with one. */
export function postRoute(path: string, handle: (body: RequestBody) => Promise<object>): Route {
  return {
    method: 'POST',
    path,
    handle: async ({ request }) => jsonReply(200, await handle(await readBody(request))),
  };
}
