import { addons } from '../../../services/addons/index.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { registry } from '../../../main/host/services/registry.ts';

/** Opens a host with this service only, with the name of the recorded program. */
export async function openAddonsHost(
  environment: Readonly<Record<string, string>> = {},
  options: Pick<NonNullable<Parameters<typeof openTestHost>[0]>, 'clock'> = {},
): Promise<TestHost> {
  return await openTestHost({
    ...options,
    services: [addons, ...registry.filter(({ id }) => id === 'control')],
    environment: {
      ADDON_NAME: 'AIOStreams',
      ADDON_ID: 'com.aiostreams.viren070',
      DISABLE_RATE_LIMITS: 'true',
      ...environment,
    },
  });
}

export const password = 'golden-pass-1';

/** Builds a preset for an addon address. */
export function customPreset(instanceId: string, name: string, manifestUrl: string, options: object = {}): object {
  return { type: 'custom', instanceId, enabled: true, options: { name, manifestUrl, timeout: 1500, ...options } };
}

/** Builds a minimal configuration. */
export function buildConfig(presets: readonly object[], overrides: object = {}): Record<string, unknown> {
  return { presets, sortCriteria: { global: [] }, formatter: { id: 'torrentio' }, services: [], ...overrides };
}

export interface CreatedUser {
  readonly uuid: string;
  readonly encryptedPassword: string;
  /** Base address of the installed addon. */
  readonly base: string;
  readonly manifestUrl: string;
}

/** Creates a configuration as tools of the peer do. */
export async function makeUser(host: TestHost, config: object): Promise<CreatedUser> {
  const url = host.url('addons');
  const response = await fetch(`${url}/api/v1/user`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ config, password }),
  });
  const body = await readJson(response);
  if (response.status !== 201) throw new Error(`not made: ${JSON.stringify(body)}`);
  const { uuid, encryptedPassword } = body.data;
  const base = `${url}/stremio/${uuid}/${encryptedPassword}`;
  return { uuid, encryptedPassword, base, manifestUrl: `${base}/manifest.json` };
}

export async function readJson(response: Response): Promise<any> {
  return await response.json();
}

export async function getJson(url: string, init?: RequestInit): Promise<any> {
  return await readJson(await fetch(url, init));
}

/** Returns the streams of an installed addon. */
export async function fetchStreams(base: string, path = 'movie/tt0111161', init?: RequestInit): Promise<any[]> {
  const { streams } = await getJson(`${base}/stream/${path}.json`, init);
  return streams;
}
