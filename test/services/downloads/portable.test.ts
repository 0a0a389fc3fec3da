import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Vault } from '../../../services/contracts/service.ts';
import { openDatabase as openAt } from '../../../main/host/database/open.ts';
import { createPortable } from '../../../services/downloads/portable/portable.ts';
import { Settings } from '../../../services/downloads/settings.ts';
import { migrations } from '../../../services/downloads/migrations.ts';
import { SubscriptionStore } from '../../../services/downloads/subscriptions/store.ts';
import { createFakeClock } from '../../support/clock.ts';
import { eachDialect } from '../../support/database.ts';
import { silentLog } from '../../support/database-location.ts';
import { openRig } from './rig.ts';

const settings = Settings.parse({ ytdlPresets: { slow: { ratelimit: 100_000 } }, allowOptionsOverrides: true });

/** Vault whose seals differ from their content and are bound to a purpose. */
const vault: Vault = {
  seal: (text, purpose) => `sealed:${purpose}:${Buffer.from(text).toString('hex')}`,
  open: (sealed, purpose) => Buffer.from(sealed.replace(`sealed:${purpose}:`, ''), 'hex').toString(),
  fingerprint: (text, purpose) => createHash('sha256').update(`${purpose} ${text}`).digest('hex'),
};

const subscriptions = [
  {
    ...{ url: 'https://a.example/feed', name: 'A 🎬', enabled: true, check_interval_minutes: 30 },
    ...{ title_regex: '(?i)news', skip_subscriber_only: true, download_type: 'video', codec: 'h264', format: 'mp4' },
    ...{ quality: '720', folder: 'shows', custom_name_prefix: 'x', playlist_item_limit: 5, auto_start: false },
    ...{ split_by_chapters: true, sponsorblock: true, chapter_template: '%(section_title)s.%(ext)s' },
    ...{ subtitle_language: 'de', subtitle_mode: 'auto_only', clip_start: 10, clip_end: 20 },
    ...{ ytdl_options_presets: ['slow'], ytdl_options_overrides: { retries: 3 } },
  },
  {
    ...{ url: 'https://b.example/feed', name: 'B', enabled: false, check_interval_minutes: 60 },
    ...{ title_regex: '', skip_subscriber_only: false, download_type: 'audio', codec: 'auto', format: 'mp3' },
    ...{ quality: '320', folder: null, custom_name_prefix: '', playlist_item_limit: 0, auto_start: true },
    ...{ split_by_chapters: false, sponsorblock: false, chapter_template: settings.chapterTemplate },
    ...{ subtitle_language: 'en', subtitle_mode: 'prefer_manual', clip_start: null, clip_end: null },
    ...{ ytdl_options_presets: [], ytdl_options_overrides: {} },
  },
];

