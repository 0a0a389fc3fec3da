import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fakeEngine, openRig } from './rig.ts';

const entries = 5000;

let open = new AsyncDisposableStack();
afterEach(async () => {
  const stack = open;
  open = new AsyncDisposableStack();
  await stack.disposeAsync();
});

/** Output of the extractor for a channel: 8 KiB per entry, as with thumbnails and descriptions. */
function hugeAnswer(folder: string): Record<string, string> {
  const videos = Array.from({ length: entries }, (_, index) => ({
    ...{ _type: 'url', ie_key: 'Generic', id: `v${index}`, title: `Episode ${String(index + 1).padStart(3, '0')}` },
    ...{ url: `http://127.0.0.1/${index}`, duration: 60, description: 'ä'.repeat(4000) },
    thumbnails: [{ url: `http://127.0.0.1/${index}.jpg`, width: 320, height: 180 }],
  }));
  const answer = join(folder, 'answer.json');
  writeFileSync(answer, `${JSON.stringify({ _type: 'playlist', id: 'long', title: 'Long', entries: videos })}\n`);
  return fakeEngine(folder, `cat '${answer}'`);
}

describe.each(['that a site lists', 'whose listing is 40 MB long'])(`a playlist of ${entries} videos %s`, (kind) => {
  it('queues a long playlist completely in order, and removes it completely', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeport-long-'));
    open.defer(() => rmSync(folder, { recursive: true, force: true }));
    const environment = kind.includes('MB') ? hugeAnswer(folder) : {};
    const { client, site } = open.use(await openRig({ environment }));
    await client.post('/pause', {});
    const response = await client.post('/add', { url: site.url(`/feed/${entries}.rss?title=Long`), quality: 'best' });
    expect(response.status).toBe('ok');
    const queue = await vi.waitFor(
      async () => {
        const rows = (await client.history()).queue;
        expect(rows).toHaveLength(entries);
        return rows;
      },
      { timeout: 120_000, interval: 500 },
    );
    const numbers = queue.map(({ title }) => Number(/\d+$/.exec(title)?.[0]));
    expect(numbers).toEqual(Array.from({ length: entries }, (_, index) => index + 1));
    expect(await client.get('/status')).toMatchObject({ paused: true, counts: { queued: entries } });
    await client.post('/reorder', { ids: [queue.at(-1)?.uid], position: 'top' });
    expect((await client.order())[0]).toBe(queue.at(-1)?.uid);
    await client.post('/delete', { where: 'queue', ids: queue.map(({ uid }) => uid) });
    expect((await client.history()).queue).toEqual([]);
  }, 240_000);
});
