import { expect, it } from 'vitest';
import { Activity } from '../../../services/addons/activity.ts';
import { AddonOverview } from '../../../services/contracts/addons/api.ts';
import { api } from '../../support/api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { alphaStreams, openFakeAddon, sendJson } from './fake-addon.ts';
import { buildConfig, customPreset, makeUser, openAddonsHost, fetchStreams } from './rig.ts';

it('shows the last response of each addon', async () => {
  let broken = true;
  await using fine = await openFakeAddon({ streams: alphaStreams });
  await using moody = await openFakeAddon({
    streams: [],
    answer(request, response) {
      if (!broken || request.url?.includes('/stream/') !== true) return false;
      sendJson(response, { error: 'x' }, 500);
      return true;
    },
  });
  await using host = await openAddonsHost();
  const presets = [customPreset('f', 'Fine', fine.manifestUrl), customPreset('m', 'Moody', moody.manifestUrl)];
  const { base } = await makeUser(host, buildConfig(presets));
  const overview = async () => AddonOverview.parse(await api<unknown>(host.url('control'), '/api/addons/overview'));
  expect(await overview()).toMatchObject({ lists: 0, addons: [] });
  await fetchStreams(base);
  const byName = async () => Object.fromEntries((await overview()).addons.map((addon) => [addon.name, addon]));
  expect(await byName()).toMatchObject({
    Fine: { error: null, streams: alphaStreams.length },
    Moody: { error: expect.stringContaining('Moody'), streams: 0, ms: null },
  });
  broken = false;
  await fetchStreams(base, 'movie/tt0068646');
  expect(await byName()).toMatchObject({ Moody: { error: null, streams: 0 } });
  expect(await overview()).toMatchObject({ lists: 2, configurations: 1 });
});

it('counts the requests of the last day and shows the last time', async () => {
  const clock = createFakeClock(Date.now());
  await using fine = await openFakeAddon({ streams: alphaStreams });
  await using host = await openAddonsHost({}, { clock });
  const { base } = await makeUser(host, buildConfig([customPreset('f', 'Fine', fine.manifestUrl)]));
  const overview = async () => AddonOverview.parse(await api<unknown>(host.url('control'), '/api/addons/overview'));
  const requestedAt = clock.now();
  await fetchStreams(base);
  expect(await overview()).toMatchObject({ since: requestedAt, lists: 1, lastListAt: requestedAt });
  expect((await overview()).hours.map(({ lists }) => lists)).toEqual([...Array<number>(23).fill(0), 1]);
  clock.set(requestedAt + 25 * 60 * 60 * 1000);
  const later = await overview();
  expect(later).toMatchObject({ since: requestedAt, lists: 0, lastListAt: requestedAt });
  // The same hours a day earlier: not counted before the start, then the hour of the request.
  expect(later.previousHours.filter((lists) => lists !== null)).toEqual([1, 0]);
});

it('shows requests and players of each configuration', async () => {
  await using fine = await openFakeAddon({ streams: alphaStreams });
  await using host = await openAddonsHost();
  const callApi = (path: string, body?: object) =>
    api<any>(host.url('control'), `/api/addons/${path}`, body && { method: 'POST', body: JSON.stringify(body) });
  const config = buildConfig([customPreset('f', 'Fine', fine.manifestUrl)]);
  const profile = await callApi('profiles', { config });
  await callApi('profiles', { config });
  expect(profile.asked).toEqual({ lists: 0, lastAt: null, players: [] });
  const list = async (player: string): Promise<void> => {
    const streamUrl = `${host.url('addons')}${profile.installPath.replace('manifest.json', 'stream/movie/tt0111161.json')}`;
    await (await fetch(streamUrl, { headers: { 'User-Agent': player } })).text();
  };
  for (const player of ['Stremio/5', 'Kodi/21', 'Stremio/5']) await list(player);
  const { profiles } = await callApi('profiles');
  const activities = profiles.map(({ asked: { lists, players } }: any) => [
    lists,
    players.map((entry: any) => entry.userAgent),
  ]);
  expect(activities).toEqual(
    expect.arrayContaining([
      [3, ['Stremio/5', 'Kodi/21']],
      [0, []],
    ]),
  );
});

it('counts all requests of a day without a limit', () => {
  const clock = createFakeClock(Date.now());
  const activity = new Activity(clock);
  for (let count = 0; count < 12_000; count += 1) {
    clock.advance(1000);
    activity.recordPlay();
  }
  expect(activity.getOverview().plays).toBe(12_000);
  clock.advance(21 * 60 * 60 * 1000);
  expect(activity.getOverview().plays).toBeLessThan(12_000);
  clock.advance(4 * 60 * 60 * 1000);
  expect(activity.getOverview().plays).toBe(0);
});
