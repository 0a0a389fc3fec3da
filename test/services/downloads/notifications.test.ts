import { findFailureCode } from '../../../services/downloads/domain/engine-messages.ts';
import { getFailureCause } from '../../../services/contracts/downloads/causes.ts';
import { rmSync } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { downloads } from '../../../services/downloads/index.ts';
import { findFailureKind } from '../../../services/downloads/domain/engine-messages.ts';
import { createProbe, type Offers } from '../notify/support.ts';
import { dataFolderWith, fakeEngine, openRecordedRig, type Rig } from './rig.ts';

let rig: Rig;
let offers: Offers;
let dataDir: string;
beforeEach(async () => {
  dataDir = dataFolderWith({ retries: 0 });
  await start();
});

async function start(environment: Record<string, string> = {}): Promise<void> {
  const probe = createProbe(['notices']);
  offers = probe.offers;
  const services = [probe.descriptor, downloads];
  rig = await openRecordedRig({ services, dataDir, environment: { DOWNLOAD_MODE: 'sequential', ...environment } });
}
afterEach(async () => {
  await rig[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true });
});

const listMessages = (): readonly string[] =>
  [...offers.notices.values()].map(({ notice }) => `${notice.title}: ${notice.body} [${notice.tags.join(' ')}]`);

/** Returns the metrics of the service by name and labels. */
async function metrics(): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${rig.client.base}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.replace(/ \S+$/, ''), Number(/\S+$/.exec(line)?.[0])]));
}

it('sends a notification of a finished download with tags, link and thumbnail', async () => {
  await rig.client.ended(await rig.client.add(rig.site.url('/p/og?title=Pictured')));
  await vi.waitFor(
    () => expect(listMessages()).toEqual(['Pictured: Download finished [downloads download.finished]']),
    15_000,
  );
  const [offer] = [...offers.notices.values()];
  expect(offer?.notice).toMatchObject({ type: 'success', link: `${rig.client.base}/download/Pictured.mp4` });
  expect(offer?.files).toMatchObject([{ name: 'Pictured.jpg', type: 'image/jpeg' }]);
  expect(offer?.files?.[0]?.bytes.byteLength).toBeGreaterThan(10_000);
});

it('sends a notification of a failure and of a failed retry, but not of a failure in the response', async () => {
  await rig.client.post('/add', { url: rig.site.url('/s/404'), quality: 'best' });
  const uid = await rig.client.add(rig.site.url('/dead/500000/big.mp4'));
  const { error } = await rig.client.ended(uid);
  // The message is written for users; the row contains the extractor's own message.
  expect(error).toMatch(/^ERROR: /);
  const notifications =
    'big: Download failed: ' +
    `${getFailureCause({ message: error, failure: findFailureCode(error ?? '') }).text} [downloads ` +
    'download.failed]';
  expect(notifications).not.toContain('ERROR');
  await vi.waitFor(() => expect(listMessages()).toEqual([notifications]), 15_000);
  await rig.client.post('/retry', { id: uid });
  await vi.waitFor(() => expect(listMessages()).toHaveLength(2), 15_000);
  const page = await metrics();
  expect(page.get('downloads_finished_total{outcome="failed"}')).toBe(3);
  const reasons = [...page].filter(([name]) => name.startsWith('downloads_failures_total'));
  expect(reasons.reduce((sum, [, value]) => sum + value, 0)).toBe(3);
});

it('sends one notification of a playlist after its last video', async () => {
  await rig.client.post('/pause', {});
  await rig.client.post('/add', { url: rig.site.url('/feed/4.rss?title=Cats'), quality: 'best', format: 'any' });
  const { queue } = await rig.client.history();
  const uids = queue.map(({ uid }) => uid);
  await rig.client.post('/resume', {});
  for (const uid of uids) await rig.client.ended(uid);
  await vi.waitFor(
    () => expect(listMessages()).toEqual(['Cats: Downloads finished: 4 videos [downloads download.finished]']),
    15_000,
  );
  const page = await metrics();
  expect(page.get('downloads_bytes_total')).toBeGreaterThan(4 * 100_000);
  expect(page.get('downloads_duration_seconds_count')).toBe(4);
  await vi.waitFor(async () => {
    const now = await metrics();
    expect([now.get('downloads_active'), now.get('downloads_queued')]).toEqual([0, 0]);
  });
});

