import { Router, type Response } from 'express';
import { Problem } from '../../contracts/problem.ts';
import type { Cookies } from '../cookies/cookies.ts';
import { badCookies } from '../cookies/netscape.ts';
import { readUpload } from './cookie-upload.ts';

/** The peer's routes for cookies; its errors are 400 with `status` and `msg`. */
export function cookieRoutes(cookies: Cookies): Router {
  const router = Router();
  router.get('/cookie-status', async (_request, response) => {
    response.json({ status: 'ok', has_cookies: (await cookies.status()).present });
  });
  router.post('/upload-cookies', async (request, response) => {
    await answer(response, async () => {
      const { text, bytes } = await readUpload(request);
      await cookies.take(text);
      return { msg: `Cookies uploaded (${bytes} bytes)` };
    });
  });
  router.post('/delete-cookies', async (_request, response) => {
    await answer(response, async () => {
      if (!(await cookies.remove())) throw badCookies('No uploaded cookies to delete');
      return {};
    });
  });
  return router;
}

async function answer(response: Response, work: () => Promise<object>): Promise<void> {
  try {
    response.json({ status: 'ok', ...(await work()) });
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 400) throw error;
    response.status(400).json({ status: 'error', msg: error.detail });
  }
}
