import { expect, test } from 'vitest';
import type { SettingsField, SettingsView } from '../../../services/contracts/control/settings.ts';
import { SettingsView as SettingsViewSchema } from '../../../services/contracts/control/settings.ts';
import { DataFolder, descriptors } from './fixture.ts';

function findField(view: SettingsView, path: string): SettingsField {
  const field = view.sections.flatMap(({ fields }) => fields).find((entry) => entry.path === path);
  if (field === undefined) throw new Error(`no field ${path}`);
  return field;
}

test('uses defaults and creates no file without a file', async () => {
  await using folder = await DataFolder.make();
  const config = await folder.open();
  expect(config.read().services['push']).toEqual({
    enabled: true,
    port: 2586,
    settings: {
      retention: 7,
      topics: [],
      token: '',
      limits: { perMinute: 60, perDay: 1000 },
      upstreams: [],
      mode: 'open',
      note: 'none',
    },
  });
  expect(config.read().services['range']).toEqual({ enabled: true, port: 0, settings: { from: 1, to: 2 } });
  expect(config.read().host.logLevel).toBe('info');
  expect(config.problems).toEqual([]);
  expect(await folder.names()).toEqual([]);
});

test('gives precedence to command line, environment, file and default in this order', async () => {
  await using folder = await DataFolder.make(`version: 1
services:
  control: { port: 7001 }
  push: { port: 2001, retention: 30 }
`);
  const fromFile = (await folder.open()).read().services;
  expect([fromFile['control']?.port, fromFile['push']?.port, fromFile['push']?.settings['retention']]).toEqual([
    7001, 2001, 30,
  ]);

  const environment = { HOMEPORT_PORT_CONTROL: '7002', HOMEPORT_PORT_PUSH: '2002', HOMEPORT_ENABLED_RANGE: 'off' };
  const fromOutside = (await folder.open({ environment })).read().services;
  expect([fromOutside['control']?.port, fromOutside['push']?.port, fromOutside['range']?.enabled]).toEqual([
    7002,
    2002,
    false,
  ]);
  expect(fromOutside['push']?.settings['retention']).toBe(30);

  const config = await folder.open({ environment, commandLine: { port: 7003 } });
  expect(config.read().services['control']?.port).toBe(7003);
  expect(findField(config.describe(), 'services.control.port').origin).toEqual({
    from: 'command line',
    name: '--port',
  });
  expect(findField(config.describe(), 'services.push.port')).toMatchObject({
    origin: { from: 'environment', name: 'HOMEPORT_PORT_PUSH' },
    lockedBy: 'HOMEPORT_PORT_PUSH',
    value: 2002,
  });
  expect(findField(config.describe(), 'services.push.retention')).toMatchObject({
    origin: { from: 'file' },
    lockedBy: null,
  });
  expect(findField(config.describe(), 'services.push.mode')).toMatchObject({
    origin: { from: 'default' },
    lockedBy: null,
  });
});

test('parses environment variables by the type of their field', async () => {
  await using folder = await DataFolder.make();
  const config = await folder.open({
    environment: {
      PUSH_RETENTION: ' 14 ',
      PUSH_TOPICS: 'alerts, backups,,',
      PUSH_LIMITS: '{"perMinute": 5}',
      PUSH_MODE: 'closed',
      HOMEPORT_OPEN_BROWSER: 'No',
      HOMEPORT_ALLOWED_HOSTS: 'nas.local,192.168.1.2',
      LOG_LEVEL: '',
    },
  });
  expect(config.problems).toEqual([]);
  expect(config.read().services['push']?.settings).toMatchObject({
    retention: 14,
    topics: ['alerts', 'backups'],
    limits: { perMinute: 5, perDay: 1000 },
    mode: 'closed',
  });
  expect(config.read().host).toMatchObject({
    openBrowser: false,
    allowedHosts: ['nas.local', '192.168.1.2'],
    logLevel: 'info',
  });
});

test('reports an invalid variable by name and uses the file', async () => {
  await using folder = await DataFolder.make('version: 1\nservices: { push: { retention: 3, port: 2001 } }\n');
  const config = await folder.open({
    environment: {
      PUSH_RETENTION: 'a week',
      HOMEPORT_PORT_PUSH: '70000',
      HOMEPORT_ENABLED_PUSH: 'maybe',
      PUSH_LIMITS: '{',
    },
  });
  expect(config.problems.map(({ path, message }) => `${path} | ${message}`).sort()).toEqual([
    'services.push.enabled | HOMEPORT_ENABLED_PUSH: Expected true or false.',
    'services.push.limits | PUSH_LIMITS: Expected a JSON object.',
    'services.push.port | HOMEPORT_PORT_PUSH: The value must be at most 65,535.',
    'services.push.retention | PUSH_RETENTION: Expected a whole number.',
  ]);
  expect(config.read().services['push']).toMatchObject({ port: 2001, enabled: true, settings: { retention: 3 } });
});

