import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { mayRead, mayWrite } from '../route-access.ts';

/** Maximum size of a cookie file in MeTube, in bytes. */
export const maxCookieFileLength = 1_000_000;

/** Public facts about the stored cookies. Names and values are never returned. */
export const DownloadCookies = z.object({
  present: z.boolean(),
  count: z.int(),
  /** Hosts of the cookies without leading dot, sorted; at most the first 100. */
  sites: z.array(z.string()),
  uploadedAt: z.number().nullable().describe('ms since the epoch'),
});
export type DownloadCookies = z.infer<typeof DownloadCookies>;

/** Routes for the cookies that yt-dlp sends. */
export const downloadCookiesApi = {
  status: defineRoute({
    method: 'GET',
    path: '/api/downloads/cookies',
    summary: 'Returns whether cookies are stored, and for which sites.',
    access: mayRead('downloads'),
    reply: DownloadCookies,
  }),
  upload: defineRoute({
    method: 'PUT',
    path: '/api/downloads/cookies',
    summary: 'Stores a cookie file in the Netscape format, replacing the previous one.',
    access: mayWrite('downloads'),
    body: z.object({ text: z.string().min(1).max(maxCookieFileLength) }),
    reply: DownloadCookies,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: '/api/downloads/cookies',
    summary: 'Deletes the cookies.',
    access: mayWrite('downloads'),
    reply: DownloadCookies,
  }),
};
