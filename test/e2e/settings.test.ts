import * as hostProblems from '#messages/host-problems';
import * as configProblems from '#messages/config-problems';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withLanguage } from '../../messages/language.ts';
import { loadLanguage } from '../../messages/runtime.ts';
import type { ServiceState } from '../../services/contracts/control/api.ts';
import type { SettingsView } from '../../services/contracts/control/settings.ts';
import { control } from '../../services/control/index.ts';
import { api } from '../support/api.ts';
import { fixtureService } from '../support/fixture-service.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../support/host.ts';
import { startHostProcess } from '../support/host-process.ts';

let dataDir: string;
let file: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'homeport-settings-'));
  file = join(dataDir, 'homeport.yaml');
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const patch = (base: string, section: string, values: unknown): Promise<unknown> =>
  api(base, `/api/settings/${section}`, { method: 'PATCH', body: JSON.stringify(values) });

async function refusal(base: string, section: string, values: unknown): Promise<{ status: number; fields: unknown }> {
  const reply = await fetch(`${base}/api/settings/${section}`, {
    method: 'PATCH',
    headers: { Authorization: adminAuthorization, 'Content-Type': 'application/json' },
    body: JSON.stringify(values),
  });
  const { error } = (await reply.json()) as { error: { fields?: Record<string, string> } };
  return { status: reply.status, fields: error.fields };
}

async function value(host: { url(service: string): string }, section: string, name: string): Promise<unknown> {
  const { sections } = await api<SettingsView>(host.url('control'), '/api/settings');
  return sections.find(({ id }) => id === section)?.fields.find((field) => field.name === name)?.value;
}

/** Words with which a service was started, in order. */
function recorder(id: string): { readonly service: ReturnType<typeof fixtureService>; readonly messages: string[] } {
  const messages: string[] = [];
  const service = fixtureService(id, (_context, { word }) => ({
    start: () => Promise.resolve(void messages.push(word)),
  }));
  return { service, messages };
}