it('reports a partly cancelled playlist, but not an empty one', async () => {
  const pending = async (path: string): Promise<readonly string[]> => {
    const fields = { quality: 'best', format: 'any', auto_start: false };
    await rig.client.post('/add', { url: rig.site.url(path), ...fields });
    return (await rig.client.history()).pending.map(({ uid }) => uid);
  };
  await rig.client.post('/delete', { where: 'queue', ids: await pending('/feed/2.rss?title=Birds') });
  const [one = '', two, three = ''] = await pending('/feed/3.rss?title=Dogs');
  for (const uid of [one, three]) {
    await rig.client.post('/start', { ids: [uid] });
    await rig.client.ended(uid);
  }
  expect(listMessages()).toEqual([]);
  await rig.client.post('/delete', { where: 'queue', ids: [two] });
  const notifications = 'Dogs: Downloads finished: 2 videos [downloads download.finished]';
  await vi.waitFor(() => expect(listMessages()).toEqual([notifications]), 15_000);
});

it('sends one notification of the videos of one check', async () => {
  const url = rig.site.publish('Owls', []);
  await rig.client.post('/subscribe', { url, quality: 'best', format: 'any' });
  const notifications = ['Owls: Downloads finished: 3 videos [downloads download.finished]'];
  rig.site.publish('Owls', ['Owl 3', 'Owl 2', 'Owl 1']);
  await rig.client.post('/subscriptions/check', {});
  await vi.waitFor(() => expect(listMessages()).toEqual(notifications), 30_000);
  rig.site.publish('Owls', ['Owl 4', 'Owl 3']);
  await rig.client.post('/subscriptions/check', {});
  notifications.push('Owl 4: Download finished [downloads download.finished]');
  await vi.waitFor(() => expect(listMessages()).toEqual(notifications), 30_000);
});

it('sends separate notifications of manually started videos of a feed', async () => {
  const url = rig.site.publish('Storks', []);
  await rig.client.post('/subscribe', { url, quality: 'best', format: 'any', auto_start: false });
  rig.site.publish('Storks', ['Stork 2', 'Stork 1']);
  await rig.client.post('/subscriptions/check', {});
  const [first] = (await rig.client.history()).pending;
  await rig.client.post('/start', { ids: [first?.uid] });
  const notifications = ['Stork 2: Download finished [downloads download.finished]'];
  await vi.waitFor(() => expect(listMessages()).toEqual(notifications), 30_000);
});

it('sends a notification of a feed that keeps failing', async () => {
  await rig.client.post('/subscribe', { url: rig.site.publish('Broken', []), quality: 'best', format: 'any' });
  rig.site.publish('Broken', undefined);
  for (let time = 0; time < 3; time += 1) await rig.client.post('/subscriptions/check', {});
  await vi.waitFor(
    () => expect(listMessages()).toEqual([expect.stringMatching(/\[downloads subscription\]$/)]),
    15_000,
  );
});

it('reports a playlist whose last open entry is an empty list', async () => {
  await rig[Symbol.asyncDispose]();
  const entries = [1, 2, 3].map((id) => ({
    id: `v${id}`,
    title: `Video ${id}`,
    url: rig.site.url(`/v${id}`),
    duration: 1,
  }));
  const list = { _type: 'url', ie_key: 'YoutubeTab', id: 'tab', title: 'A tab', url: 'http://127.0.0.1/tab' };
  const answer = `for word; do url="$word"; case "$word" in home:*) home="\${word#home:}" ;; esac; done
    case "$*" in
      *" -J "*tab) echo '{"_type": "playlist", "id": "tab", "title": "A tab", "entries": []}' ;;
      *" -J "*) echo '${JSON.stringify({ _type: 'playlist', id: 'top', title: 'Top', entries: [...entries, list] })}' ;;
      *) mkdir -p "$home"; echo video >"$home/v.mp4"; echo "A {\\"filepath\\": \\"$home/v.mp4\\"}" ;;
    esac`;
  await start(fakeEngine(dataDir, answer));
  await rig.client.post('/add', { url: rig.site.url('/top'), quality: 'best', format: 'any' });
  const notifications = ['Top: Downloads finished: 3 videos [downloads download.finished]'];
  await vi.waitFor(() => expect(listMessages()).toEqual(notifications), 30_000);
  expect((await rig.client.history()).queue).toEqual([]);
});

it('counts failures by kind', () => {
  const kinds = {
    'ERROR: unable to write data: [Errno 28] No space left on device': 'disk',
    'Refusing to fetch internal address "10.0.0.1" for host "a"': 'refused',
    'ERROR: [generic] Unable to download webpage: HTTP Error 404: Not Found': 'site',
    'ERROR: [generic] Unable to download webpage: The read operation timed out': 'network',
    'ERROR: [x] 1: Requested format is not available.': 'format',
    'yt-dlp gave no answer. Retry; if that does not help, update yt-dlp.': 'engine',
    'Something new': 'other',
  };
  for (const [message, kind] of Object.entries(kinds)) expect(findFailureKind(message)).toBe(kind);
});
