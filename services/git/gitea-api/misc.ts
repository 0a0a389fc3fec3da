import { z } from 'zod';
import { renderMarkdown } from '../domain/markdown.ts';
import { maxFileBytes, maxFiles } from '../issues/attachments.ts';
import { readJsonBody, readBytes, ok, optional, type Route } from './call.ts';
import { reactions } from '../issues/reactions.ts';
import { defaultLimit, maxItems } from './paging.ts';

/** Version of Gitea with the same API. Clients compare the number. */
export const peerVersion = '1.27.1';

const maxTextBytes = 4 * 1024 * 1024;
const markdownBody = z.object({ Text: optional(z.string()), text: optional(z.string()) });

/** Routes of the server itself: version, settings and Markdown. */
export const miscRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/version',
    scope: 'misc',
    handle: async () => ok({ version: `${peerVersion}+homeport` }),
  },
  {
    method: 'GET',
    path: '/settings/api',
    scope: 'misc',
    handle: async () =>
      ok({
        max_response_items: maxItems,
        default_paging_num: defaultLimit,
        default_git_trees_per_page: 1000,
        default_max_blob_size: 10_485_760,
        default_max_response_size: 104_857_600,
      }),
  },
  {
    method: 'GET',
    path: '/settings/repository',
    scope: 'misc',
    handle: async () =>
      ok({
        mirrors_disabled: true,
        http_git_disabled: false,
        migrations_disabled: false,
        stars_disabled: false,
        time_tracking_disabled: false,
        lfs_disabled: false,
      }),
  },
  {
    method: 'GET',
    path: '/settings/attachment',
    scope: 'misc',
    handle: async () =>
      ok({ enabled: true, allowed_types: '*/*', max_files: maxFiles, max_size: maxFileBytes / 1024 / 1024 }),
  },
  {
    method: 'GET',
    path: '/settings/ui',
    scope: 'misc',
    handle: async () => ok({ default_theme: 'gitea-auto', allowed_reactions: [...reactions], custom_emojis: [] }),
  },
  ...['/markdown/raw', '/markup'].map((path): Route => ({
    method: 'POST',
    path,
    scope: 'misc',
    handle: async (call) => {
      const text = path === '/markup' ? (await readJsonBody(call, markdownBody)).Text : undefined;
      const body = text ?? (path === '/markup' ? '' : (await readBytes(call.request, maxTextBytes)).toString());
      return { status: 200, text: renderMarkdown(body), headers: { 'Content-Type': 'text/html; charset=utf-8' } };
    },
  })),
  {
    method: 'POST',
    path: '/markdown',
    scope: 'misc',
    handle: async (call) => {
      const { Text, text } = await readJsonBody(call, markdownBody);
      return {
        status: 200,
        text: renderMarkdown(Text ?? text ?? ''),
        headers: { 'Content-Type': 'text/html; charset=utf-8' },
      };
    },
  },
];
