import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { residentMegabytes, untilIdle } from '../../bench/measure.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { openFakeAddon } from './fake-addon.ts';
import { configOf, customPreset } from './rig.ts';

const requestsEach = 1000;
const rounds = 5;
/** What a heap that is cleaned when it must may be off, MB. */
const slack = 40;

const release = (at: number): object => ({
  name: '[RD+] Up',
  description: `The.Film.${String(1950 + (at % 70))}.1080p.WEB-DL.x264-GRP${String(at)}.mkv\n👤 ${String(at)} 💾 4 GB`,
  url: `http://h.example/${String(at)}`,
});

// An hour of a household that looks at one title after another, without its pauses.
it('thousands of lists, known and new, take no more memory in the end than after the first thousands', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'addons-loop-'));
  try {
    await using up = await openFakeAddon({ streams: Array.from({ length: 200 }, (_, at) => release(at)) });
    await using host = await startHostProcess(folder, { environment: { DISABLE_RATE_LIMITS: 'true' } });
    const config = configOf([customPreset('u', 'Up', up.manifestUrl, { timeout: 30_000 })], {
      excludedStreamExpressions: [{ expression: "quality(streams, 'CAM')" }],
      deduplicator: { enabled: true },
    });
    const reply = await fetch(`${host.url('addons')}/configure`, { method: 'POST', body: JSON.stringify(config) });
    const { data } = (await reply.json()) as { data: { manifestUrl: string } };
    const base = data.manifestUrl.replace('/manifest.json', '/stream/movie/tt');
    const pid = host.child.pid ?? 0;
    const sizes: number[] = [];
    let title = 0;
    for (let round = 0; round < rounds; round += 1) {
      for (let request = 0; request < requestsEach; request += 1) {
        // Every fourth is a title nobody asked for before.
        const id = request % 4 === 0 ? (title += 1) : request % 50;
        const answer = await fetch(`${base}${String(id)}.json`);
        const { length } = await answer.arrayBuffer().then((bytes) => new Uint8Array(bytes));
        if (length < 1000) throw new Error('the list is empty');
      }
      await untilIdle(pid);
      sizes.push(residentMegabytes(pid));
    }
    console.log(
      `resident after each ${String(requestsEach)} requests: ${sizes.map((size) => size.toFixed(0)).join(', ')} MB`,
    );
    // The first rounds fill the caches, which have their bounds.
    expect(Math.max(...sizes.slice(2)) - (sizes[1] ?? 0)).toBeLessThan(slack);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 1_800_000);
