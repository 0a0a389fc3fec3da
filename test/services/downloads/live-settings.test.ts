import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { api } from '../../support/api.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { startFixtureSite } from '../../support/fixture-site/site.ts';
import { useRecordedExtractor } from '../../support/recorded-extractor/recorded-extractor.ts';
import { Client, requireEngines } from './rig.ts';

const change = (host: TestHost, values: object): Promise<unknown> =>
  api(host.url('control'), '/api/settings/downloads', { method: 'PATCH', body: JSON.stringify(values) });

describe('a change of settings during a download', () => {
  it('keeps it running, and applies to the next download', async () => {
    await requireEngines();
    await using site = await startFixtureSite();
    await using host = await openTestHost({
      services: [downloads, control],
      environment: { DOWNLOAD_DIR: '' },
    });
    await change(host, { allowPrivateAddresses: true });
    const client = new Client(host.url('downloads'));
    const file = site.hold();
    const running = await client.add(file.url);
    await client.until(running, ({ percent }) => (percent ?? 0) > 5);
    const folder = join(host.dataDir, 'elsewhere');
    mkdirSync(folder);
    const values = {
      ...{ downloadDir: folder, outputTemplate: 'Next %(title)s.%(ext)s', retries: 3, socketTimeout: 20 },
      ...{ mode: 'concurrent', maxConcurrent: 2, ytdlOptions: { windowsfilenames: true }, umask: '022' },
      ...{ corsAllowedOrigins: ['https://app.example.org'], indexable: true },
    };
    expect(await change(host, values)).toEqual({ restarted: [] });
    const next = await client.ended(await client.add(site.url('/single.mp4')));
    expect(next).toMatchObject({ status: 'finished', filename: 'Next single.mp4' });
    expect(existsSync(join(folder, 'Next single.mp4'))).toBe(true);
    expect((await client.until(running, () => true)).status).toBe('downloading');
    const reply = await fetch(`${client.base}/history`, { headers: { origin: 'https://app.example.org' } });
    expect(reply.headers.get('access-control-allow-credentials')).toBe('true');
    expect((await fetch(`${client.base}/download`)).status).toBe(200);
    file.release();
    expect(await client.ended(running)).toMatchObject({ status: 'finished' });
  });

  it('waits for a running download before a setting restarts the service', async () => {
    await using site = await startFixtureSite();
    const environment = { ...useRecordedExtractor(), ALLOW_PRIVATE_ADDRESSES: 'true' };
    await using host = await openTestHost({ services: [downloads, control], environment });
    const client = new Client(host.url('downloads'));
    const file = site.hold();
    const running = await client.add(file.url);
    await client.until(running, ({ percent }) => (percent ?? 0) > 5);
    const waiting = await client.add(site.url('/single.mp4'));
    expect(await change(host, { publicUrl: 'https://media.example.org' })).toEqual({
      restarted: [],
      pending: ['downloads'],
    });
    file.release();
    // The service restarts on another port.
    const waitForEnd = async (uid: string): Promise<string> => {
      for (;;) {
        try {
          const { done } = await new Client(host.url('downloads')).history();
          const record = done.find((entry) => entry.uid === uid);
          if (record !== undefined) return record.status;
        } catch {
          // The service is restarting.
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
    expect([await waitForEnd(running), await waitForEnd(waiting)]).toEqual(['finished', 'finished']);
    // No part of the file is downloaded again.
    expect(site.stats().ranges).toEqual([]);
  });
});