describe('a settings change', () => {
  it('is rejected with the field and changes nothing if it is invalid', async () => {
    const lamp = recorder('lamp');
    await using host = await openTestHost({ dataDir, services: [lamp.service, control] });
    const base = host.url('control');
    const before = await refusal(base, 'lamp', { word: 7 });
    expect(before).toEqual({ status: 422, fields: { 'services.lamp.word': expect.any(String) } });
    expect(await refusal(base, 'lamp', { colour: 'red' })).toEqual({
      status: 422,
      fields: { 'services.lamp.colour': configProblems.settingUnknown() },
    });
    expect(await refusal(base, 'control', { port: 4711 })).toEqual({
      status: 409,
      fields: { 'services.control.port': configProblems.lockedBy({ name: 'HOMEPORT_PORT_CONTROL' }) },
    });
    expect((await refusal(base, 'nothing', {})).status).toBe(404);
    expect((await refusal(base, 'lamp', ['word'])).status).toBe(422);
    expect(lamp.messages).toEqual(['']);
  });

  it('names the program that uses the new port, and the old port still answers', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    try {
      await using host = await openTestHost({ dataDir, services: [fixtureService('lamp'), control] });
      const { status, fields } = await refusal(host.url('control'), 'lamp', { port });
      expect(status).toBe(409);
      expect(fields).toEqual({ 'services.lamp.port': expect.stringContaining(`Port ${port} is already in use by`) });
      expect(await (await fetch(host.url('lamp'))).text()).toBe('lamp');
      const twin = await refusal(host.url('control'), 'lamp', { port: host.port('control') });
      expect(twin.status).toBe(409);
    } finally {
      holder.close();
    }
  });

  it('can keep the assigned port', async () => {
    await using host = await openTestHost({ dataDir, services: [fixtureService('lamp'), control] });
    const port = host.port('lamp');
    await patch(host.url('control'), 'lamp', { port });
    expect(host.port('lamp')).toBe(port);
    expect(await (await fetch(host.url('lamp'))).text()).toBe('lamp');
  });

  it('is saved and applied together with a concurrent one', async () => {
    const [lamp, bell] = [recorder('lamp'), recorder('bell')];
    await using host = await openTestHost({ dataDir, services: [lamp.service, bell.service, control] });
    const base = host.url('control');
    await Promise.all([
      patch(base, 'lamp', { word: 'one' }),
      patch(base, 'bell', { word: 'two' }),
      patch(base, 'lamp', { word: 'three' }),
    ]);
    expect([lamp.messages.at(-1), bell.messages.at(-1)]).toEqual([await value(host, 'lamp', 'word'), 'two']);
    const text = readFileSync(file, 'utf8');
    expect(text).toContain(`word: ${String(lamp.messages.at(-1))}`);
    expect(text).toContain('word: two');
  });

  it('includes and applies edits that were made to the file in the meantime', async () => {
    const [lamp, bell] = [recorder('lamp'), recorder('bell')];
    await using host = await openTestHost({ dataDir, services: [lamp.service, bell.service, control] });
    writeFileSync(file, 'version: 1\nservices:\n  bell: # mine\n    word: typed\n');
    const { restarted } = (await patch(host.url('control'), 'lamp', { word: 'saved' })) as { restarted: string[] };
    expect(restarted.sort()).toEqual(['bell', 'lamp']);
    expect([lamp.messages.at(-1), bell.messages.at(-1)]).toEqual(['saved', 'typed']);
    expect(readFileSync(file, 'utf8')).toContain('# mine');
  });

  it('saves the effective settings and keeps a copy of a broken file', async () => {
    const lamp = recorder('lamp');
    await using host = await openTestHost({ dataDir, services: [lamp.service, control] });
    await patch(host.url('control'), 'lamp', { word: 'good' });
    writeFileSync(file, 'services: [\n');
    await patch(host.url('control'), 'host', { allowedHosts: ['nas.local'] });
    expect(readFileSync(file, 'utf8')).toContain('word: good');
    expect(readFileSync(`${file}.bad`, 'utf8')).toBe('services: [\n');
  });

  it('takes effect at the next start if it moves the tables', async () => {
    const lamp = fixtureService('lamp', (context) => ({
      start: async () => void (await context.db.introspection.getTables()),
    }));
    await using host = await openTestHost({ dataDir, services: [lamp, control] });
    const base = host.url('control');
    await patch(base, 'host', { databaseUrl: 'postgres://nobody@127.0.0.1:1/nothing' });
    const restarted = await api<ServiceState>(base, '/api/services/lamp/restart', { method: 'POST' });
    expect(restarted.state).toBe('up');
  });

  it('takes effect immediately for the log format', async () => {
    await using host = await openTestHost({ dataDir, services: [fixtureService('lamp'), control] });
    await patch(host.url('control'), 'host', { logFormat: 'json' });
    await patch(host.url('control'), 'lamp', { word: 'new' });
    expect(JSON.parse(host.log.at(-1) ?? '')).toMatchObject({ message: 'settings changed' });
  });
});

