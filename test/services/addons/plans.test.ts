import { expect, it, vi } from 'vitest';
import { registry } from '../../../main/host/services/registry.ts';
import { addons } from '../../../services/addons/index.ts';
import { api } from '../../support/api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { openTestHost } from '../../support/host.ts';
import { createProbe } from '../notify/support.ts';
import { openRealDebrid } from './fake-stores.ts';
import { buildConfig } from './rig.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** End of the plan of the fake account. */
const endsAt = Date.UTC(2030, 0, 1);

it('reads the plan of each account and notifies a week and a day before its end, and after it', async () => {
  const clock = createFakeClock(endsAt - 30 * dayMs);
  await using realDebrid = await openRealDebrid();
  const { descriptor, offers } = createProbe(['notices']);
  await using host = await openTestHost({
    clock,
    services: [descriptor, addons, ...registry.filter(({ id }) => id === 'control')],
    environment: { PROVIDER_A_BASE_URL: realDebrid.url },
  });
  const callApi = (path: string, body?: object) =>
    api<any>(host.url('control'), `/api/addons/${path}`, body && { method: 'POST', body: JSON.stringify(body) });
  const services = [{ id: 'realdebrid', enabled: true, credentials: { apiKey: 'RDKEY' } }];
  await callApi('profiles', { config: buildConfig([], { services }) });
  await callApi('profiles', { config: buildConfig([], { services }) });
  const countReads = (): number => realDebrid.requests.filter(({ path }) => path.endsWith('/user')).length;
  const goTo = async (time: number, reads: number): Promise<void> => {
    // Only the last hour runs: timers of days would take minutes.
    clock.set(time - hourMs);
    clock.advance(hourMs);
    await vi.waitFor(() => expect(countReads()).toBe(reads), 10_000);
  };

  await goTo(endsAt - 30 * dayMs + hourMs, 1);
  await vi.waitFor(async () =>
    expect((await callApi('providers')).plans).toEqual([{ name: 'Real-Debrid', plan: 'premium', endsAt }]),
  );
  expect(offers.notices.size).toBe(0);

  const notifications = (): readonly string[] => [...offers.notices.values()].map(({ notice }) => notice.title ?? '');
  await goTo(endsAt - 6 * dayMs, 2);
  await vi.waitFor(() => expect(notifications()).toEqual(['Real-Debrid: plan ends soon']), 10_000);
  await goTo(endsAt - 5 * dayMs, 3);
  await goTo(endsAt - dayMs / 2, 4);
  await vi.waitFor(() => expect(notifications()).toHaveLength(2), 10_000);
  await goTo(endsAt + dayMs, 5);
  await vi.waitFor(() => expect(notifications().at(-1)).toBe('Real-Debrid: plan ended'), 10_000);
  expect([...offers.notices.values()].at(-1)?.notice).toMatchObject({ source: 'addons', type: 'warning' });
}, 60_000);
