import { z } from 'zod';
import { renderMarkdown } from '../domain/markdown.ts';
import { largestFile, mostFiles } from '../issues/attachments.ts';
import { bodyOf, bytesOf, ok, optional, type Route } from './call.ts';
import { reactions } from './issues/reactions.ts';
import { defaultLimit, mostItems } from './paging.ts';

/** The peer whose API this is, since clients compare the number. */
export const peerVersion = '1.27.1';

const largestText = 4 * 1024 * 1024;
const markdownBody = z.object({ Text: optional(z.string()), text: optional(z.string()) });

/** What belongs to nobody. */
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
        max_response_items: mostItems,
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
        ...{ mirrors_disabled: true, http_git_disabled: false, migrations_disabled: false },
        ...{ stars_disabled: false, time_tracking_disabled: false, lfs_disabled: false },
      }),
  },
  {
    method: 'GET',
    path: '/settings/attachment',
    scope: 'misc',
    handle: async () =>
      ok({ enabled: true, allowed_types: '*/*', max_files: mostFiles, max_size: largestFile / 1024 / 1024 }),
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
      const text = path === '/markup' ? (await bodyOf(call, markdownBody)).Text : undefined;
      const body = text ?? (path === '/markup' ? '' : (await bytesOf(call.request, largestText)).toString());
      return { status: 200, text: renderMarkdown(body), headers: { 'Content-Type': 'text/html; charset=utf-8' } };
    },
  })),
  {
    method: 'POST',
    path: '/markdown',
    scope: 'misc',
    handle: async (call) => {
      const { Text, text } = await bodyOf(call, markdownBody);
      return {
        status: 200,
        text: renderMarkdown(Text ?? text ?? ''),
        headers: { 'Content-Type': 'text/html; charset=utf-8' },
      };
    },
  },
];
