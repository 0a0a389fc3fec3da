import { expect, it } from 'vitest';
import { migrations } from '../../../services/downloads/migrations.ts';
import { DownloadStore } from '../../../services/downloads/store/store.ts';
import { SubscriptionStore } from '../../../services/downloads/subscriptions/store.ts';
import { eachDialect } from '../../support/database.ts';

const codes: readonly (readonly [string, string | undefined])[] = [
  ['The disk of the download folder is full: free some space, then retry.', 'disk_full'],
  ['The disk is full: free some space, then retry. (ERROR: x)', 'disk_full'],
  ['The folder for unfinished files cannot be written (EACCES): /data', 'folder_not_writable'],
  ['yt-dlp 2020.01.01 is too old: it must be of 2025.11.12 or later.', 'yt_dlp_missing'],
  ['yt-dlp is missing. Install it on the page Engines.', 'yt_dlp_missing'],
  ['The site did not say within five minutes what is there.', 'unreachable'],
  ['Refusing to fetch internal address "10.0.0.2" for host "nas"', 'internal_address'],
  ['ERROR: [youtube] abc: Video unavailable', 'unavailable'],
  ['The download failed for a reason of our own; see the log.', undefined],
];

/** Sentences of the service, which older versions stored without a code. */
const serviceFailures = [
  ['yt-dlp exited with code 1. Killed by hand', 'engine_exited', { code: '1', line: 'Killed by hand' }],
  ['yt-dlp was stopped by SIGTERM.', 'engine_ended', { signal: 'SIGTERM' }],
  ['ffmpeg couldn’t convert the file: Invalid data', 'conversion_failed', { line: 'Invalid data' }],
  [
    'No manual captions in “de”. The site has manual captions in: en, fr; automatic captions in: en.',
    'no_captions',
    { kind: 'manual', language: 'de', manual: 'en, fr', automatic: 'en' },
  ],
  ['No captions in “de”. The site has none.', 'no_captions', { language: 'de' }],
  ['yt-dlp finished without creating a file.', 'no_file_created', {}],
  ['ERROR: [x] y: Something odd', null, null],
] as const;

/** More than a batch of rows. */
const rowCount = 600;

eachDialect((_name, open) => {
  it('derives the codes of failures that older versions stored as text', async () => {
    const database = await open();
    await database.migrate(migrations.filter(({ name }) => name < '053'));
    const request = JSON.stringify({ type: 'video', quality: 'best', format: 'any', folder: null, prefix: '' });
    const messages = Array.from({ length: rowCount }, (_, index) => codes[index % codes.length]?.[0] ?? '');
    await database.kysely
      .insertInto('downloads')
      .values(
        messages.map((message, index) => ({
          ...{ uid: `d${index}`, position: index, url: `https://a/${index}`, request, state: 'failed', title: 'x' },
          ...{ search: 'x', video_id: 'x', probed: 1, attempts: 1, message, added_ns: '1', created_at: 1 },
        })),
      )
      .execute();
    await database.migrate(migrations);
    const store = new DownloadStore(database.kysely);
    const stored = await Promise.all(
      messages.map(async (_, index) => (await store.find(`d${index}`))?.failure ?? undefined),
    );
    expect(stored).toEqual(messages.map((_, index) => codes[index % codes.length]?.[1]));
  });

  it('derives the codes and parameters of sentences of the service, from which each reader gets a text', async () => {
    const database = await open();
    await database.migrate(migrations.filter(({ name }) => name < '054'));
    const request = JSON.stringify({ type: 'video', quality: 'best', format: 'any', folder: null, prefix: '' });
    await database.kysely
      .insertInto('downloads')
      .values(
        serviceFailures.map(([message], index) => ({
          ...{ uid: `d${index}`, position: index, url: `https://a/${index}`, request, state: 'failed', title: 'x' },
          ...{ search: 'x', video_id: 'x', probed: 1, attempts: 1, message, added_ns: '1', created_at: 1 },
        })),
      )
      .execute();
    await database.migrate(migrations);
    const store = new DownloadStore(database.kysely);
    for (const [index, [message, failure, failureParameters]] of serviceFailures.entries())
      expect(await store.find(`d${index}`)).toMatchObject({ message, failure, failureParameters });
  });

  it('derives the code of a failed check from the missing page, whatever else its message contains', async () => {
    const database = await open();
    await database.migrate(migrations.filter(({ name }) => name < '053'));
    const error = 'ERROR: [generic] Unable to download webpage: HTTP Error 404: Not Found (the account was removed)';
    await database.kysely
      .insertInto('downloads_subscriptions')
      .values({
        ...{ id: 's', url: 'https://a/', name: 'A', request: '{}', enabled: 1, interval_minutes: 60, title_regex: '' },
        ...{ skip_members_only: 0, created_at: 1, next_check: 1, failures: 1, error },
      })
      .execute();
    await database.migrate(migrations);
    expect((await new SubscriptionStore(database.kysely).find('s'))?.failure).toBe('not_found');
  });
});
