import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPostgresDatabase } from '../../support/postgres.ts';
import { fakeEngine, openRig, type Rig } from './rig.ts';

const invalidValues: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, '', ' ', 'x', '0', '\0', '\ud800', '\u202e', '../..', 'x'.repeat(20_000)],
  ...[[], [null], [[]], ['x'], {}, { x: 1 }, { toString: 1 }, { __proto__: 1, length: 5 }],
];

const fields = {
  add: [
    ...['url', 'quality', 'download_type', 'codec', 'video_codec', 'format', 'folder', 'custom_name_prefix'],
    ...['playlist_item_limit', 'auto_start', 'split_by_chapters', 'chapter_template', 'sponsorblock'],
    ...['subtitle_language', 'subtitle_mode', 'subtitle_format', 'ytdl_options_presets', 'ytdl_options_preset'],
    ...['ytdl_options_overrides', 'clip_start', 'clip_end'],
  ],
  subscribe: ['url', 'check_interval_minutes', 'title_regex', 'skip_subscriber_only', 'folder'],
  'subscriptions/update': [
    'id',
    'enabled',
    'check_interval_minutes',
    'name',
    'folder',
    'title_regex',
    'skip_subscriber_only',
  ],
  'subscriptions/delete': ['ids'],
  'subscriptions/check': ['ids'],
  start: ['ids'],
  delete: ['ids', 'where'],
  retry: ['id', 'ids'],
  pause: ['ids'],
  resume: ['ids'],
  reorder: ['ids', 'id', 'before', 'after', 'position'],
  'cancel-add': ['x'],
} as const;

describe.each(['sqlite', 'postgres'])('on %s', (dialect) => {
  let rig: Rig;
  const open = new AsyncDisposableStack();
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeport-odd-'));
    open.defer(() => rmSync(folder, { recursive: true }));
    const database = dialect === 'sqlite' ? {} : { HOMEPORT_DATABASE_URL: open.use(await openPostgresDatabase()).url };
    const entries = [{ id: '2', title: 'One', url: 'http://127.0.0.1/2' }];
    const engine = fakeEngine(
      folder,
      `echo '${JSON.stringify({ _type: 'playlist', id: '1', title: 'List', entries })}'`,
    );
    rig = open.use(await openRig({ environment: { ...database, ...engine, ALLOW_YTDL_OPTIONS_OVERRIDES: 'true' } }));
    await rig.client.post('/pause', {});
  });
  afterAll(async () => await open.disposeAsync());

  it.each(Object.entries(fields))(
    'responds on /%s to any field values',
    async (route, names) => {
      const { id = '' } = (await rig.client.get<readonly { id: string }[]>('/subscriptions'))[0] ?? {};
      const send = async (name: string, value: unknown, count: number): Promise<void> => {
        const usual = {
          url: `http://127.0.0.1/${route}/${name}/${count}`,
          quality: 'best',
          where: 'queue',
          ids: ['x'],
          id,
        };
        const body = JSON.stringify({ ...usual, [name]: value });
        const reply = await fetch(`${rig.client.base}/${route}`, { method: 'POST', body });
        const text = await reply.text();
        expect([200, 400, 409], `${name}: ${JSON.stringify(value).slice(0, 100)}: ${text}`).toContain(reply.status);
        expect(JSON.parse(text)).toMatchObject({ status: expect.stringMatching(/^(ok|error)$/) as string });
      };
      for (const name of names)
        await Promise.all(invalidValues.map(async (value, count) => await send(name, value, count)));
      // The stored options can be returned.
      for (const path of ['/history', '/status', '/subscriptions', '/downloads']) {
        expect((await fetch(rig.client.base + path)).status).toBe(200);
      }
      expect(rig.host.log.filter((line) => / error /i.test(line))).toEqual([]);
    },
    120_000,
  );
});
