import { Problem } from '../../contracts/problem.ts';
import type { Route } from '../../kit/http/listener.ts';
import { jsonReply, type Reply } from '../../kit/http/respond.ts';
import type { Cookies } from '../cookies/cookies.ts';
import { createCookieProblem } from '../cookies/netscape.ts';
import { readUpload } from './cookie-upload.ts';

/** Routes for cookies of MeTube. Errors are answered with 400, `status` and `msg`. */
export function createCookieRoutes(cookies: Cookies): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/cookie-status',
      handle: async () => jsonReply(200, { status: 'ok', has_cookies: (await cookies.status()).present }),
    },
    {
      method: 'POST',
      path: '/upload-cookies',
      handle: ({ request }) =>
        toReply(async () => {
          const { text, bytes } = await readUpload(request);
          await cookies.replace(text);
          return { msg: `Cookies uploaded (${bytes} bytes)` };
        }),
    },
    {
      method: 'POST',
      path: '/delete-cookies',
      handle: () =>
        toReply(async () => {
          if (!(await cookies.remove())) throw createCookieProblem('No uploaded cookies to delete');
          return {};
        }),
    },
  ];
}

async function toReply(work: () => Promise<object>): Promise<Reply> {
  try {
    return jsonReply(200, { status: 'ok', ...(await work()) });
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 400) throw error;
    return jsonReply(400, { status: 'error', msg: error.detail });
  }
}
