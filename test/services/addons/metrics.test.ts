import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { needs } from '../../support/requirements.ts';
import { toolPath } from '../../support/tools.ts';
import { alphaStreams, openFakeAddon, sendJson } from './fake-addon.ts';
import { hashes, openTorBox } from './fake-stores.ts';
import { buildConfig, customPreset, getJson, makeUser, openAddonsHost, fetchStreams } from './rig.ts';

needs('promtool');

const promtool = toolPath('promtool');

it('provides metrics of requests, durations and failures that promtool accepts', async () => {
  await using torBox = await openTorBox();
  await using up = await openFakeAddon({
    streams: [{ infoHash: hashes.cached, title: 'A.2019.1080p.mkv' }, ...alphaStreams],
  });
  await using bad = await openFakeAddon({
    answer: (request, response) => {
      if (request.url?.includes('/stream/') === true) sendJson(response, {}, 500);
      return response.headersSent;
    },
  });
  await using host = await openAddonsHost({ PROVIDER_H_BASE_URL: torBox.url });
  const services = [{ id: 'torbox', enabled: true, credentials: { apiKey: 'TBKEY' } }];
  const presets = [customPreset('u1', 'Up', up.manifestUrl), customPreset('b1', 'Bad', bad.manifestUrl)];
  const { base } = await makeUser(host, buildConfig(presets, { services }));
  await getJson(`${base}/manifest.json`);
  const [stream] = await fetchStreams(base);
  await fetchStreams(base);
  await fetch(stream.url, { redirect: 'manual' });
  const wrong = buildConfig(presets, { services: [{ ...services[0], credentials: { apiKey: 'WRONG' } }] });
  await fetchStreams((await makeUser(host, wrong)).base, 'movie/tt2');

  const reply = await fetch(`${host.url('addons')}/metrics`);
  expect(reply.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const page = await reply.text();
  const value = (series: string): number =>
    Number(
      page
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.slice(series.length + 1),
    );
  expect(value('addons_requests_total{resource="stream"}')).toBe(3);
  expect(value('addons_requests_total{resource="manifest"}')).toBe(1);
  expect(value('addons_cache_total{result="hit"}')).toBeGreaterThan(0);
  expect(value('addons_cache_total{result="miss"}')).toBeGreaterThan(0);
  expect(value('addons_cache_entries')).toBeGreaterThan(0);
  expect(value('addons_upstream_seconds_count{addon="127.0.0.1",resource="stream"}')).toBeGreaterThan(1);
  expect(value('addons_upstream_failures_total{addon="127.0.0.1",reason="status"}')).toBeGreaterThan(0);
  expect(value('addons_provider_seconds_count{provider="torbox"}')).toBeGreaterThan(0);
  expect(value('addons_provider_failures_total{provider="torbox",reason="UNAUTHORIZED"}')).toBeGreaterThan(0);
  expect(value('addons_plays_total{provider="torbox",outcome="played"}')).toBe(1);
  const { stdout, stderr, status } = spawnSync(promtool, ['check', 'metrics'], { input: page, encoding: 'utf8' });
  expect([status, `${stdout}${stderr}`]).toEqual([0, '']);
});