describe('an invalid setting of one service', () => {
  const services = (): [ReturnType<typeof recorder>, ReturnType<typeof fixtureService>[]] => {
    const lamp = recorder('lamp');
    return [lamp, [lamp.service, fixtureService('good'), control]];
  };
  const fetchState = async (host: TestHost, id: string): Promise<ServiceState | undefined> => {
    const reply = await api<{ services: ServiceState[] }>(host.url('control'), '/api/services');
    return reply.services.find((service) => service.id === id);
  };
  const problems = async (host: TestHost): Promise<string[]> => {
    const reply = await api<{ configProblems: { path: string }[] }>(host.url('control'), '/api/services');
    return reply.configProblems.map(({ path }) => path);
  };
  const restart = (host: TestHost, id: string): Promise<ServiceState> =>
    api(host.url('control'), `/api/services/${id}/restart`, { method: 'POST' });

  beforeEach(() => writeFileSync(file, 'version: 1\nservices:\n  lamp:\n    word: [1]\n    port: 0 # drawn\n'));

  it('stops only that service, with the reason, until it is corrected on the page', async () => {
    const [lamp, all] = services();
    {
      await using host = await openTestHost({ dataDir, services: all });
      expect(host.host.safeMode).toBe(false);
      expect(Object.keys(host.host.addresses())).toEqual(['good', 'control']);
      expect(await fetchState(host, 'lamp')).toMatchObject({
        state: 'failed',
        reason: 'The settings aren’t valid. services.lamp.word: line 4: Expected text.',
        address: null,
      });
      expect(await (await fetch(host.url('good'))).text()).toBe('good');
      expect(await problems(host)).toEqual(['services.lamp.word']);
      expect(await patch(host.url('control'), 'lamp', { word: 'mended' })).toEqual({ restarted: ['lamp'] });
      expect(await problems(host)).toEqual([]);
      expect(await (await fetch(host.url('lamp'))).text()).toBe('lamp');
    }
    expect(readFileSync(file, 'utf8')).toContain('# drawn');
    expect(readdirSync(dataDir)).toContain('homeport.yaml.bad');
    await using host = await openTestHost({ dataDir, services: all });
    expect(await value(host, 'lamp', 'word')).toBe('mended');
    expect(lamp.messages).toEqual(['mended', 'mended']);
  });

  it('is corrected by the default as well', async () => {
    const [lamp, all] = services();
    await using host = await openTestHost({ dataDir, services: all });
    expect(await patch(host.url('control'), 'lamp', { word: null })).toEqual({ restarted: ['lamp'] });
    expect(lamp.messages).toEqual(['']);
  });

  it('is corrected in the file and by a restart of the service, which otherwise stays stopped', async () => {
    const [lamp, all] = services();
    await using host = await openTestHost({ dataDir, services: all });
    expect(await restart(host, 'lamp')).toMatchObject({ state: 'failed' });
    writeFileSync(file, 'services: [\n');
    await expect(restart(host, 'lamp')).rejects.toThrow('422');
    writeFileSync(file, 'version: 1\nservices:\n  lamp:\n    word: by hand\n');
    expect(await restart(host, 'lamp')).toMatchObject({ state: 'up', reason: null });
    expect(lamp.messages).toEqual(['by hand']);
  });

  it('names the environment variable that contains it', async () => {
    rmSync(file);
    const [, all] = services();
    await using host = await openTestHost({ dataDir, services: all, environment: { HOMEPORT_PORT_LAMP: 'first' } });
    expect(host.host.failures()).toEqual({ lamp: expect.stringContaining('HOMEPORT_PORT_LAMP') as string });
    expect(await (await fetch(host.url('good'))).text()).toBe('good');
  });

  it('does not start a disabled service', async () => {
    writeFileSync(file, 'version: 1\nservices:\n  lamp:\n    enabled: false\n    word: [1]\n');
    const [, all] = services();
    await using host = await openTestHost({ dataDir, services: all });
    expect(await fetchState(host, 'lamp')).toMatchObject({ state: 'off', reason: null });
  });

  it('stops the running service when the file is reloaded', async () => {
    rmSync(file);
    const [, all] = services();
    await using host = await openTestHost({ dataDir, services: all });
    writeFileSync(file, 'version: 1\nservices:\n  lamp:\n    word: [1]\n');
    await patch(host.url('control'), 'good', { word: 'other' });
    expect(await fetchState(host, 'lamp')).toMatchObject({ state: 'failed' });
    expect(await fetchState(host, 'good')).toMatchObject({ state: 'up' });
  });

  it('is reported for the control service, which ignores it', async () => {
    writeFileSync(file, 'version: 1\nservices:\n  control:\n    port: 0\n');
    const [, all] = services();
    await using host = await openTestHost({ dataDir, services: all, environment: { HOMEPORT_PORT_CONTROL: 'first' } });
    const [problem] = host.host.configProblems();
    expect(problem).toContain('services.control.port');
    // The command line shows it in its own language.
    await loadLanguage('de');
    expect(withLanguage('de', () => host.host.configProblems()[0])).not.toBe(problem);
    expect(await problems(host)).toEqual(['services.control.port']);
    expect(await (await fetch(host.url('good'))).text()).toBe('good');
  });
});