eachDialect((_name, openDatabase) => {
  const opened = async () => {
    const database = await openDatabase();
    await database.migrate(migrations);
    const parts = { clock: createFakeClock(1000), commit: database.commit, db: database.kysely, vault };
    return { portable: createPortable(parts, settings), store: new SubscriptionStore(database.kysely) };
  };

  it('exports limits and subscriptions with the configuration', async () => {
    const { portable } = await opened();
    const empty = { limits: { speed: null, hours: [] }, subscriptions: [] };
    expect(await portable.export({ secrets: false })).toEqual(empty);
    const settings = { limits: { speed: 250_000, hours: ['mon-fri 23:00-06:00'] }, subscriptions };
    await portable.import(settings);
    expect(await portable.export({ secrets: false })).toEqual(settings);
    // Omitted values remain unchanged.
    await portable.import({});
    expect(await portable.export({ secrets: true })).toEqual(settings);
  });

  it('replaces the existing subscriptions by an import and keeps seen entries', async () => {
    const { portable, store } = await opened();
    await portable.import({ subscriptions });
    const [first] = await store.list();
    await store.markSeen(first?.id ?? '', ['1', '2']);
    await store.change(first?.id ?? '', { lastChecked: 900 });
    await portable.import({ subscriptions: [{ ...subscriptions[0], name: 'Anew' }] });
    expect(await store.list()).toMatchObject([{ id: first?.id, name: 'Anew', seen: 2, lastChecked: 900 }]);
  });

  it('exports tokens in queries sealed, or unencrypted on request, and imports both', async () => {
    const fullUrl = 'https://c.example/feed?list=1&token=s3cret';
    const { portable, store } = await opened();
    await portable.import({ subscriptions: [{ url: fullUrl, quality: 'best' }] });
    const [displayedUrl] = (await store.list()).map(({ url }) => url);
    expect(displayedUrl).toMatch(/^https:\/\/c\.example\/feed\?list=1&token=~[0-9a-f]{12}$/);
    const sealed = await portable.export({ secrets: false });
    expect(JSON.stringify(sealed)).not.toContain('s3cret');
    expect(await portable.export({ secrets: true })).toMatchObject({ subscriptions: [{ url: fullUrl }] });
    const other = await opened();
    await other.portable.import(sealed);
    expect(await other.portable.export({ secrets: true })).toMatchObject({ subscriptions: [{ url: fullUrl }] });
  });

  it('exports logins sealed, or unencrypted on request', async () => {
    const { portable, store } = await opened();
    await portable.import({ subscriptions: [{ url: 'https://ada:pw@c.example/feed', quality: 'best' }] });
    expect(await store.list()).toMatchObject([{ url: 'https://c.example/feed', name: 'https://c.example/feed' }]);
    const sealed = await portable.export({ secrets: false });
    expect(JSON.stringify(sealed)).not.toContain('pw@');
    const withPassword = { subscriptions: [{ url: 'https://ada:pw@c.example/feed' }] };
    expect(await portable.export({ secrets: true })).toMatchObject(withPassword);
    await portable.import({ subscriptions: [] });
    await portable.import(sealed);
    expect(await portable.export({ secrets: true })).toMatchObject(withPassword);
  });

  it.each([
    [{ limits: { speed: 'fast' } }, 'limits.speed'],
    [{ subscriptions: 'none' }, 'subscriptions'],
    [{ subscriptions: [{ ...subscriptions[0], url: 'file:///etc/passwd' }] }, 'subscriptions.0'],
    [{ subscriptions: [{ ...subscriptions[0], folder: '../x' }] }, 'subscriptions.0'],
    [{ subscriptions: [subscriptions[1], { ...subscriptions[0], title_regex: '(' }] }, 'subscriptions.1'],
    [{ subscriptions: [{ ...subscriptions[0], ytdl_options_overrides: { exec: 'rm' } }] }, 'subscriptions.0'],
    [{ subscriptions: [{ ...subscriptions[0], chapter_template: '/etc/%(title)s' }] }, 'subscriptions.0'],
  ])('refuses an invalid $1 and imports nothing', async (data, field) => {
    const { portable, store } = await opened();
    const refused = { code: 'downloads.bad_import', fields: { [field]: expect.any(String) as string } };
    await expect(portable.import(data)).rejects.toMatchObject(refused);
    expect(await store.list()).toEqual([]);
  });
});

describe('an imported subscription', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'homeport-import-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  it('marks existing videos as seen at the first check, and queues later ones', async () => {
    await using rig = await openRig({ dataDir });
    const url = rig.site.publish('Moved', ['Moved 2', 'Moved 1']);
    await using database = await openAt({ folder: join(dataDir, 'downloads'), schema: '', log: silentLog });
    const parts = { clock: createFakeClock(0), commit: database.commit, db: database.kysely, vault };
    await createPortable(parts, settings).import({ subscriptions: [{ url, quality: 'best', auto_start: false }] });
    await rig.client.post('/subscriptions/check', {});
    expect(await rig.client.get('/subscriptions')).toMatchObject([{ seen_count: 2, error: null }]);
    rig.site.publish('Moved', ['Moved 3', 'Moved 2', 'Moved 1']);
    await rig.client.post('/subscriptions/check', {});
    expect((await rig.client.history()).pending.map(({ title }) => title)).toEqual(['Moved 3']);
  });
});
