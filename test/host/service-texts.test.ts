import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { getLocale } from '../../messages/language.ts';
import { loadLanguage } from '../../messages/runtime.ts';
import { Problem } from '../../services/contracts/problem.ts';
import { defineService, type ServiceDescriptor } from '../../services/contracts/service.ts';
import type { Health } from '../../services/contracts/health.ts';
import { control } from '../../services/control/index.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../support/host.ts';

let failure: Problem | undefined;
let health: () => Health;
let host: TestHost;
/** Steps of the life cycle, each with the locale in which it ran. */
const steps: string[] = [];

const lamp: ServiceDescriptor = defineService({
  id: 'lamp',
  title: getLocale,
  summary: () => `summary ${getLocale()}`,
  settings: z.object({}),
  environment: {},
  migrations: [],
  grantable: [{ service: 'lamp', title: getLocale, example: '*' }],
  pulse: { counter: 'lamp_total', total: ({ count }) => `${String(count)} in ${getLocale()}` },
  listeners: [{ name: 'http', title: 'Lamp', protocol: 'http', port: 0 }],
  create() {
    steps.push(`create ${getLocale()}`);
    return {
      start() {
        steps.push(`start ${getLocale()}`);
        return failure === undefined ? Promise.resolve() : Promise.reject(failure);
      },
      health: () => Promise.resolve(health()),
      [Symbol.asyncDispose]() {
        steps.push(`stop ${getLocale()}`);
        return Promise.resolve();
      },
    };
  },
});

beforeEach(() => {
  failure = undefined;
  health = () => ({ state: 'up', detail: getLocale });
});
afterEach(() => host[Symbol.asyncDispose]());

async function open(): Promise<void> {
  host = await openTestHost({ services: [lamp, control] });
}

async function readLamp(language: string): Promise<unknown> {
  const headers = { Authorization: adminAuthorization, 'Accept-Language': language };
  const response = await fetch(`${host.url('control')}/api/services`, { headers });
  const { services } = (await response.json()) as { services: { id: string }[] };
  return services.find(({ id }) => id === 'lamp');
}

describe('the state of a service', () => {
  it('has the texts of the manifest and the health in the language of each request', async () => {
    await open();
    for (const language of ['en-GB', 'en-IE', 'en-GB']) {
      expect(await readLamp(language)).toMatchObject({
        state: 'up',
        title: language,
        summary: `summary ${language}`,
        detail: language,
        grantable: [{ title: language }],
      });
    }
  });

  it('has the reason of a failed start in the language of each request', async () => {
    failure = new Problem('lamp.dark', 500, () => `dark ${getLocale()}`);
    await open();
    expect(await readLamp('en-GB')).toMatchObject({ state: 'failed', reason: 'dark en-GB' });
    expect(await readLamp('en-IE')).toMatchObject({ state: 'failed', reason: 'dark en-IE' });
  });

  it('comes from a life cycle outside of the request that restarts the service', async () => {
    await open();
    steps.length = 0;
    await fetch(`${host.url('control')}/api/services/lamp/restart`, {
      method: 'POST',
      headers: { Authorization: adminAuthorization, 'Accept-Language': 'en-IE' },
    });
    expect(steps).toEqual(['stop en', 'create en', 'start en']);
    await fetch(`${host.url('control')}/api/settings/lamp`, {
      method: 'PATCH',
      headers: { Authorization: adminAuthorization, 'Accept-Language': 'en-IE', 'Content-Type': 'application/json' },
      body: JSON.stringify({ enabled: false }),
    });
    expect(steps).toEqual(['stop en', 'create en', 'start en', 'stop en']);
  });

  it('has the errors in its settings in the language of each request', async () => {
    await loadLanguage('de');
    host = await openTestHost({ services: [lamp, control], environment: { HOMEPORT_PORT_LAMP: 'first' } });
    const readReason = async (language: string) => ((await readLamp(language)) as { reason: string }).reason;
    const [english, german] = [await readReason('en'), await readReason('de')];
    expect(german).not.toBe(english);
    expect(await readReason('en')).toBe(english);
  });

  it('has a text that the service evaluated in the language of the host, regardless of the request', async () => {
    health = () => ({ state: 'degraded', detail: getLocale() });
    await open();
    const reason = (await readLamp('en-IE')) as { reason: string };
    expect(reason.reason).not.toBe('en-IE');
    expect(await readLamp('en-GB')).toMatchObject({ reason: reason.reason });
  });

  it('has the total of its activity in the language of the request', async () => {
    await open();
    const headers = { Authorization: adminAuthorization, 'Accept-Language': 'en-GB' };
    const response = await fetch(`${host.url('control')}/api/overview`, { headers });
    const { pulses } = (await response.json()) as { pulses: { service: string; total: string }[] };
    expect(pulses.find(({ service }) => service === 'lamp')?.total).toBe('0 in en-GB');
  });
});
