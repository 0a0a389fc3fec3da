import { implement, type ApiHandler } from '../../contracts/api.ts';
import { downloadCookiesApi } from '../../contracts/downloads/cookies.ts';
import type { Cookies } from '../cookies/cookies.ts';

/** Returns the handlers for cookies. */
export function createCookieHandlers(cookies: Cookies): readonly ApiHandler[] {
  return [
    implement(downloadCookiesApi.status, async () => await cookies.status()),
    implement(downloadCookiesApi.upload, async ({ body }) => await cookies.replace(body.text)),
    implement(downloadCookiesApi.remove, async () => {
      await cookies.remove();
      return await cookies.status();
    }),
  ];
}
