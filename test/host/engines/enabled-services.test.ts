import { describe, expect, it, vi } from 'vitest';
import { serviceChanged, type ServiceState } from '../../../services/contracts/control/api.ts';
import type { EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import { createBus } from '../../../main/host/services/bus.ts';
import { installEnginesOfServices } from '../../../main/host/services/follow-engines.ts';
import type { ServiceRunner } from '../../../main/host/services/service-runner.ts';
import { silentLog } from '../../support/database-location.ts';

type State = ServiceState['state'];

const syncState: ServiceState = {
  id: 'sync',
  title: 'Sync',
  summary: '',
  grantable: [],
  state: 'up',
  detail: '',
  reason: null,
  address: null,
  port: null,
  suggestedPort: null,
  listeners: [],
};

/** Runs the installation with two services, of which `sync` has the given state, and returns the requested engines. */
function follow(sync: State, isAllowed = true) {
  const bus = createBus(silentLog);
  const requests: (readonly string[])[] = [];
  const runner = (id: string, state: State, engines: readonly Pick<EngineSpec, 'name' | 'partOf'>[]) =>
    ({ descriptor: { id, engines }, state: { state } }) as unknown as ServiceRunner;
  const runners = [
    runner('downloads', 'up', [{ name: 'yt-dlp' }, { name: 'ffmpeg' }, { name: 'ffprobe', partOf: 'ffmpeg' }]),
    runner('sync', sync, [{ name: 'rclone' }]),
  ];
  const installMissing = async (names: readonly string[]): Promise<void> => void requests.push([...new Set(names)]);
  const parts = { bus, engines: { installMissing }, log: silentLog, isAllowed: () => isAllowed };
  const following = installEnginesOfServices(parts, runners);
  const report = (state: State): void => bus.publish(serviceChanged, { ...syncState, state });
  return { requests, report, following };
}

describe('installation of missing engines', () => {
  it('includes the engines of enabled services only', () => {
    expect(follow('off').requests).toEqual([['yt-dlp', 'ffmpeg']]);
    expect(follow('up').requests).toEqual([['yt-dlp', 'ffmpeg', 'rclone']]);
  });

  it('includes the engines of a service that is enabled later, once', async () => {
    const { requests, report } = follow('off');
    for (const state of ['starting', 'up', 'degraded'] as const) report(state);
    await vi.waitFor(() => expect(requests.slice(1)).toEqual([['rclone']]));
    for (const state of ['off', 'starting', 'up'] as const) report(state);
    await vi.waitFor(() => expect(requests.slice(1)).toEqual([['rclone'], ['rclone']]));
  });

  it('includes nothing when the settings do not permit it, and releases callers that wait', () => {
    expect(follow('up', false).requests).toEqual([[]]);
  });
});