test('omits invalid secrets from problems, logs and views', async () => {
  await using folder = await DataFolder.make(`version: 1
services:
  push:
    upstreams: [{ url: https://example.org, password: [hunter2-in-list] }]
`);
  const config = await folder.open({
    environment: { PUSH_TOKEN: 'hunter2', HOMEPORT_DATABASE_URL: 'mysql://root:hunter2@db' },
  });
  expect(config.problems.map(({ path }) => path).sort()).toEqual([
    'host.databaseUrl',
    'services.push.token',
    'services.push.upstreams.0.password',
  ]);
  expect(config.problems.find(({ path }) => path === 'services.push.token')?.message).toMatch(/^PUSH_TOKEN: /);
  expect(JSON.stringify([config.problems, config.describe(), folder.logged])).not.toContain('hunter2');
});

test('does not allow disabling the control service', async () => {
  await using folder = await DataFolder.make('version: 1\nservices: { control: { enabled: false } }\n');
  const config = await folder.open({ environment: { HOMEPORT_ENABLED_CONTROL: 'false' } });
  expect(config.read().services['control']).toEqual({ enabled: true, port: 7700, settings: {} });
  expect(config.warnings).toHaveLength(2);
});

test('reports a misspelt listener variable', async () => {
  await using folder = await DataFolder.make();
  const config = await folder.open({ environment: { HOMEPORT_PORT_PUHS: '1', HOMEPORT_PORT_RANGE: '2' } });
  expect(config.warnings.map(({ message }) => message.split(':')[0])).toEqual([
    'HOMEPORT_PORT_PUHS',
    'HOMEPORT_PORT_RANGE',
  ]);
  expect(config.problems).toEqual([]);
});

test('describes a form that matches its contract and hides every secret', async () => {
  await using folder = await DataFolder.make(`version: 1
services:
  push:
    token: correct-horse
    upstreams: [{ url: https://example.org, password: battery-staple }]
`);
  const view = (await folder.open()).describe();
  expect(SettingsViewSchema.parse(JSON.parse(JSON.stringify(view)))).toEqual(view);
  expect(view.sections.map(({ id }) => id)).toEqual(['host', 'push', 'range', 'control']);
  expect(view.sections[1]?.fields.map(({ name }) => name).slice(0, 3)).toEqual(['enabled', 'port', 'retention']);
  expect(findField(view, 'services.push.retention')).toMatchObject({
    title: 'Retention',
    description: 'Days to keep messages.',
    schema: { type: 'integer', minimum: 1, maximum: 365, default: 7, title: 'Retention' },
  });
  expect(findField(view, 'services.push.token')).toMatchObject({ value: { set: true }, secret: true });
  expect(findField(view, 'host.databaseUrl')).toMatchObject({ value: { set: false }, secret: true });
  expect(findField(view, 'services.push.upstreams').value).toEqual([
    { url: 'https://example.org', password: { set: true } },
  ]);
  expect(JSON.stringify(view)).not.toMatch(/correct-horse|battery-staple/);
  for (const field of view.sections.flatMap(({ fields }) => fields)) {
    expect(field.description, field.path).not.toBe('');
    expect(Object.hasOwn(field.schema, 'default'), field.path).toBe(true);
  }
});

test('freezes the settings deeply', async () => {
  await using folder = await DataFolder.make();
  const settings = (await folder.open()).read();
  expect(() => Object.assign(settings.host, { logLevel: 'debug' })).toThrow(TypeError);
  expect(() => Object.assign(settings.services['push']?.settings['limits'] ?? {}, { perDay: 1 })).toThrow(TypeError);
});

test.each([
  [
    'a reserved field name',
    { ...descriptors[0], settings: descriptors[2]?.settings.extend({ port: descriptors[2].settings }) },
  ],
  ['a taken id', { ...descriptors[0], id: 'host' }],
  ['a variable of no field', { ...descriptors[0], environment: { X: 'nothing' } }],
])('rejects a descriptor with %s', async (_mistake, wrong) => {
  await using folder = await DataFolder.make();
  const descriptor = { ...descriptors[1], ...wrong } as (typeof descriptors)[number];
  await expect(folder.open({ descriptors: [descriptor] })).rejects.toThrow(/service|names/);
});
