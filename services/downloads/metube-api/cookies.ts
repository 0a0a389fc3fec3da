import { Router, type Response } from 'express';
import { Problem } from '../../contracts/problem.ts';
import type { Cookies } from '../cookies/cookies.ts';
import { createCookieProblem } from '../cookies/netscape.ts';
import { readUpload } from './cookie-upload.ts';

/** Routes for cookies of MeTube. Errors are answered with 400, `status` and `msg`. */
export function createCookieRoutes(cookies: Cookies): Router {
  const router = Router();
  router.get('/cookie-status', async (_request, response) => {
    response.json({ status: 'ok', has_cookies: (await cookies.status()).present });
  });
  router.post('/upload-cookies', async (request, response) => {
    await sendResult(response, async () => {
      const { text, bytes } = await readUpload(request);
      await cookies.replace(text);
      return { msg: `Cookies uploaded (${bytes} bytes)` };
    });
  });
  router.post('/delete-cookies', async (_request, response) => {
    await sendResult(response, async () => {
      if (!(await cookies.remove())) throw createCookieProblem('No uploaded cookies to delete');
      return {};
    });
  });
  return router;
}

async function sendResult(response: Response, work: () => Promise<object>): Promise<void> {
  try {
    response.json({ status: 'ok', ...(await work()) });
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 400) throw error;
    response.status(400).json({ status: 'error', msg: error.detail });
  }
}