describe('safe mode', () => {
  it('ends after the field is corrected on the page and the host restarted', async () => {
    writeFileSync(file, 'version: 1\nhost:\n  stopTimeout: [1]\nservices:\n  lamp:\n    port: 0 # drawn\n');
    const services = [fixtureService('lamp'), control];
    {
      await using host = await openTestHost({ dataDir, services });
      expect(host.host.safeMode).toBe(true);
      expect(Object.keys(host.host.addresses())).toEqual(['control']);
      expect(host.host.configProblems()[0]).toContain('host.stopTimeout');
      await patch(host.url('control'), 'host', { stopTimeout: 7 });
      const { configProblems } = await api<{ configProblems: unknown[] }>(host.url('control'), '/api/services');
      expect(configProblems).toEqual([]);
    }
    expect(readFileSync(file, 'utf8')).toContain('# drawn');
    expect(readdirSync(dataDir)).toContain('homeport.yaml.bad');
    await using host = await openTestHost({ dataDir, services });
    expect(host.host.safeMode).toBe(false);
    expect(await value(host, 'host', 'stopTimeout')).toBe(7);
    expect(await (await fetch(host.url('lamp'))).text()).toBe('lamp');
  });

  it('prints the set-up link at a first start', async () => {
    await using host = await openTestHost({ dataDir, services: [control], safeMode: true, administrator: false });
    expect(await host.host.setupUrl()).toMatch(/\/setup\?code=\w{32}$/);
  });
});

describe('HOMEPORT_CONFIG', () => {
  let provision: string;
  const environment = (): Record<string, string> => ({ HOMEPORT_CONFIG: provision });
  beforeEach(() => {
    provision = join(dataDir, 'provision.yaml');
  });
  const accounts = (host: TestHost): Promise<string[]> =>
    api<{ accounts: { name: string }[] }>(host.url('control'), '/api/accounts').then(({ accounts: all }) =>
      all.map(({ name }) => name),
    );
  const grace = '{name: grace, kind: person, role: user, enabled: true, description: "", grants: [], createdAt: 1}';

  it('imports settings, accounts and service data once and keeps later changes', async () => {
    writeFileSync(
      provision,
      `version: 1\nservices:\n  inbox:\n    keepDays: 12\nportable:\n  accounts:\n    - ${grace}\n  notify:\n    keys: []\n`,
    );
    {
      await using host = await openTestHost({ dataDir, environment: environment() });
      expect(await value(host, 'inbox', 'keepDays')).toBe(12);
      expect(await accounts(host)).toEqual(expect.arrayContaining(['ada', 'grace']));
      await patch(host.url('control'), 'inbox', { keepDays: 13 });
      await api(host.url('control'), '/api/accounts/grace', { method: 'DELETE' });
    }
    await using host = await openTestHost({ dataDir, environment: environment() });
    expect(await value(host, 'inbox', 'keepDays')).toBe(13);
    expect(await accounts(host)).not.toContain('grace');
  });

  it('is imported for a service whose port is in use or that is disabled', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    try {
      writeFileSync(
        provision,
        `version: 1\nservices:\n  notify:\n    port: ${port}\nportable:\n  notify:\n    keys: []\n`,
      );
      await using host = await openTestHost({ dataDir, environment: { ...environment(), HOMEPORT_PORT_NOTIFY: '' } });
      expect(host.host.failures()['notify']).toContain(`Port ${port} is already in use by`);
      expect(readFileSync(file, 'utf8')).toMatch(/portable: [0-9a-f]{64}/);
    } finally {
      holder.close();
    }
  });

  it('ends the start with one sentence if a part is invalid, and is imported completely once corrected', async () => {
    writeFileSync(provision, `version: 1\nportable:\n  accounts:\n    - ${grace}\n  notify: wrong\n`);
    const failing = startHostProcess(dataDir, { environment: environment() });
    await expect(failing).rejects.toThrow(
      /exited \(1\)[^]*HOMEPORT_CONFIG: portable\.notify: .*Already imported: accounts\.$/,
    );
    writeFileSync(provision, `version: 1\nportable:\n  nothing: {}\n  accounts: []\n`);
    const unknown = startHostProcess(dataDir, { environment: environment() });
    await expect(unknown).rejects.toThrow(hostProblems.portablePartUnknown({ part: 'nothing' }));
    writeFileSync(provision, `version: 1\nportable:\n  accounts:\n    - ${grace}\n  notify:\n    keys: []\n`);
    await using host = await openTestHost({ dataDir, environment: environment() });
    expect(await accounts(host)).toEqual(expect.arrayContaining(['ada', 'grace']));
  });
});
